//! Tests of mode hip: a kernel belongs to the call that launched it, whichever function it is, and the call to its stream.

use e2e::calls::{CallCounts, Calls, assert_as_judged, assert_has_what_was_called};
use e2e::compare::assert_has_what_was_executed;
use e2e::{Outcome, Process, Trace};
use support::{Need, Stack, skip, stacks};

/// A kernel: the function that launched it, its work-items, the address of the stream that the function was given (0: the default
/// one).
type Launch = (String, i64, i64);

/// Launches in the report of `tests/programs/hip_launches.c`.
fn reported(outcome: &Outcome) -> Vec<Launch> {
    let lines = outcome.report.lines().filter_map(|line| line.strip_prefix("launch\t"));
    let mut launches: Vec<Launch> = lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|columns| (columns[0].to_owned(), columns[1].parse().unwrap(), columns[2].parse().unwrap()))
        .collect();
    launches.sort();
    launches
}

/// The kernels of the program in its trace. HIP 5.2.3 makes some of these calls within another one of them.
fn recorded(trace: &Trace) -> Vec<Launch> {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT function.string, op.gridX, coalesce(json_extract(stream.value, '$.address'), 0)
             FROM rocpd_op op JOIN rocpd_string kernel ON kernel.id = op.description_id
             JOIN rocpd_api inner_call ON inner_call.correlationId = op.correlationId
             JOIN rocpd_api call ON call.correlationId = coalesce(inner_call.parentId, inner_call.correlationId)
             JOIN rocpd_string function ON function.id = call.apiName_id
             LEFT JOIN rocpd_metadata stream
                ON stream.tag = 'stream' AND json_extract(stream.value, '$.streamId') = call.streamId
             WHERE op.gpuId >= 0 AND op.gridX > 0 AND kernel.string NOT LIKE '\\_\\_amd%' ESCAPE '\\'
             ORDER BY 1, 2, 3",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Runs `hip_compiles`: the compiler's calls are calls of HIP, and its kernels are launched.
fn compiles(process: &Process) -> (Outcome, Calls) {
    let outcome = process.well();
    assert!(outcome.stdout.starts_with("mistake\t6\t1\nlowered\t_Z6secondIdEvPT_\n"), "{outcome:?}");
    let trace = outcome.trace();
    let calls = assert_has_what_was_called(&outcome, &trace);
    assert_eq!(calls.failed, CallCounts::from([("hiprtcCompileProgram".to_owned(), 1)]), "{outcome:?}");
    let launched = |items| ("hipModuleLaunchKernel".to_owned(), items, 0);
    assert_eq!(recorded(&trace), [launched(64), launched(128)], "{outcome:?}");
    let mut names: Vec<&str> = trace.rows.iter().map(|row| row.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["first", "void second<double>(double*)"], "{outcome:?}");
    (outcome, calls)
}

/// Number of functions that launch kernels on this HIP.
fn functions(hip: &str) -> usize {
    match hip {
        "5.2.3" | "5.7.1" => 8,
        "6.4.3" => 10,
        _ => 12,
    }
}

#[track_caller]
fn assert_each_belongs_to_its_call(outcome: &Outcome, trace: &Trace, hip: &str) {
    let reported = reported(outcome);
    assert_eq!(recorded(trace), reported, "{outcome:?}");
    let mut names: Vec<&String> = reported.iter().map(|(name, ..)| name).collect();
    names.dedup();
    assert!(names.len() >= functions(hip), "{names:?}");
    assert_has_what_was_executed(outcome, trace);
}

#[test]
fn kernels_of_every_function_that_launches_belong_to_its_call() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_launches", &[]) else { return };
        let outcome = process.calls().gpus(2).well();
        let trace = outcome.trace();
        assert_has_what_was_called(&outcome, &trace);
        assert_each_belongs_to_its_call(&outcome, &trace, stack.hip);
    }
}

#[test]
fn the_same_of_a_program_that_is_linked_with_hip_as_hipcc_links_it() {
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_launches", &[]) else { return };
        let outcome = process.linked_to_hip("hip_launches").calls().judged().gpus(2).well();
        let trace = outcome.trace();
        let calls = assert_has_what_was_called(&outcome, &trace);
        assert_as_judged(&outcome, &calls);
        assert_each_belongs_to_its_call(&outcome, &trace, stack.hip);
    }
}

#[test]
fn kernels_that_the_program_compiles_itself() {
    let has_compiler = |stack: &Stack| stack.hip != "7.2.4" || stack.hip_compiler().is_some();
    if !stacks().iter().all(has_compiler) {
        skip(Need::Stacks, "no libhiprtc.so.7 (scripts/fetch/rocm-stacks, once its experimental is removed)");
    }
    for stack in stacks().into_iter().filter(has_compiler) {
        let Some(process) = Process::for_hip(&stack, "hip_compiles", &[]) else { return };
        let (outcome, calls) = compiles(&process.linked_to_hip("hip_compiles").calls().judged());
        assert_as_judged(&outcome, &calls);
    }
    // Compiling takes a second, so the variant that opens HIP runs on the newest runtime only.
    if let Some(stack) = stacks().into_iter().rfind(has_compiler) {
        let Some(process) = Process::for_hip(&stack, "hip_compiles", &[]) else { return };
        compiles(&process.calls());
    }
}
