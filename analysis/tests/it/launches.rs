//! Launch latency, queue depth and why GPUs were idle: figures that can be checked by hand, and what looking at every
//! nanosecond finds.

use crate::common::{analysis, call, dispatch, kernel, shuffled};
use proptest::prelude::*;
use rtl_analysis::launches::{DEPTHS, Latency, Queues};
use rtl_schema::Tables;
use rtl_schema::table::{Details, Dispatch};

/// A kernel on queue 0 of a GPU: what ties it to the host, and its times.
fn launched(
    tables: &mut Tables,
    gpu: u32,
    name: &str,
    (enqueued, correlation): (Option<i64>, i64),
    times: [i64; 2],
) {
    let [start, end] = times;
    let details = Details::with_enqueued(enqueued);
    let row = Dispatch { start, duration: Some(end - start), details, correlation, ..Dispatch::default() };
    dispatch(tables, gpu, 0, row, name);
}

fn found(tables: &Tables) -> Option<(Latency, Queues)> {
    analysis(tables).launches().cloned()
}

#[test]
fn latency_is_from_the_recorded_moment_and_never_negative() {
    let mut tables = Tables::default();
    for (enqueued, start) in [(90, 100), (150, 200), (305, 300)] {
        launched(&mut tables, 0, "gemm", (Some(enqueued), 0), [start, start + 10]);
    }
    launched(&mut tables, 0, "softmax", (Some(400), 0), [400, 410]);
    kernel(&mut tables, 0, 0, "softmax", 500, 510);
    let (latency, _) = found(&tables).unwrap();
    assert_eq!((latency.sources.enqueued, latency.sources.called, latency.sources.unknown), (4, 0, 1));
    assert_eq!((latency.negative, latency.later), (1, 0));
    let kernels: Vec<_> = latency
        .kernels
        .iter()
        .map(|kernel| (kernel.name.as_str(), kernel.stats.calls, kernel.stats.min_ns, kernel.stats.max_ns))
        .collect();
    assert_eq!(kernels, [("gemm", 2, 10, 50), ("softmax", 1, 0, 0)]);
    assert_eq!((latency.all.calls, latency.all.mean_ns, latency.all.p50_ns), (3, 20.0, 10));
}

#[test]
fn without_a_recorded_moment_latency_is_from_the_start_of_the_launching_call() {
    let mut tables = Tables::default();
    call(&mut tables, 7, "hipLaunchKernel", 1, 10, 20);
    call(&mut tables, 7, "hipLaunchKernel", 2, 30, 80);
    launched(&mut tables, 0, "gemm", (None, 1), [50, 60]);
    launched(&mut tables, 0, "gemm", (None, 2), [70, 90]);
    launched(&mut tables, 0, "gemm", (None, 3), [95, 99]);
    let (latency, _) = found(&tables).unwrap();
    assert_eq!((latency.sources.called, latency.sources.unknown), (2, 1));
    assert_eq!((latency.all.calls, latency.all.min_ns, latency.all.max_ns), (2, 40, 40));
}

#[test]
fn only_the_first_op_of_a_graph_launch_tells_how_long_it_took() {
    let mut tables = Tables::default();
    call(&mut tables, 7, "hipGraphLaunch", 1, 0, 5);
    for start in [200, 100, 300] {
        launched(&mut tables, 0, "node", (None, 1), [start, start + 50]);
    }
    let (latency, queues) = found(&tables).unwrap();
    assert_eq!((latency.all.calls, latency.all.max_ns, latency.later), (1, 100, 2));
    assert_eq!(queues.idle[0].host_ns, 0, "all nodes were enqueued before the first one started");
}

/// `queued` ops that run from 10 to 20, 20 to 30 and 50 to 60; the last one is enqueued at 40.
fn three_ops() -> Tables {
    let mut tables = Tables::default();
    for (enqueued, start) in [(0, 10), (5, 20), (40, 50)] {
        launched(&mut tables, 0, "gemm", (Some(enqueued), 0), [start, start + 10]);
    }
    tables
}

