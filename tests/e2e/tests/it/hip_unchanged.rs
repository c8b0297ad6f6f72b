//! What HIP programs of every release say is the same with the tracer, also where it steps in between.

use e2e::Process;
use e2e::compare::assert_has_what_was_executed;
use support::{Stack, stacks};

/// Runs a program on every runtime without and with the tracer: all that its queues executed is in the trace.
#[track_caller]
fn unchanged_and_recorded(
    name: &str,
    machines: &[usize],
    arguments: impl Fn(&Stack) -> &'static [&'static str],
) {
    for stack in stacks() {
        for &gpus in machines {
            let Some(process) = Process::of_hip(&stack, name, arguments(&stack)) else { return };
            let outcome = process.gpus(gpus).well();
            let trace = outcome.trace();
            assert_has_what_was_executed(&outcome, &trace);
            assert!(trace.left_out().is_empty(), "{stack:?} {:?}", trace.metadata);
        }
    }
}

#[test]
fn a_graph_of_more_kernels_than_the_runtime_can_stage() {
    unchanged_and_recorded("hip_graph", &[1], |stack| {
        if stack.hip == "5.2.3" { &["600", "1", "2"] } else { &["600", "4", "1"] }
    });
}

#[test]
fn bytes_that_kernels_copy_and_fill_are_right() {
    unchanged_and_recorded("hip_copies", &[1, 2], |_| &["100004"]);
}

#[test]
fn the_time_between_two_events_is_that_of_the_kernels() {
    const LAUNCHES: usize = 20;
    for stack in stacks() {
        let Some(process) = Process::of_hip(&stack, "hip_events", &["20"]) else { return };
        let outcome = process.setting("KFD_SIM_KERNEL_NS", "100000").traced();
        assert!(outcome.status.success(), "{outcome:?}");
        let elapsed = outcome.stdout.lines().filter_map(|line| line.strip_prefix("elapsed\t0\t"));
        let elapsed: Vec<usize> = elapsed.map(|microseconds| microseconds.parse().unwrap()).collect();
        assert!(elapsed.len() == 1 && elapsed[0] >= LAUNCHES * 100, "{elapsed:?}");
        assert_has_what_was_executed(&outcome, &outcome.trace());
    }
}
