//! Why GPUs were idle: causes that can be checked by hand, and what holds for every trace.

use crate::common::{analysis, call, copy, dispatch, kernel, range, shuffled};
use proptest::prelude::*;
use rtl_analysis::idle::{Cause, GpuIdle};
use rtl_schema::Tables;
use rtl_schema::table::{Details, Direction, Dispatch, Operator};

const LAUNCH: &str = "hipLaunchKernel";

/// A kernel on GPU 0 that a call launched.
fn launched(tables: &mut Tables, correlation: i64, [start, end]: [i64; 2]) {
    let row = Dispatch { start, duration: Some(end - start), correlation, ..Dispatch::default() };
    dispatch(tables, 0, 0, row, "gemm");
}

/// An operator of thread 7.
fn operator(tables: &mut Tables, name: &str, [start, end]: [i64; 2]) {
    let name = tables.strings.intern(name);
    let row = Operator { tid: Some(7), name, start, duration: Some(end - start), ..Operator::default() };
    tables.operators.push(row);
}

fn idle(tables: &Tables) -> GpuIdle {
    let analysis = analysis(tables);
    let [gpu] = analysis.idle() else { panic!("{:?}", analysis.idle()) };
    assert_eq!(gpu.idle_ns, analysis.sweep().gpus[0].idle_ns);
    assert_eq!(gpu.causes.iter().map(|cause| cause.idle_ns).sum::<i64>(), gpu.idle_ns);
    gpu.clone()
}

/// Cause and time, most first.
fn causes(gpu: &GpuIdle) -> Vec<(Cause, i64)> {
    gpu.causes.iter().map(|cause| (cause.cause, cause.idle_ns)).collect()
}

/// The most important place of a cause.
fn place(gpu: &GpuIdle, cause: Cause) -> String {
    gpu.causes.iter().find(|row| row.cause == cause).unwrap().places[0].place.label()
}

/// A kernel that ends at 1,000 and the next one, which thread 7 launches from 20,000 to 20,100 and which starts at 20,300.
fn two_kernels() -> Tables {
    let mut tables = Tables::default();
    call(&mut tables, 7, LAUNCH, 1, -500, -400);
    launched(&mut tables, 1, [0, 1_000]);
    call(&mut tables, 7, LAUNCH, 2, 20_000, 20_100);
    launched(&mut tables, 2, [20_300, 20_400]);
    tables
}

#[test]
fn the_time_from_one_launch_to_the_next_and_within_it_is_launch() {
    let gpu = idle(&two_kernels());
    assert_eq!(causes(&gpu), [(Cause::Launch, 19_100), (Cause::Queued, 200)]);
    assert_eq!((gpu.gaps, gpu.wall_ns, gpu.idle_ns), (1, 20_400, 19_300));
    assert_eq!((gpu.causes[0].gaps, gpu.causes[0].longest_ns), (1, 19_100));
    assert_eq!(place(&gpu, Cause::Launch), LAUNCH);
    let [gap] = &gpu.longest[..] else { panic!("{gpu:?}") };
    assert_eq!(
        (gap.start_ns, gap.duration_ns, gap.after.as_str(), gap.correlation),
        (1_000, 19_300, "gemm", 2)
    );
    assert_eq!(gap.parts.iter().map(|part| part.idle_ns).collect::<Vec<_>>(), [19_100, 200]);
}

#[test]
fn the_place_of_a_gap_has_most_of_it_and_not_its_longest_piece() {
    let mut tables = Tables::default();
    call(&mut tables, 7, LAUNCH, 1, -500, -400);
    launched(&mut tables, 1, [0, 1_000]);
    call(&mut tables, 7, LAUNCH, 2, 200_000, 200_100);
    launched(&mut tables, 2, [200_100, 200_200]);
    // A loop of short pieces, between which operators run, one of which takes longer than any of the pieces.
    range(&mut tables, 1, Some(7), "loop", -900, 200_000);
    operator(&mut tables, "aten::div", [100_000, 140_000]);
    for start in (10_000..100_000).step_by(20_000) {
        operator(&mut tables, "aten::mul", [start, start + 100]);
    }
    let gpu = idle(&tables);
    let [gap] = &gpu.longest[..] else { panic!("{gpu:?}") };
    assert_eq!(gap.parts[0].label(), "host: loop");
}

