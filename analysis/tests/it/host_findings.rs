//! Findings on what the host did: small traces of one thread whose answer is plain.

use crate::common::{analysis, call, copy, dispatch, range};
use rtl_analysis::findings::{Finding, Findings, findings};
use rtl_analysis::trust::Health;
use rtl_schema::Tables;
use rtl_schema::table::{Direction, Dispatch, Operator};

const LAUNCH: &str = "hipLaunchKernel";
const MS: i64 = 1_000_000;

/// The thread 7 launches a kernel at a moment in ns; it runs 10 us later, for 1 ms.
fn launch(tables: &mut Tables, name: &str, moment: i64) {
    let correlation = tables.dispatches.len() as i64 + 1;
    call(tables, 7, LAUNCH, correlation, moment, moment + 5_000);
    let row = Dispatch { start: moment + 10_000, duration: Some(MS), correlation, ..Dispatch::default() };
    dispatch(tables, 0, 0, row, name);
}

fn operator(tables: &mut Tables, name: &str, [start, end]: [i64; 2]) {
    let name = tables.strings.intern(name);
    let row = Operator { tid: Some(7), name, start, duration: Some(end - start), ..Operator::default() };
    tables.operators.push(row);
}

fn found(tables: &Tables) -> Findings {
    findings(&analysis(tables), &Health::default())
}

fn first(tables: &Tables) -> Finding {
    let found = found(tables).findings;
    found.first().unwrap_or_else(|| panic!("no finding")).clone()
}

#[test]
fn launches_that_are_captured_are_the_recording_of_a_graph() {
    let mut tables = Tables::default();
    (0..5).for_each(|at| launch(&mut tables, "gemm", at * MS / 2));
    call(&mut tables, 7, "hipStreamBeginCapture", 0, 10 * MS, 10 * MS + 5_000);
    for at in 0..100 {
        let start = 10 * MS + 10_000 + at * 90_000;
        call(&mut tables, 7, LAUNCH, 1_000 + at, start, start + 5_000);
    }
    call(&mut tables, 7, "hipStreamEndCapture", 0, 20 * MS, 20 * MS + 5_000);
    launch(&mut tables, "gemm", 20 * MS + 10_000);
    let first = first(&tables);
    assert_eq!(first.id, "first-call");
    assert!(first.sentence.contains("a graph is captured, which is done once"), "{}", first.sentence);
    assert!(first.cost_ns > 9 * MS, "{first:?}");
}

#[test]
fn a_stream_that_is_created_is_set_up() {
    let mut tables = Tables::default();
    (0..5).for_each(|at| launch(&mut tables, "gemm", at * MS));
    call(&mut tables, 7, "cudaStreamCreateWithFlags", 0, 6 * MS, 16 * MS);
    launch(&mut tables, "gemm", 16 * MS + 1_000);
    assert_eq!(first(&tables).id, "first-call");
}

/// Rounds of four allocations of 1 ms with a launch behind each; `releases` of them are released after each round.
fn allocations(rounds: i64, releases: i64) -> Tables {
    let mut tables = Tables::default();
    let mut moment = 0;
    launch(&mut tables, "gemm", moment);
    moment += 2 * MS;
    call(&mut tables, 7, "cudaMalloc", 0, moment, moment + 1_000);
    for _ in 0..rounds {
        for _ in 0..4 {
            launch(&mut tables, "gemm", moment + 2_000);
            call(&mut tables, 7, "cudaMalloc", 0, moment + 10_000, moment + 2 * MS);
            moment += 2 * MS;
        }
        for _ in 0..releases {
            call(&mut tables, 7, "cudaFree", 0, moment + 1, moment + 1_000);
        }
        moment += MS;
    }
    launch(&mut tables, "gemm", moment);
    tables
}

#[test]
fn memory_that_is_allocated_again_and_again_is_released_between() {
    assert_eq!(first(&allocations(1, 4)).id, "first-call");
    assert_eq!(first(&allocations(5, 4)).id, "alloc-in-loop");
    assert_eq!(first(&allocations(5, 0)).id, "first-call", "a pool that grows");
}

#[test]
fn an_operator_that_takes_as_long_in_every_step_is_no_first_call() {
    let mut tables = Tables::default();
    for step in 0..6 {
        let start = step * 10 * MS;
        (0..5).for_each(|at| launch(&mut tables, "gemm", start + at * MS / 2));
        operator(&mut tables, "aten::result_type", [start + 4 * MS, start + 9 * MS]);
        launch(&mut tables, "scale", start + 9 * MS);
    }
    let found = found(&tables).findings;
    assert_eq!(found[0].id, "idle-host");
    assert!(found.iter().all(|finding| finding.id != "first-call"), "{found:?}");
}

