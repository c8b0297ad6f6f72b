//! A recording that comes in chunks has the figures of the whole.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rtl_analysis::live::{Live, LossState, State};
use rtl_analysis::{api, copies};
use rtl_schema::table::{Details, Direction, Dispatch, Dispatches};
use rtl_schema::{InFlight, Tables};

use crate::common::{analysis, call, copy, dispatch, kernel, range, track};

/// A row: kind, GPU, name, start, duration, how long it was enqueued before.
type Row = (u8, u32, usize, i64, Option<i64>, i64);

const NAMES: [&str; 4] = ["gemm", "gemm.kd", "softmax", "copy"];

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let duration = prop_oneof![8 => (0_i64..60).prop_map(Some), 1 => Just(None), 1 => Just(Some(-5))];
    prop::collection::vec((0_u8..6, 0_u32..3, 0_usize..4, 0_i64..400, duration, 0_i64..90), 0..80)
}

/// Adds a row to a table of its own; kernels are half of them.
fn push(tables: &mut Tables, &(kind, gpu, name, start, duration, waited): &Row) {
    let end = start + duration.unwrap_or(0);
    match kind {
        0 => copy(tables, gpu, Direction::HostToDevice, Some(waited as u64), start, end),
        1 => range(tables, 0, Some(1), NAMES[name], start, end),
        2 => call(tables, 1, NAMES[name], 0, start, end),
        _ => {
            let enqueued = Some(start - waited);
            dispatch(
                tables,
                gpu,
                0,
                Dispatch {
                    start,
                    duration,
                    details: Details::with_enqueued(enqueued),
                    ..Dispatch::default()
                },
                NAMES[name],
            );
        }
    }
}

/// The state after chunks of these sizes, at a moment.
fn in_chunks(rows: &[Row], sizes: &[usize], window: i64, now: i64) -> (State, Tables) {
    let mut live = Live::new(window);
    let mut chunk = Tables::default();
    let mut left = rows;
    for size in sizes.iter().cycle() {
        let (now, later) = left.split_at((*size).min(left.len()));
        now.iter().for_each(|row| push(&mut chunk, row));
        live.add_chunk(&chunk);
        chunk.dispatches = Dispatches::default();
        chunk.copies.clear();
        chunk.ranges.clear();
        chunk.api_calls = Default::default();
        left = later;
        if left.is_empty() {
            break;
        }
    }
    (live.state(&chunk, &[], Some(now)), chunk)
}

/// Ends and lengths of the valid rows of a kind.
fn of_kind(rows: &[Row], is_wanted: impl Fn(&Row) -> bool) -> Vec<(i64, i64)> {
    let wanted = rows.iter().filter(|row| is_wanted(row));
    let duration = |row: &Row| if row.0 < 3 { Some(row.4.unwrap_or(0)) } else { row.4 };
    wanted.filter_map(|row| Some((row.3, row.3 + duration(row).filter(|&duration| duration >= 0)?))).collect()
}

fn overlap(spans: &[(i64, i64)], from: i64, until: i64) -> i64 {
    spans.iter().map(|&(start, end)| (end.min(until) - start.max(from)).max(0)).sum()
}

fn covered(spans: &[(i64, i64)], from: i64, until: i64) -> i64 {
    (from..until).filter(|at| spans.iter().any(|&(start, end)| start <= *at && *at < end)).count() as i64
}