#[test]
fn depth_counts_what_was_enqueued_and_had_not_ended() {
    // Two from 10 to 20, one to 30, none to 40, one to 60: 50 in 50 ns.
    let (_, queues) = found(&three_ops()).unwrap();
    let [depth] = &queues.depth[..] else { panic!("{queues:?}") };
    assert_eq!((depth.label.as_str(), depth.queue, depth.wall_ns), ("GPU 0", None, 50));
    assert_eq!((depth.mean, depth.max, depth.at_least), (1.0, 2, [0.8, 0.2, 0.0, 0.0]));
}

#[test]
fn an_idle_gpu_waits_for_the_host_unless_something_is_enqueued() {
    let (_, queues) = found(&three_ops()).unwrap();
    let idle = &queues.idle[0];
    assert_eq!((idle.idle_ns, idle.host_ns, idle.waiting_ns, idle.host_share), (20, 10, 10, 0.5));
}

#[test]
fn a_call_has_enqueued_its_op_when_it_returns_or_when_the_op_starts() {
    let mut tables = Tables::default();
    call(&mut tables, 7, "hipLaunchKernel", 1, 0, 10);
    call(&mut tables, 7, "hipLaunchKernel", 2, 20, 40);
    call(&mut tables, 7, "hipMemcpy", 3, 60, 120);
    launched(&mut tables, 0, "gemm", (None, 1), [5, 30]);
    launched(&mut tables, 0, "gemm", (None, 2), [50, 60]);
    launched(&mut tables, 0, "gemm", (None, 3), [100, 110]);
    let (_, queues) = found(&tables).unwrap();
    // Nothing from 30 to 40, the second op waits to 50; the third one was not known to wait before it started.
    let idle = &queues.idle[0];
    assert_eq!((idle.idle_ns, idle.host_ns, idle.waiting_ns), (60, 50, 10));
}

#[test]
fn queues_stand_behind_their_gpu_where_it_has_several() {
    let mut tables = three_ops();
    let row = Dispatch {
        start: 12,
        duration: Some(4),
        details: Details::with_enqueued(Some(11)),
        ..Dispatch::default()
    };
    dispatch(&mut tables, 0, 3, row, "gemm");
    kernel(&mut tables, 1, 0, "gemm", 0, 10);
    let (_, queues) = found(&tables).unwrap();
    let places: Vec<_> =
        queues.depth.iter().map(|depth| (depth.label.as_str(), depth.sources.enqueued, depth.max)).collect();
    assert_eq!(places, [("GPU 0", 4, 3), ("GPU 0 queue 0", 3, 2), ("GPU 0 queue 3", 1, 1)]);
    assert_eq!(queues.idle.len(), 1, "nothing is known of what GPU 1 was given");
}

#[test]
fn a_trace_that_ties_nothing_to_the_host_says_nothing() {
    let mut tables = Tables::default();
    kernel(&mut tables, 0, 0, "gemm", 0, 10);
    assert_eq!(found(&tables), None);
    call(&mut tables, 7, "hipLaunchKernel", 1, 0, 5);
    assert_eq!(found(&tables), None);
    assert_eq!(found(&Tables::default()), None);
}

#[test]
fn ids_of_processes_in_different_spaces_are_apart() {
    let mut tables = Tables::default();
    call(&mut tables, 7, "hipLaunchKernel", 1, 0, 5);
    launched(&mut tables, 0, "gemm", (None, 1), [10, 20]);
    tables.processes.push(rtl_schema::table::Process { space: 1, ..rtl_schema::table::Process::default() });
    let track = rtl_schema::table::Track {
        process: rtl_schema::ProcessId(1),
        ..tables.tracks.get(rtl_schema::TrackId(0))
    };
    let track = tables.tracks.intern(track);
    let other = Dispatch { track, start: 30, correlation: 1, ..tables.dispatches.get(0) };
    tables.dispatches.push(other);
    let (latency, _) = found(&tables).unwrap();
    assert_eq!((latency.sources.called, latency.sources.unknown), (1, 1));
}