#[test]
fn a_host_of_which_nothing_is_recorded_is_not_said_to_be_busy() {
    let mut tables = Tables::default();
    (0..5).for_each(|at| launch(&mut tables, "gemm", at * MS / 2));
    launch(&mut tables, "gemm", 30 * MS);
    let unrecorded = first(&tables);
    assert!(unrecorded.sentence.contains("the trace shows nothing meanwhile"), "{}", unrecorded.sentence);
    range(&mut tables, 1, Some(7), "read_config", 3 * MS, 30 * MS - 1_000);
    let named = first(&tables);
    assert!(named.sentence.contains("busy with something else"), "{}", named.sentence);
    assert!(named.sentence.contains("read_config"), "{}", named.sentence);
}

#[test]
fn operators_of_one_function_are_one_cause() {
    let mut tables = Tables::default();
    for step in 0..6 {
        let start = step * 20 * MS;
        (0..5).for_each(|at| launch(&mut tables, "gemm", start + at * MS / 2));
        let [begin, end] = [start + 4 * MS, start + 19 * MS];
        operator(&mut tables, "aten::unflatten_dense_tensors", [begin, end]);
        operator(&mut tables, "aten::narrow", [begin + 1_000, begin + 5 * MS]);
        operator(&mut tables, "aten::view", [begin + 5 * MS + 1_000, begin + 10 * MS]);
        operator(&mut tables, "aten::slice", [begin + 10 * MS + 1_000, end - 1_000]);
        launch(&mut tables, "gemm", end - 20_000);
    }
    let host = first(&tables);
    assert_eq!(host.id, "idle-host");
    assert!(host.sentence.contains("most at aten::unflatten_dense_tensors"), "{}", host.sentence);
    assert!(host.cost_ns > 70 * MS, "{host:?}");
}

#[test]
fn copies_within_a_gpu_are_named_with_the_number_of_the_headline() {
    let mut tables = Tables::default();
    launch(&mut tables, "gemm", 0);
    copy(&mut tables, 0, Direction::DeviceToDevice, None, 2 * MS, 5 * MS);
    copy(&mut tables, 0, Direction::Fill, None, 5 * MS, 6 * MS);
    call(&mut tables, 7, "hipMemcpyAsync", 77, MS, MS + 5_000);
    tables.copies[0].correlation = 77;
    operator(&mut tables, "CompiledFunction", [MS - 2_000, MS + 10_000]);
    operator(&mut tables, "aten::copy_", [MS - 1_000, MS + 9_000]);
    let Findings { headline, findings } = found(&tables);
    let alone = findings.iter().find(|finding| finding.id == "copies-alone").unwrap();
    assert_eq!((alone.cost_ns, headline.copies_alone_ns), (4 * MS, 4 * MS));
    assert!(alone.sentence.contains("most launched in CompiledFunction"), "{}", alone.sentence);
}

#[test]
fn time_before_the_first_op_is_stated_of_the_step_with_it() {
    let mut tables = Tables::default();
    range(&mut tables, 1, Some(7), "ProfilerStep", -30 * MS, 10 * MS);
    range(&mut tables, 2, Some(7), "preprocess", -29 * MS, -2 * MS);
    (0..8).for_each(|at| launch(&mut tables, "gemm", at * MS));
    let before = found(&tables).headline.before_first.unwrap();
    assert_eq!(before.ns, 30 * MS + 5_000);
    assert_eq!(before.within.as_deref(), Some("ProfilerStep"));
    assert_eq!(before.place.as_deref(), Some("preprocess"));
    assert!((before.share - 0.75).abs() < 0.01);
    // The recording has but this step, so that it is a cost.
    let host = first(&tables);
    assert_eq!(host.id, "idle-host");
    assert!(host.before_ns > 26 * MS && host.before_ns == host.cost_ns, "{host:?}");
    assert!(
        host.sentence.contains(
            "before the first op, 67.5 % of ProfilerStep (outside of the wall time), most at preprocess"
        ),
        "{}",
        host.sentence
    );
    // The host that waits for a GPU shows that it is busy, with work that was not recorded.
    call(&mut tables, 7, "hipDeviceSynchronize", 0, -28 * MS, -3 * MS);
    let Findings { headline, findings } = found(&tables);
    assert_eq!(headline.before_first, None);
    assert!(headline.busy_before && findings.is_empty(), "{findings:?}");
}

/// Steps of these lengths in ns, in which a loader takes that long but 6 ms, and five kernels follow.
fn steps(lengths: &[i64]) -> Tables {
    let mut tables = Tables::default();
    let mut moment = 0;
    for (number, length) in (1..).zip(lengths) {
        range(&mut tables, number, Some(7), "ProfilerStep", moment, moment + length - 1_000);
        let loaded = moment + length - 6 * MS;
        let loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
        range(&mut tables, 100 + number, Some(7), loader, moment + 1_000, loaded - 1_000);
        (0..5).for_each(|at| launch(&mut tables, "gemm", loaded + at * 20_000));
        moment += length;
    }
    tables
}