#[test]
fn a_thread_that_takes_longer_to_the_next_launch_is_the_host() {
    let mut tables = Tables::default();
    call(&mut tables, 7, LAUNCH, 1, -500, -400);
    launched(&mut tables, 1, [0, 1_000]);
    call(&mut tables, 7, LAUNCH, 2, 100_000, 100_100);
    launched(&mut tables, 2, [100_100, 100_200]);
    range(&mut tables, 1, Some(7), "load", -900, 60_000);
    operator(&mut tables, "aten::index", [10_000, 20_000]);
    let gpu = idle(&tables);
    assert_eq!(causes(&gpu), [(Cause::Host, 99_000), (Cause::Launch, 100)]);
    let places: Vec<_> = gpu.causes[0].places.iter().map(|row| (row.place.label(), row.idle_ns)).collect();
    let nothing = "(no call, operator or range)".to_owned();
    assert_eq!(places, [("load".to_owned(), 49_000), (nothing, 40_000), ("aten::index".to_owned(), 10_000)]);
}

#[test]
fn a_wait_that_drained_the_queue_bears_what_follows_up_to_its_length() {
    let mut tables = two_kernels();
    call(&mut tables, 7, "hipStreamSynchronize", 0, -300, 5_000);
    operator(&mut tables, "aten::item", [-350, 6_000]);
    let gpu = idle(&tables);
    assert_eq!(
        causes(&gpu),
        [(Cause::Host, 15_000), (Cause::Synchronise, 4_000), (Cause::Queued, 200), (Cause::Launch, 100)]
    );
    assert_eq!(place(&gpu, Cause::Synchronise), "aten::item -> hipStreamSynchronize");
    assert_eq!(place(&gpu, Cause::Host), "(no call, operator or range)");
    let [after] = &gpu.after_blocking[..] else { panic!("{gpu:?}") };
    assert_eq!((after.cause, after.cost_ns, after.gaps), (Cause::Synchronise, 5_300, 1));
    assert_eq!((after.drained_ns, after.drained_gaps), (19_300, 1));
    assert_eq!(after.places[0].place.label(), "aten::item -> hipStreamSynchronize");
    let bears = gpu.longest[0].after_blocking.as_ref().unwrap();
    assert_eq!((bears.cause, bears.idle_ns), (Cause::Synchronise, 5_300));
}

#[test]
fn a_thread_that_is_ahead_again_no_longer_pays_for_its_wait() {
    let mut tables = Tables::default();
    call(&mut tables, 7, LAUNCH, 1, -500, -400);
    launched(&mut tables, 1, [0, 1_000_000]);
    call(&mut tables, 7, "hipDeviceSynchronize", 0, 0, 1_000_000);
    call(&mut tables, 7, LAUNCH, 2, 1_000_000, 1_000_100);
    launched(&mut tables, 2, [1_000_100, 1_300_000]);
    call(&mut tables, 7, LAUNCH, 3, 1_000_200, 1_000_300);
    launched(&mut tables, 3, [1_300_000, 1_400_000]);
    call(&mut tables, 7, LAUNCH, 4, 1_900_000, 1_900_100);
    launched(&mut tables, 4, [1_900_100, 1_900_200]);
    let gpu = idle(&tables);
    assert_eq!(causes(&gpu), [(Cause::Host, 500_000), (Cause::Launch, 200)]);
    assert_eq!((gpu.after_blocking[0].cost_ns, gpu.after_blocking[0].gaps), (100, 1));
}