#[test]
fn times_of_either_end_are_no_panic() {
    let mut tables = Tables::default();
    for (enqueued, start) in [(i64::MIN, i64::MAX - 1), (i64::MAX, i64::MIN)] {
        launched(&mut tables, 0, "gemm", (Some(enqueued), 0), [start, start + 1]);
    }
    let (latency, queues) = found(&tables).unwrap();
    assert_eq!((latency.negative, latency.all.max_ns), (1, i64::MAX));
    assert_eq!(queues.depth[0].wall_ns, i64::MAX);
}

#[derive(Debug, Clone)]
struct Row {
    gpu: u32,
    start: i64,
    length: i64,
    enqueued: Option<i64>,
    link: i64,
}

prop_compose! {
    fn row()(
        gpu in 0_u32..2,
        start in 0_i64..150,
        length in 0_i64..30,
        enqueued in prop::option::of(-20_i64..160),
        link in 0_i64..12,
    ) -> Row {
        Row { gpu, start, length, enqueued, link }
    }
}

/// The start and end of the call of a correlation id.
fn call_of(link: i64) -> Option<(i64, i64)> {
    (1..10).contains(&link).then_some((link * 13, link * 13 + link))
}

fn trace(rows: &[Row]) -> Tables {
    let mut tables = Tables::default();
    for link in 1..10 {
        let (start, end) = call_of(link).unwrap();
        call(&mut tables, link % 3, "hipLaunchKernel", link, start, end);
    }
    for row in rows {
        launched(&mut tables, row.gpu, "gemm", (row.enqueued, row.link), [row.start, row.start + row.length]);
    }
    tables
}

fn waits_from(row: &Row) -> i64 {
    let known = row.enqueued.or(call_of(row.link).map(|(_, end)| end));
    known.map_or(row.start, |moment| moment.min(row.start))
}

proptest! {
    #[test]
    fn depth_and_idle_time_are_those_of_looking_at_each_nanosecond(rows in prop::collection::vec(row(), 1..30)) {
        let Some((_, queues)) = found(&trace(&rows)) else { return Ok(()) };
        for (depth, idle) in queues.depth.iter().zip(&queues.idle) {
            let rows: Vec<&Row> = rows.iter().filter(|row| i64::from(row.gpu) == depth.gpu).collect();
            let begin = rows.iter().map(|row| row.start).min().unwrap();
            let end = rows.iter().map(|row| row.start + row.length).max().unwrap();
            let (mut sum, mut idle_ns, mut host_ns, mut at_least) = (0, 0, 0, [0_i64; DEPTHS.len()]);
            for moment in begin..end {
                let unfinished = |row: &&&Row| moment < row.start + row.length;
                let pending = rows.iter().filter(unfinished).filter(|row| waits_from(row) <= moment).count();
                let running = rows.iter().filter(unfinished).filter(|row| row.start <= moment).count();
                sum += pending as i64;
                idle_ns += i64::from(running == 0);
                host_ns += i64::from(pending == 0);
                for (time, least) in at_least.iter_mut().zip(DEPTHS) {
                    *time += i64::from(pending as u64 >= least);
                }
            }
            let wall = end - begin;
            let share = |time: i64| if wall == 0 { 0.0 } else { time as f64 / wall as f64 };
            prop_assert_eq!((depth.wall_ns, depth.mean), (wall, share(sum)));
            prop_assert_eq!(depth.at_least, at_least.map(share));
            prop_assert_eq!((idle.idle_ns, idle.host_ns, idle.waiting_ns), (idle_ns, host_ns, idle_ns - host_ns));
        }
    }

    #[test]
    fn every_op_is_counted_once_and_the_order_of_rows_tells_nothing(
        rows in prop::collection::vec(row(), 1..30), seed in 0_u64..1000
    ) {
        let tables = trace(&rows);
        let answer = found(&tables);
        prop_assert_eq!(&answer, &found(&shuffled(&tables, seed)));
        if let Some((latency, _)) = answer {
            let known = latency.all.calls + latency.later + latency.negative;
            prop_assert_eq!(known, latency.sources.known());
            prop_assert_eq!(known + latency.sources.unknown, rows.len() as u64);
        }
    }
}