#[test]
fn what_comes_back_counts_before_the_first_op_too() {
    let loader = first(&steps(&[16 * MS; 4]));
    assert_eq!(loader.id, "idle-host");
    assert!((9 * MS..11 * MS).contains(&loader.before_ns), "{loader:?}");
    assert!(loader.cost_ns > 35 * MS && loader.share > 0.67 && loader.share < 0.69, "{loader:?}");
    for words in ["in 3 gaps", "of the wall time) and for 10.0 ms before the first op", "in every step"] {
        assert!(loader.sentence.contains(words), "{words}: {}", loader.sentence);
    }
}

#[test]
fn one_slow_step_is_named() {
    let mut lengths = [16 * MS; 6];
    assert_eq!(found(&steps(&lengths)).headline.slow_step, None);
    lengths[3] = 40 * MS;
    let slow = found(&steps(&lengths)).headline.slow_step.unwrap();
    assert_eq!((slow.ns, slow.usual_ns), (40 * MS - 1_000, 16 * MS - 1_000));
    // The first one has the start of the recording.
    lengths.swap(0, 3);
    assert_eq!(found(&steps(&lengths)).headline.slow_step, None);
}

/// The place of launch-bound is that of the thread, not that of the launch at the end of each gap.
#[test]
fn time_between_operators_is_none_of_the_operator_that_launches_next() {
    let mut tables = Tables::default();
    for at in 0..50_i64 {
        let (start, correlation) = (at * 50_000, at + 1);
        operator(&mut tables, "aten::matmul", [start, start + 15_000]);
        operator(&mut tables, "aten::mm", [start + 1_000, start + 14_000]);
        call(&mut tables, 7, LAUNCH, correlation, start + 5_000, start + 10_000);
        let row =
            Dispatch { start: start + 12_000, duration: Some(10_000), correlation, ..Dispatch::default() };
        dispatch(&mut tables, 0, 0, row, "gemm");
    }
    let first = first(&tables);
    assert_eq!(first.id, "launch-bound");
    let places = "70 % of it between operators, 30 % in aten::matmul";
    assert!(first.sentence.contains(places), "{}", first.sentence);
}

#[test]
fn a_step_that_is_an_operator_is_no_place() {
    let mut tables = Tables::default();
    for at in 0..50_i64 {
        let start = at * 50_000;
        if at % 10 == 0 {
            operator(&mut tables, &format!("ProfilerStep#{at}"), [start, start + 10 * 50_000]);
        }
        operator(&mut tables, "aten::mm", [start + 1, start + 49_000]);
        call(&mut tables, 7, LAUNCH, at + 1, start + 5_000, start + 10_000);
        let row = Dispatch {
            start: start + 12_000,
            duration: Some(10_000),
            correlation: at + 1,
            ..Dispatch::default()
        };
        dispatch(&mut tables, 0, 0, row, "gemm");
    }
    let sentence = first(&tables).sentence;
    assert!(sentence.contains("97 % of it in aten::mm"), "{sentence}");
}

/// Pauses of these lengths in ns in one range, each after and before kernels of its own.
fn pauses(lengths: &[i64]) -> Tables {
    let mut tables = Tables::default();
    (0..20).for_each(|at| launch(&mut tables, "gemm", at * 20_000));
    let mut moment = 22 * MS;
    for (at, length) in lengths.iter().enumerate() {
        launch(&mut tables, &format!("before{at}"), moment);
        range(&mut tables, at as i64 + 1, Some(7), "read_config", moment + 20_000, moment + MS + length);
        moment += MS + length;
        launch(&mut tables, &format!("after{at}"), moment);
        moment += 20_000;
    }
    tables
}

#[test]
fn the_ops_around_a_finding_are_those_of_most_of_its_time() {
    let most = first(&pauses(&[5 * MS, 30 * MS, 6 * MS])).sentence;
    assert!(most.contains(", after before1 and before after1"), "{most}");
    let longest = first(&pauses(&[10 * MS, 14 * MS, 12 * MS])).sentence;
    assert!(longest.contains(", the longest of 14.0 ms after before1 and before after1"), "{longest}");
}

/// Launches with an operator `aten::conv` of these lengths in ns around each, and kernels of their own names.
fn operators_of(lengths: &[i64]) -> Tables {
    let mut tables = Tables::default();
    (0..20).for_each(|at| launch(&mut tables, "gemm", at * 20_000));
    let mut moment = 2 * MS;
    for (at, length) in lengths.iter().enumerate() {
        operator(&mut tables, "aten::conv", [moment, moment + length + 8_000]);
        launch(&mut tables, &format!("conv{at}"), moment + length);
        moment += length + 2 * MS;
    }
    tables
}