#[test]
fn a_call_bears_no_idle_time_that_came_before_it() {
    let mut tables = two_kernels();
    call(&mut tables, 7, "hipFree", 0, 11_000, 12_000);
    call(&mut tables, 7, "hipMemcpyWithStream", 3, 20_200, 90_000);
    copy(&mut tables, 0, Direction::HostToDevice, None, 50_000, 60_000);
    tables.copies[0].correlation = 3;
    let gpu = idle(&tables);
    let after: Vec<_> = gpu.after_blocking.iter().map(|after| (after.cause, after.cost_ns)).collect();
    // The copy waited 29,600 ns for itself. The release took 1,000 ns in the gap and has nothing left for the time after it.
    assert_eq!(after, [(Cause::BlockingCopy, 29_600), (Cause::Allocation, 1_000)]);
}

#[test]
fn pieces_of_gaps_are_in_order_and_add_up() {
    let mut tables = two_kernels();
    call(&mut tables, 7, "hipStreamSynchronize", 0, -300, 5_000);
    operator(&mut tables, "aten::item", [-350, 6_000]);
    let pieces = rtl_analysis::idle::pieces(&tables);
    let times: Vec<_> = pieces.iter().map(|piece| (piece.cause, piece.start_ns, piece.end_ns)).collect();
    assert_eq!(
        times,
        [
            (Cause::Synchronise, 1_000, 5_000),
            (Cause::Host, 5_000, 6_000),
            (Cause::Host, 6_000, 20_000),
            (Cause::Launch, 20_000, 20_100),
            (Cause::Queued, 20_100, 20_300),
        ]
    );
    assert_eq!(tables.strings.get(pieces[0].within), "aten::item");
}

#[test]
fn copies_allocations_and_modules_are_causes_of_their_own() {
    for (name, cause) in [
        ("hipMemcpyWithStream", Cause::BlockingCopy),
        ("hipFree", Cause::Allocation),
        ("hipModuleLoadData", Cause::Loading),
    ] {
        let mut tables = two_kernels();
        call(&mut tables, 7, name, 0, 2_000, 20_000);
        call(&mut tables, 7, "hipEventQuery", 0, 1_000, 2_000);
        assert_eq!(causes(&idle(&tables))[..2], [(cause, 18_000), (Cause::Host, 1_000)], "{name}");
    }
}

#[test]
fn an_asynchronous_copy_that_returns_when_it_is_done_blocks() {
    for (end, cause) in [(14_000, Cause::BlockingCopy), (12_999, Cause::Launch)] {
        let mut tables = two_kernels();
        call(&mut tables, 7, "hipMemcpyAsync", 3, 1_000, end);
        copy(&mut tables, 0, Direction::DeviceToHost, Some(1 << 20), 11_000, 15_000);
        tables.copies[0].correlation = 3;
        let gpu = idle(&tables);
        let time = if cause == Cause::Launch { 15_100 } else { 10_000 };
        assert!(causes(&gpu).contains(&(cause, time)), "{:?}", causes(&gpu));
    }
}

#[test]
fn a_copy_of_a_few_bytes_to_the_host_waits_for_a_result() {
    for name in ["hipMemcpyAsync", "hipMemcpyWithStream"] {
        for (bytes, cause) in [(8, Cause::Synchronise), (1 << 20, Cause::BlockingCopy)] {
            let mut tables = two_kernels();
            call(&mut tables, 7, name, 3, 1_000, 15_000);
            copy(&mut tables, 0, Direction::DeviceToHost, Some(bytes), 11_000, 15_000);
            tables.copies[0].correlation = 3;
            assert!(causes(&idle(&tables)).contains(&(cause, 10_000)), "{name} of {bytes} bytes");
        }
    }
}

#[test]
fn what_was_allocated_before_the_first_op_costs_nothing_after_it() {
    let mut tables = two_kernels();
    call(&mut tables, 7, "hipMalloc", 0, -90_000, -600);
    assert!(idle(&tables).after_blocking.is_empty());
}

