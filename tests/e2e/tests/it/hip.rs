//! Tests of programs of HIP, of every release: streams, events, graphs, threads, copies between host and GPUs, fills.

use e2e::Process;
use e2e::compare::assert_has_what_was_executed;
use e2e::copies::assert_copies_were_executed;
use support::{Stack, stacks};

/// Runs a program on every runtime without and with the tracer, and checks that everything that its queues and the copy engines
/// executed is in the trace.
#[track_caller]
fn everything_is_recorded(
    name: &str,
    machines: &[usize],
    arguments: impl Fn(&Stack) -> &'static [&'static str],
) {
    for stack in stacks() {
        for &gpus in machines {
            let Some(process) = Process::for_hip(&stack, name, arguments(&stack)) else { return };
            let outcome = process.gpus(gpus).well();
            let trace = outcome.trace();
            assert_has_what_was_executed(&outcome, &trace);
            assert_copies_were_executed(&outcome.log, &trace);
            assert!(trace.left_out().is_empty(), "{stack:?} {:?}", trace.metadata);
        }
    }
}

/// Arguments of a graph of ten kernels that is launched 20 times: HIP 5.2.3 executes kernels at the first launch only.
fn graph(stack: &Stack) -> &'static [&'static str] {
    if stack.hip == "5.2.3" { &["10", "1", "20"] } else { &["10", "10", "2"] }
}

#[test]
fn kernels_of_streams_on_one_gpu_and_on_eight() {
    everything_is_recorded("hip_streams", &[1, 8], |_| &["3", "20"]);
}

#[test]
fn kernels_of_graphs() {
    everything_is_recorded("hip_graph", &[1, 2], graph);
}

#[test]
fn a_graph_of_more_kernels_than_the_runtime_can_stage() {
    everything_is_recorded("hip_graph", &[1], |stack| {
        if stack.hip == "5.2.3" { &["600", "1", "2"] } else { &["600", "4", "1"] }
    });
}

#[test]
fn kernels_that_threads_launch() {
    everything_is_recorded("hip_threads", &[1, 4], |_| &["4", "110"]);
}

#[test]
fn copies_between_host_and_gpus_and_the_kernels_by_which_hip_copies_and_fills() {
    everything_is_recorded("hip_copies", &[3], |_| &["100004"]);
}

#[test]
fn copies_that_hip_or_an_engine_makes_in_parts() {
    everything_is_recorded("hip_copies", &[2], |_| &["9000004"]);
    everything_is_recorded("hip_parts", &[1], |_| &[]);
}

#[test]
fn every_mode_records_batches_and_counts_what_it_skips() {
    for mode in ["lite", "hip", "full"] {
        for stack in stacks() {
            let Some(process) = Process::for_hip(&stack, "hip_graph", graph(&stack)) else { return };
            let outcome = process.mode(mode).unchanged();
            let trace = outcome.trace();
            assert_has_what_was_executed(&outcome, &trace);
            let left_out: Vec<&str> = trace.left_out().into_keys().collect();
            let expected: &[&str] = if mode == "lite" { &["skipped:completion_signal"] } else { &[] };
            assert!(left_out.is_empty() || left_out == expected, "{stack:?} {mode} {:?}", trace.metadata);
        }
    }
}

#[test]
fn the_time_between_two_events_is_that_of_the_kernels() {
    const LAUNCHES: usize = 20;
    for stack in stacks() {
        let Some(process) = Process::for_hip(&stack, "hip_events", &["20"]) else { return };
        let outcome = process.setting("KFD_SIM_KERNEL_NS", "100000").traced();
        assert!(outcome.status.success(), "{outcome:?}");
        let elapsed = outcome.stdout.lines().filter_map(|line| line.strip_prefix("elapsed\t0\t"));
        let elapsed: Vec<usize> = elapsed.map(|microseconds| microseconds.parse().unwrap()).collect();
        assert!(elapsed.len() == 1 && elapsed[0] >= LAUNCHES * 100, "{elapsed:?}");
        assert_has_what_was_executed(&outcome, &outcome.trace());
    }
}