proptest! {
    #[test]
    fn chunks_of_any_size_have_the_figures_of_the_whole(
        rows in rows(),
        sizes in prop::collection::vec(1_usize..20, 1..5),
    ) {
        let (state, _) = in_chunks(&rows, &sizes, 100, 0);
        let mut tables = Tables::default();
        rows.iter().for_each(|row| push(&mut tables, row));
        let whole = analysis(&tables);

        let depths = whole.launches().map(|(_, queues)| &queues.depth[..]).unwrap_or_default();
        let depth = |gpu: i64| depths.iter().find(|depth| depth.gpu == gpu).map(|depth| depth.mean);
        let expected: Vec<_> = whole.sweep().gpus.iter().map(|gpu| {
            let counts = (gpu.ops, gpu.dispatches, gpu.copies);
            (gpu.gpu, gpu.label.clone(), counts, (gpu.wall_ns, gpu.busy_ns), gpu.busy_share, depth(gpu.gpu))
        }).collect();
        let found: Vec<_> = state.gpus.iter().map(|gpu| {
            let counts = (gpu.ops, gpu.dispatches, gpu.copies);
            (gpu.gpu, gpu.label.clone(), counts, (gpu.wall_ns, gpu.busy_ns), gpu.busy_share, gpu.mean_depth)
        }).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(state.late_ops, 0);

        let named = |rows: &[rtl_analysis::live::NamedState]| -> BTreeMap<String, (u64, i64, i64)> {
            rows.iter().map(|row| (row.name.clone(), (row.count, row.total_ns, row.max_ns))).collect()
        };
        let kernels = whole.kernels().iter().filter(|group| group.stats.calls > 0);
        let kernels = kernels.map(|group| {
            (group.label.to_string(), (group.stats.calls, group.stats.total_ns, group.stats.max_ns))
        }).collect();
        prop_assert_eq!(named(&state.kernels), kernels);
        let calls = api::by_function(&tables).into_iter().map(|group| {
            (group.name, (group.stats.calls, group.stats.total_ns, group.stats.max_ns))
        });
        let valid_calls: BTreeMap<_, _> = calls.filter(|(_, (calls, ..))| *calls > 0).collect();
        for (name, (_, total, max)) in named(&state.calls) {
            let (_, expected_total, expected_max) = valid_calls.get(&name).copied().unwrap_or_default();
            prop_assert_eq!((total, max), (expected_total, expected_max));
        }
        let mut ranges: BTreeMap<String, (u64, i64, i64)> = BTreeMap::new();
        for group in &whole.ranges().groups {
            let sum = ranges.entry(group.name.clone()).or_default();
            *sum = (sum.0 + group.count, sum.1 + group.stats.total_ns, sum.2.max(group.stats.max_ns));
        }
        prop_assert_eq!(named(&state.ranges), ranges);
        let directions: Vec<_> = copies::by_direction(&tables).into_iter()
            .map(|group| (group.direction, group.count, group.bytes, group.total_ns)).collect();
        let found: Vec<_> = state.copies.iter()
            .map(|row| (row.direction.clone(), row.count, row.bytes, row.total_ns)).collect();
        prop_assert_eq!(found, directions);
    }

    #[test]
    fn the_last_moments_are_those_of_looking_at_each_row(
        rows in rows(), size in 1_usize..30, window in 1_i64..200, later in 0_i64..50,
    ) {
        let spans = of_kind(&rows, |_| true);
        let until = spans.iter().map(|span| span.1).max().unwrap_or(0).max(0) + later;
        // A row without a valid duration ends when it starts.
        let until = rows.iter().filter(|row| row.0 == 1 || row.0 == 2).map(|row| row.3).fold(until, i64::max);
        let from = until - window;
        let (state, _) = in_chunks(&rows, &[size], window, until);
        prop_assert_eq!(state.until_ns, Some(until));
        let ended = |spans: &[(i64, i64)]| spans.iter().filter(|span| span.1 > from && span.1 <= until).count() as u64;
        for gpu in &state.gpus {
            let ops = of_kind(&rows, |row| (row.0 == 0 || row.0 > 2) && i64::from(row.1) == gpu.gpu);
            prop_assert_eq!(gpu.recent_busy_ns, covered(&ops, from, until));
            prop_assert_eq!(gpu.recent_ops, ended(&ops));
        }
        for kernel in &state.kernels {
            let is_of = |row: &Row| row.0 > 2 && NAMES[row.2].trim_end_matches(".kd") == kernel.name;
            let of = of_kind(&rows, is_of);
            prop_assert_eq!((kernel.recent_count, kernel.recent_ns), (ended(&of), overlap(&of, from, until)));
        }
        let calls = of_kind(&rows, |row| row.0 == 2);
        prop_assert_eq!(state.recent_calls, ended(&calls));
        prop_assert_eq!(state.calls.iter().map(|call| call.recent_ns).sum::<i64>(), overlap(&calls, from, until));
        for copies in &state.copies {
            let of = of_kind(&rows, |row| row.0 == 0);
            prop_assert_eq!((copies.recent_count, copies.recent_ns), (ended(&of), overlap(&of, from, until)));
        }
    }
}

#[test]
fn a_dispatch_in_flight_keeps_its_gpu_busy_although_it_has_no_row() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 1, "gemm", 0, 40);
    track(&mut tables, 1, 1);
    let mut live = Live::new(100);
    live.add_chunk(&tables);
    let hung = tables.strings.intern("hung");
    let open = InFlight { name: hung, gpu: 1, queue: 7, since: 30 };
    let state = live.state(&tables, &[open], Some(100));
    let [idle, busy] = &state.gpus[..] else { panic!("{:?}", state.gpus) };
    assert_eq!((idle.recent_busy_ns, busy.recent_busy_ns), (40, 70));
    assert_eq!((busy.busy_ns, busy.ops), (0, 0), "totals have rows only");
    assert_eq!((busy.in_flight[0].name.as_str(), busy.in_flight[0].waited_ns), ("hung", 70));
}

#[test]
fn pending_dispatches_are_those_seen_without_those_recorded_lost_or_skipped() {
    let mut tables = Tables::default();
    let tag = |tag: &str, value: &str| (tag.to_owned(), value.to_owned());
    tables.info.metadata = vec![tag("seen", "100"), tag("recorded", "60")];
    tables.info.losses = vec![
        ("lost:behind".to_owned(), 7),
        ("skipped:paused".to_owned(), 3),
        ("copies_lost:behind".to_owned(), 50),
        ("lost:full".to_owned(), 0),
    ];
    let state = Live::new(1).state(&tables, &[], None);
    assert_eq!(state.pending, Some(30));
    let counts = |losses: &[LossState]| -> Vec<(String, u64)> {
        losses.iter().map(|loss| (loss.reason.clone(), loss.count)).collect()
    };
    let lost = [("lost:behind".to_owned(), 7), ("copies_lost:behind".to_owned(), 50)];
    assert_eq!(
        (counts(&state.losses), counts(&state.skipped)),
        (lost.to_vec(), vec![("skipped:paused".to_owned(), 3)])
    );
    assert_eq!((state.until_ns, state.gpus.len()), (None, 0));
}