#[test]
fn an_op_that_was_enqueued_in_a_gap_and_starts_long_after_waits_for_something_else() {
    let mut tables = two_kernels();
    call(&mut tables, 7, LAUNCH, 3, 20_450, 20_500);
    launched(&mut tables, 3, [620_500, 620_600]);
    let gpu = idle(&tables);
    assert_eq!(gpu.waiting_ns, 600_000);
    let queued = gpu.causes.iter().find(|cause| cause.cause == Cause::Queued).unwrap();
    assert_eq!((queued.idle_ns, queued.own_ns), (600_200, 200));
}

#[test]
fn compiling_is_loading() {
    let mut tables = Tables::default();
    call(&mut tables, 7, LAUNCH, 1, -500, -400);
    launched(&mut tables, 1, [0, 1_000]);
    call(&mut tables, 7, LAUNCH, 2, 900_000, 900_100);
    launched(&mut tables, 2, [900_100, 900_200]);
    operator(&mut tables, "backend_compile", [100_000, 800_000]);
    operator(&mut tables, "aten::empty", [200_000, 300_000]);
    operator(&mut tables, "Torch-Compiled Region: 0/0", [850_000, 950_000]);
    let gpu = idle(&tables);
    assert_eq!(causes(&gpu), [(Cause::Loading, 700_000), (Cause::Host, 199_000), (Cause::Launch, 100)]);
    assert_eq!(place(&gpu, Cause::Loading), "backend_compile");
}

#[test]
fn an_op_without_a_launch_leaves_its_gap_unknown() {
    let mut tables = two_kernels();
    kernel(&mut tables, 0, 0, "copied", 30_000, 30_100);
    let gpu = idle(&tables);
    assert_eq!(causes(&gpu), [(Cause::Launch, 19_100), (Cause::Unknown, 9_600), (Cause::Queued, 200)]);
}

#[test]
fn an_op_with_a_moment_but_without_a_call_waited_for_some_thread() {
    let mut tables = two_kernels();
    let row = Dispatch {
        start: 30_000,
        duration: Some(10),
        details: Details::with_enqueued(Some(29_000)),
        ..Dispatch::default()
    };
    dispatch(&mut tables, 0, 0, row, "gemm");
    let gpu = idle(&tables);
    assert_eq!(causes(&gpu)[1..], [(Cause::Host, 8_600), (Cause::Queued, 1_200)]);
}

#[test]
fn a_call_within_another_counts_as_the_outer_one() {
    let mut tables = two_kernels();
    call(&mut tables, 7, "hipMemcpy", 0, 500, 19_000);
    call(&mut tables, 7, "hsa_signal_wait_scacquire", 0, 2_000, 18_000);
    assert_eq!(causes(&idle(&tables))[0], (Cause::BlockingCopy, 18_000));
}

#[test]
fn other_threads_are_not_asked() {
    let mut tables = two_kernels();
    call(&mut tables, 8, "hipDeviceSynchronize", 0, 500, 19_000);
    let gpu = idle(&tables);
    assert_eq!(causes(&gpu)[0], (Cause::Launch, 19_100));
    assert!(gpu.after_blocking.is_empty());
}

#[test]
fn times_of_either_end_are_no_panic() {
    let mut tables = Tables::default();
    call(&mut tables, 7, LAUNCH, 1, i64::MIN, i64::MIN + 5);
    call(&mut tables, 7, "hipDeviceSynchronize", 0, i64::MIN + 9, -1);
    call(&mut tables, 7, LAUNCH, 2, i64::MAX - 9, i64::MAX);
    operator(&mut tables, "aten::mm", [i64::MAX - 9, i64::MAX]);
    launched(&mut tables, 1, [i64::MIN, i64::MIN + 1]);
    launched(&mut tables, 2, [i64::MAX - 1, i64::MAX]);
    let analysis = analysis(&tables);
    let [gpu] = analysis.idle() else { panic!() };
    assert_eq!((gpu.gaps, gpu.idle_ns), (1, i64::MAX));
}

