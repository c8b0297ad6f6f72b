//! Tests of a host that is far ahead of the GPU: it launches at least four times the capacity of the queues.
//!
//! RTL_AHEAD is the number of kernels; `./test --long` takes 100,000, which not every runtime supports without the tracer: some
//! abort, and some take longer than a test may. On these nothing is checked in the traced run.

use e2e::compare::assert_has_what_was_executed;
use e2e::{Outcome, Process};
use support::{Stack, stacks};

/// As many kernels as every runtime supports.
const BORNE: usize = 10_000;

/// Number of kernels that are launched without a wait.
fn ahead() -> usize {
    std::env::var("RTL_AHEAD").map_or(BORNE, |ahead| ahead.parse().unwrap())
}

/// The run without the tracer. `None`, after one line about its end, where the runtime does not support the distance.
#[track_caller]
#[expect(clippy::print_stderr, reason = "a runtime of which nothing is demanded is said")]
fn bare(process: &Process) -> Option<Outcome> {
    let bare = process.bare();
    if bare.status.success() {
        return Some(bare);
    }
    assert!(ahead() > BORNE, "{bare:?}");
    eprintln!("without the tracer on HIP {}: {}", process.stack().hip, bare.status);
    None
}

/// Size of the smallest queue that the runtimes make.
const FEWEST_PLACES: usize = 64;

/// HIP 5.2.3 executes the kernels of a graph at its first launch only.
fn repeats_graphs(stack: &Stack) -> bool {
    stack.hip != "5.2.3"
}

/// A program that launches on a number of streams, by graphs of `nodes` nodes (0 for none), and the number of its kernels.
fn far_ahead(stack: &Stack, nodes: usize, streams: usize) -> Option<(Process, usize)> {
    let launches = if nodes == 0 || repeats_graphs(stack) { ahead() / nodes.max(1) } else { streams };
    let arguments = [nodes, launches, streams].map(|number| number.to_string());
    let arguments = arguments.each_ref().map(String::as_str);
    let process = Process::for_hip(stack, "hip_ahead", &arguments)?;
    // By default HIP has four queues a GPU. The GPU takes longer for a kernel than the host.
    let kernel = (20_000 * streams).to_string();
    let process = process.setting("GPU_MAX_HW_QUEUES", "8").setting("KFD_SIM_KERNEL_NS", kernel);
    let kernels = nodes.max(1) * launches;
    let packets = FEWEST_PLACES.max(1 << (kernels / streams / 4).ilog2());
    Some((process.setting("ROC_AQL_QUEUE_SIZE", packets.to_string()), kernels))
}

/// Checks that a program which succeeds without the tracer does so with it, and that every kernel is recorded.
#[track_caller]
fn lives_and_is_recorded(nodes: usize, streams: usize, mode: &str) {
    for stack in &stacks() {
        let Some((process, kernels)) = far_ahead(stack, nodes, streams) else { return };
        let process = process.mode(mode);
        let Some(bare) = bare(&process) else { continue };
        let outcome = process.unchanged_from(&bare).assert_well();
        let trace = outcome.trace();
        assert_has_what_was_executed(&outcome, &trace);
        let seen = trace.count("seen") as usize;
        assert!(seen >= kernels, "{stack:?} {seen} of {kernels}");
        let left_out: Vec<&str> = trace.left_out().into_keys().collect();
        let expected: &[&str] = if mode == "lite" { &["skipped:completion_signal"] } else { &[] };
        assert!(left_out.is_empty() || left_out == expected, "{stack:?} {:?}", trace.metadata);
    }
}

#[test]
fn kernels_launched_one_by_one_far_ahead_of_the_gpu() {
    lives_and_is_recorded(0, 1, "standard");
}

#[test]
fn kernels_on_eight_queues_far_ahead_of_the_gpu() {
    lives_and_is_recorded(0, 8, "standard");
}

#[test]
fn kernels_that_are_not_recorded_far_ahead_of_the_gpu() {
    for stack in &stacks() {
        let Some((process, kernels)) = far_ahead(stack, 0, 8) else { return };
        if let Some(bare) = bare(&process) {
            drop(process.setting("RTL_START", "stopped").unchanged_from(&bare));
        }

        let Some((process, _)) = far_ahead(stack, 0, 1) else { return };
        // The queue has more places than the buffer.
        let places = (kernels * 2 / 3).next_power_of_two().to_string();
        let process = process.setting("ROC_AQL_QUEUE_SIZE", places).setting("RTL_BUFFER", "1M");
        if bare(&process).is_none() {
            continue;
        }
        let outcome = process.traced();
        assert!(outcome.status.success(), "{stack:?} {}", outcome.stderr);
        let trace = outcome.trace();
        assert_eq!(trace.count("seen") as usize, kernels, "{stack:?} {:?}", trace.metadata);
        assert!(trace.count("lost:buffer") > 0, "{stack:?} {:?}", trace.metadata);
    }
}

#[test]
fn graphs_of_100_nodes_far_ahead_of_the_gpu() {
    lives_and_is_recorded(100, 1, "standard");
    lives_and_is_recorded(100, 4, "lite");
}

#[test]
fn graphs_of_2500_nodes_far_ahead_of_the_gpu() {
    lives_and_is_recorded(2500, 1, "standard");
    lives_and_is_recorded(2500, 2, "full");
}