#[test]
fn an_operator_that_takes_as_long_again_does_nothing_for_the_first_time() {
    let once = first(&operators_of(&[20 * MS, 10_000, 10_000, 10_000]));
    assert_eq!(once.id, "first-call", "{}", once.sentence);
    let first = first(&operators_of(&[20 * MS, 19 * MS]));
    assert_eq!(first.id, "idle-host", "{}", first.sentence);
    assert!(first.cost_ns > 38 * MS, "{}", first.sentence);
}

#[test]
fn an_operator_is_done_for_the_first_time_although_its_kernel_is_not() {
    let mut tables = operators_of(&[20 * MS, 10_000, 10_000, 10_000]);
    let gemm = tables.strings.intern("gemm");
    (0..tables.dispatches.len()).for_each(|row| tables.dispatches.name[row] = gemm);
    assert_eq!(first(&tables).id, "first-call");
}

#[test]
fn new_shapes_are_tuned_again_and_again() {
    let mut tables = operators_of(&[20 * MS, 10_000, 18 * MS, 10_000, 19 * MS, 10_000]);
    let gemm = tables.strings.intern("gemm");
    (0..tables.dispatches.len()).for_each(|row| tables.dispatches.name[row] = gemm);
    for row in 0..6 {
        let shapes = tables.strings.intern(&format!("[{}, 64]", row / 2));
        tables.operators.shapes.to_mut()[row] = shapes;
    }
    let tuned = first(&tables);
    assert_eq!(tuned.id, "first-call", "{}", tuned.sentence);
    assert!(tuned.cost_ns > 55 * MS, "{}", tuned.sentence);
    // Without shapes half of the calls take as long.
    tables.operators.shapes.map(|_| rtl_schema::NameId::NONE);
    assert_ne!(first(&tables).id, "first-call");
}

/// Steps in which the thread waits for the GPU for 900 us, and then launches four times after code of 300 us each, which the GPU waits for:
/// within `serve`, which is around all of it, and in the range `name` of the code itself.
fn steps_that_wait(steps: i64, name: Option<&str>) -> Tables {
    const STEP: i64 = 6_700_000;
    let mut tables = Tables::default();
    range(&mut tables, 0, Some(7), "serve", -1, steps * STEP);
    for step in 0..steps {
        let start = step * STEP;
        (0..40).for_each(|at| launch(&mut tables, "gemm", start + at * 10_000));
        call(&mut tables, 7, "hipDeviceSynchronize", 0, start + MS / 2, start + 1_400_000);
        for at in 0..4 {
            let begin = start + 1_400_000 + at * (MS + 320_000);
            if let Some(name) = name {
                range(&mut tables, 1, Some(7), name, begin + 6_000, begin + 299_000);
            }
            launch(&mut tables, "gemm", begin + 300_000);
        }
    }
    tables
}

#[test]
fn a_call_bears_the_ramp_after_it_unless_the_program_names_what_it_does_there() {
    let ramp = first(&steps_that_wait(5, None));
    assert_eq!(ramp.id, "idle-sync");
    assert!(ramp.sentence.contains("after 5 waits"), "{}", ramp.sentence);
    let named = first(&steps_that_wait(5, Some("sample")));
    assert_eq!(named.id, "idle-host");
    assert!(named.sentence.contains("sample"), "{}", named.sentence);
}

/// Rounds of ops of 1 ms, with the thread ahead but for the last one of each, before which the GPU is idle for 180 us.
fn late_launches(rounds: i64) -> Tables {
    let mut tables = Tables::default();
    for round in 0..rounds {
        let start = round * 3 * MS;
        launch(&mut tables, "gemm", start);
        for at in 1..23 {
            call(&mut tables, 7, LAUNCH, 0, start + at * 50_000, start + at * 50_000 + 5_000);
        }
        launch(&mut tables, "gemm", start + MS + 180_000);
        for at in 1..36 {
            let moment = start + MS + 180_000 + at * 50_000;
            call(&mut tables, 7, LAUNCH, 0, moment, moment + 5_000);
        }
        let correlation = tables.dispatches.len() as i64 + 1;
        let moment = start + MS + 250_000;
        call(&mut tables, 7, LAUNCH, correlation, moment, moment + 5_000);
        let start = start + 2 * MS + 190_000;
        let row = Dispatch { start, duration: Some(820_000), correlation, ..Dispatch::default() };
        dispatch(&mut tables, 0, 0, row, "gemm");
    }
    tables
}

#[test]
fn a_host_that_is_late_once_is_not_slow() {
    assert_eq!(first(&late_launches(8)).id, "launch-bound");
    assert_eq!(first(&late_launches(1)).id, "idle-host");
}