#[test]
fn every_sample_is_explained_to_the_nanosecond() {
    let Some(shared) = support::shared() else { return };
    for folder in ["kineto/h200", "kineto", "traces/real", "traces/made"] {
        for file in std::fs::read_dir(shared.join(folder)).into_iter().flatten().flatten() {
            let Ok(trace) = rtl_schema::Trace::open(file.path()) else { continue };
            let tables = trace.read(&rtl_schema::Select::summary()).unwrap();
            let analysis = analysis(&tables);
            for (gpu, swept) in analysis.idle().iter().zip(&analysis.sweep().gpus) {
                let causes: i64 = gpu.causes.iter().map(|cause| cause.idle_ns).sum();
                assert_eq!((gpu.idle_ns, causes), (swept.idle_ns, swept.idle_ns), "{:?}", file.path());
                assert_eq!((&gpu.label, gpu.wall_ns), (&swept.label, swept.wall_ns));
            }
        }
    }
}

/// The only GPU of a trace of one H200.
fn h200(name: &str) -> Option<GpuIdle> {
    let path = support::shared()?.join(format!("kineto/h200/gpt-{name}.json.gz"));
    let trace = rtl_schema::Trace::open(&path).ok()?;
    Some(idle(&trace.read(&rtl_schema::Select::summary()).unwrap()))
}

#[test]
fn planted_causes_of_real_traces_are_found() {
    for (name, cause, share, at) in [
        ("host_stall", Cause::Host, 0.30, "ProfilerStep"),
        ("tiny", Cause::Launch, 0.40, "aten::sub_ -> cudaLaunchKernel"),
        ("malloc", Cause::Allocation, 0.15, "ProfilerStep -> cudaFree"),
        ("jit", Cause::Host, 0.70, "ProfilerStep"),
        ("dist_slowhost-rank1", Cause::Host, 0.35, "ProfilerStep"),
    ] {
        let Some(gpu) = h200(name) else { return };
        let most = &gpu.causes[0];
        assert_eq!((most.cause, most.places[0].place.label().as_str()), (cause, at), "{name}");
        assert!(most.share > share, "{name}: {most:?}");
    }
    for (name, cause, share, at) in [
        ("sync", Cause::Synchronise, 0.09, "aten::_local_scalar_dense -> cudaStreamSynchronize"),
        ("pageable", Cause::BlockingCopy, 0.01, "aten::copy_ -> cudaMemcpyAsync"),
        ("d2h", Cause::BlockingCopy, 0.015, "aten::copy_ -> cudaMemcpyAsync"),
        ("malloc", Cause::Allocation, 0.18, "ProfilerStep -> cudaFree"),
    ] {
        let Some(gpu) = h200(name) else { return };
        let most = &gpu.after_blocking[0];
        assert_eq!((most.cause, most.places[0].place.label().as_str()), (cause, at), "{name}");
        assert!(most.share > share, "{name}: {most:?}");
    }
    for name in ["healthy", "graph", "dist_overlap-rank0", "dist_exposed-rank0", "dist_slowgpu-rank0"] {
        let Some(gpu) = h200(name) else { return };
        let waits =
            |cause: &&rtl_analysis::idle::CauseIdle| !matches!(cause.cause, Cause::Queued | Cause::Unknown);
        let late: f64 = gpu.causes.iter().filter(waits).map(|cause| cause.share).sum();
        assert!(late < 0.01, "{name}: {:?}", gpu.causes);
    }
}

#[derive(Debug, Clone)]
struct Row {
    gpu: u32,
    start: i64,
    length: i64,
    enqueued: Option<i64>,
    link: i64,
    copy: bool,
}

