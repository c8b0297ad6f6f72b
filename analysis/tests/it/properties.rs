//! Properties that hold for every trace.

use std::collections::BTreeSet;

use crate::common::{analysis, call, copy, dispatch, range, shuffled};
use proptest::prelude::*;
use rtl_analysis::ops::Order;
use rtl_analysis::region::{Bound, Filter, apply};
use rtl_analysis::sweep::sweep;
use rtl_analysis::{Categories, KernelNames, api, copies, kernels, overview, sanity};
use rtl_schema::Tables;
use rtl_schema::table::{Direction, Dispatch};

const NAMES: [&str; 4] = ["gemm", "gemm.kd", "ncclDevKernel", "softmax"];

#[derive(Debug, Clone)]
struct Row {
    gpu: u32,
    queue: i64,
    name: usize,
    start: i64,
    duration: Option<i64>,
    link: i64,
    copy: bool,
}

prop_compose! {
    fn row()(
        gpu in 0_u32..2,
        queue in 0_i64..2,
        name in 0_usize..4,
        start in 0_i64..200,
        duration in prop_oneof![8 => (0_i64..40).prop_map(Some), 1 => Just(None), 1 => Just(Some(-5))],
        link in 0_i64..12,
        copy in prop::bool::weighted(0.2),
    ) -> Row {
        Row { gpu, queue, name, start, duration, link, copy }
    }
}

/// Start, length, name and thread of ranges.
type Spans = Vec<(i64, i64, usize, i64)>;

fn spans() -> impl Strategy<Value = Spans> {
    prop::collection::vec((0_i64..200, 0_i64..100, 0_usize..3, 0_i64..2), 0..8)
}

fn trace(rows: &[Row], spans: &Spans, linked: bool) -> Tables {
    let mut tables = Tables::default();
    for row in rows {
        if row.copy {
            let end = row.start + row.duration.unwrap_or(0);
            copy(&mut tables, row.gpu, Direction::DeviceToHost, Some(8), row.start, end);
            continue;
        }
        let correlation = if linked { row.link } else { 0 };
        let dispatched =
            Dispatch { start: row.start, duration: row.duration, correlation, ..Dispatch::default() };
        dispatch(&mut tables, row.gpu, row.queue, dispatched, NAMES[row.name]);
    }
    if linked {
        for correlation in 1..10 {
            call(
                &mut tables,
                correlation % 3,
                "hipLaunchKernel",
                correlation,
                correlation * 17,
                correlation * 17 + 3,
            );
        }
    }
    for (id, &(start, length, name, tid)) in spans.iter().enumerate() {
        range(&mut tables, id as i64 + 1, Some(tid), ["step", "layer", "head"][name], start, start + length);
    }
    tables
}

/// Valid ops of a GPU as start, end and class.
fn ops(rows: &[Row], gpu: u32) -> Vec<(i64, i64, usize)> {
    let valid = rows.iter().filter(|row| row.gpu == gpu);
    valid
        .filter_map(|row| {
            let duration = row.duration.or(row.copy.then_some(0)).filter(|&duration| duration >= 0)?;
            let class = if row.copy { 2 } else { usize::from(row.name == 2) };
            Some((row.start, row.start + duration, class))
        })
        .collect()
}