prop_compose! {
    fn row()(
        gpu in 0_u32..2,
        start in 0_i64..400_000,
        length in 0_i64..3_000,
        enqueued in prop::option::weighted(0.2, 0_i64..400_000),
        link in 0_i64..22,
        copy in prop::bool::weighted(0.2),
    ) -> Row {
        Row { gpu, start, length, enqueued, link, copy }
    }
}

/// Calls by function, thread, start and length.
type HostRow = (usize, i64, i64, i64);

const FUNCTIONS: [&str; 8] = [
    LAUNCH,
    LAUNCH,
    "hipMemcpyAsync",
    "hipStreamSynchronize",
    "hipMemcpy",
    "hipFree",
    "hipModuleLoad",
    "hipGetDevice",
];

fn trace(rows: &[Row], calls: &[HostRow], spans: &[HostRow]) -> Tables {
    let mut tables = Tables::default();
    for (position, &(function, tid, start, length)) in calls.iter().enumerate() {
        call(&mut tables, tid, FUNCTIONS[function], position as i64 + 1, start, start + length);
    }
    for (position, &(name, tid, start, length)) in spans.iter().enumerate() {
        let name = ["aten::mm", "aten::item", "frame_compile", "step"][name % 4];
        range(&mut tables, position as i64, Some(tid), name, start, start + length);
    }
    for row in rows {
        if row.copy {
            copy(&mut tables, row.gpu, Direction::DeviceToHost, None, row.start, row.start + row.length);
            let last = tables.copies.last_mut().unwrap();
            (last.correlation, last.details.enqueued) = (row.link, row.enqueued);
        } else {
            let (start, duration) = (row.start, Some(row.length));
            let details = Details::with_enqueued(row.enqueued);
            let op = Dispatch { start, duration, details, correlation: row.link, ..Dispatch::default() };
            dispatch(&mut tables, row.gpu, 0, op, "gemm");
        }
    }
    tables
}

fn host_rows() -> impl Strategy<Value = Vec<HostRow>> {
    prop::collection::vec((0_usize..8, 0_i64..2, 0_i64..400_000, 0_i64..40_000), 0..20)
}

proptest! {
    #[test]
    fn causes_add_up_to_idle_time_and_the_order_of_rows_tells_nothing(
        rows in prop::collection::vec(row(), 1..30), calls in host_rows(), spans in host_rows(), seed in 0_u64..1000
    ) {
        let tables = trace(&rows, &calls, &spans);
        let shuffled = shuffled(&tables, seed);
        let (one, other) = (analysis(&tables), analysis(&shuffled));
        prop_assert_eq!(one.idle(), other.idle());
        for (gpu, swept) in one.idle().iter().zip(&one.sweep().gpus) {
            let sum = |times: &mut dyn Iterator<Item = i64>| times.sum::<i64>();
            prop_assert_eq!((gpu.gpu, gpu.idle_ns, gpu.wall_ns), (swept.gpu, swept.idle_ns, swept.wall_ns));
            prop_assert_eq!(sum(&mut gpu.causes.iter().map(|cause| cause.idle_ns)), gpu.idle_ns);
            prop_assert!(sum(&mut gpu.after_blocking.iter().map(|after| after.cost_ns)) <= gpu.idle_ns);
            prop_assert!(sum(&mut gpu.after_blocking.iter().map(|after| after.drained_ns)) <= gpu.idle_ns);
            for gap in gpu.longest.iter().chain(gpu.causes.iter().flat_map(|cause| &cause.longest)) {
                prop_assert_eq!(sum(&mut gap.parts.iter().map(|part| part.idle_ns)), gap.duration_ns);
            }
            for cause in gpu.causes.iter().filter(|cause| cause.places.len() < 5 && !cause.places.is_empty()) {
                prop_assert_eq!(sum(&mut cause.places.iter().map(|place| place.idle_ns)), cause.idle_ns);
            }
        }
        prop_assert_eq!(one.idle().len(), one.sweep().gpus.len());
    }
}