proptest! {
    #[test]
    fn shuffling_the_rows_changes_nothing(
        rows in prop::collection::vec(row(), 0..60), spans in spans(), linked: bool, seed in 0_u64..1000
    ) {
        let tables = trace(&rows, &spans, linked);
        let shuffled = shuffled(&tables, seed);
        let (one, other) = (analysis(&tables), analysis(&shuffled));
        prop_assert_eq!((one.kernels(), one.categories()), (other.kernels(), other.categories()));
        prop_assert_eq!((one.sweep(), one.launches()), (other.sweep(), other.launches()));
        prop_assert_eq!(one.ranges(), other.ranges());
        prop_assert_eq!(sanity::check(&one), sanity::check(&other));
        prop_assert_eq!(overview::overview(&tables), overview::overview(&shuffled));
        prop_assert_eq!(copies::by_direction(&tables), copies::by_direction(&shuffled));
        prop_assert_eq!(api::by_function(&tables), api::by_function(&shuffled));
        prop_assert_eq!(api::unfinished(&tables), api::unfinished(&shuffled));
        let by_range = kernels::GroupBy::Range;
        prop_assert_eq!(one.groups(by_range), other.groups(by_range));
    }

    #[test]
    fn every_figure_of_a_gpu_is_that_of_looking_at_each_nanosecond(rows in prop::collection::vec(row(), 1..40)) {
        let tables = trace(&rows, &Vec::new(), false);
        let names = KernelNames::new(&tables, &Categories::default());
        let sweep = sweep(&tables, &Order::of(&tables), &names, 1_000).sweep;
        for (gpu, gaps) in sweep.gpus.iter().zip(&sweep.gaps) {
            let ops = ops(&rows, gpu.gpu as u32);
            let start = ops.iter().map(|op| op.0).min().unwrap();
            let end = ops.iter().map(|op| op.1).max().unwrap();
            let mut counted = [0_i64; 9];
            for moment in start..end {
                let runs = |class| ops.iter().any(|op| op.2 == class && op.0 <= moment && moment < op.1);
                let [kernel, collective, copy] = [runs(0), runs(1), runs(2)];
                let figures = [
                    kernel || collective || copy,
                    kernel,
                    collective,
                    copy,
                    kernel && collective,
                    kernel && copy,
                    collective && copy,
                    usize::from(kernel) + usize::from(collective) + usize::from(copy) >= 2,
                    collective && !kernel,
                ];
                for (count, figure) in counted.iter_mut().zip(figures) {
                    *count += i64::from(figure);
                }
            }
            prop_assert_eq!(counted, [
                gpu.busy_ns, gpu.kernel_ns, gpu.collective_ns, gpu.copy_ns, gpu.kernel_collective_ns,
                gpu.kernel_copy_ns, gpu.collective_copy_ns, gpu.overlap_ns, gpu.exposed_collective_ns,
            ]);
            prop_assert_eq!((gpu.start_ns, gpu.end_ns, gpu.wall_ns), (start, end, end - start));
            prop_assert_eq!(gpu.busy_ns + gpu.idle_ns, gpu.wall_ns);
            prop_assert!(gpu.busy_ns <= ops.iter().map(|op| op.1 - op.0).sum::<i64>());
            prop_assert_eq!(gaps.buckets.iter().map(|bucket| bucket.total_ns).sum::<i64>(), gpu.idle_ns);
            let longest = sweep.longest.iter().filter(|gap| gap.gpu == gpu.gpu);
            prop_assert_eq!(longest.map(|gap| gap.duration_ns).sum::<i64>(), gpu.idle_ns);
        }
    }

    #[test]
    fn ranges_enclose_what_trying_every_pair_finds(
        rows in prop::collection::vec(row(), 1..40), spans in spans(), linked: bool
    ) {
        let tables = trace(&rows, &spans, linked);
        let any_link = linked
            && rows.iter().any(|row| !row.copy && (1..10).contains(&row.link));
        let encloses = |row: &Row, span: &(i64, i64, usize, i64)| {
            let within = |moment: i64| span.0 <= moment && moment < span.0 + span.1;
            match any_link {
                true => (1..10).contains(&row.link) && !row.copy && span.3 == row.link % 3 && within(row.link * 17),
                false => within(row.start),
            }
        };
        let report = analysis(&tables).ranges().clone();
        for group in &report.groups {
            let name = ["step", "layer", "head"].iter().position(|name| *name == group.name).unwrap();
            let enclosed: Vec<&Row> = rows
                .iter()
                .filter(|row| row.duration.or(row.copy.then_some(0)).is_some_and(|duration| duration >= 0))
                .filter(|row| spans.iter().any(|span| span.2 == name && encloses(row, span)))
                .collect();
            prop_assert_eq!(group.ops, enclosed.len() as u64);
            prop_assert_eq!(group.gpu_ns, enclosed.iter().map(|row| row.duration.unwrap_or(0)).sum::<i64>());
            let moments: BTreeSet<(u32, i64)> = enclosed
                .iter()
                .flat_map(|row| (0..row.duration.unwrap_or(0)).map(|offset| (row.gpu, row.start + offset)))
                .collect();
            prop_assert_eq!(group.gpu_busy_ns, moments.len() as i64);
        }
    }

    #[test]
    fn adjacent_windows_hold_every_row_once(
        rows in prop::collection::vec(row(), 1..40), spans in spans(), cut in 0_i64..250
    ) {
        let tables = trace(&rows, &spans, true);
        let counts = |tables: &Tables| {
            [tables.dispatches.len(), tables.copies.len(), tables.api_calls.len(), tables.ranges.len()]
        };
        let part = |from: Option<i64>, to: Option<i64>| {
            let mut tables = tables.clone();
            let [from, to] = [from, to].map(|moment| moment.map(Bound::FromStart));
            match apply(&mut tables, &Filter { from, to, ..Filter::default() }) {
                Err(error) if error.is_empty_selection() => [0; 4],
                region => {
                    region.unwrap();
                    counts(&tables)
                }
            }
        };
        let (before, after) = (part(None, Some(cut)), part(Some(cut), None));
        let sums: Vec<_> = before.iter().zip(after).map(|(before, after)| before + after).collect();
        prop_assert_eq!(sums, counts(&tables));
    }
}
