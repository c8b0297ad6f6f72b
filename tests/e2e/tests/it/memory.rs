//! Tests of processes that run out of memory, and would not without the tracer.

use std::fmt::Debug;

use e2e::compare::assert_true;
use e2e::{Outcome, Process};

const DISPATCHES: &str = "1000";

/// KiB that the process may take beyond its present memory, and those that it then needs itself.
const LIMITS: [(u32, u32); 9] = [
    (512, 0),
    (1 << 10, 512),
    (2 << 10, 0),
    (4 << 10, 3 << 10),
    (8 << 10, 6 << 10),
    (16 << 10, 12 << 10),
    (32 << 10, 24 << 10),
    (64 << 10, 48 << 10),
    // One thread may take its address space while others look at the rest, so only half of the kept memory is certain.
    (192 << 10, 48 << 10),
];

fn processes(when: &str, (limit, needed): (u32, u32)) -> Vec<Process> {
    let arguments = [when, &limit.to_string(), &needed.to_string(), DISPATCHES];
    let processes = Process::on_every_stack("short_of_memory").into_iter();
    processes.map(|process| process.arguments(&arguments).preloaded()).collect()
}

#[track_caller]
fn assert_same(bare: &Outcome, traced: &Outcome, of: impl Debug) {
    let seen = |outcome: &Outcome| (outcome.status, outcome.stdout.clone(), outcome.stderr.clone());
    assert_eq!(seen(bare), seen(traced), "{of:?}: {:?}", traced.messages);
}

/// True if the process sometimes dies without the tracer. Its threads reserve address space whenever they first allocate, so that
/// at the edge of a limit one run of hundreds lives.
fn dies_at_times(process: &Process) -> bool {
    (0..20).any(|_| !process.bare().status.success())
}

/// Checks that the process runs as without the tracer, if it always lives then, and that its trace, if there is one, is whole.
#[track_caller]
fn assert_harmless(process: &Process) -> Option<Outcome> {
    let bare = process.bare();
    if !bare.status.success() {
        return None;
    }
    let traced = process.traced();
    if !traced.status.success() && dies_at_times(process) {
        return None;
    }
    assert_same(&bare, &traced, process);
    for _ in &traced.traces {
        let trace = traced.trace();
        assert_true(&traced, &trace);
        assert!(trace.is_complete(), "{:?}", trace.metadata);
    }
    Some(traced)
}

fn assert_harmless_within_limits(when: &str) {
    let living = LIMITS.iter().flat_map(|&limit| processes(when, limit)).filter_map(|process| {
        let messages = assert_harmless(&process)?.messages;
        assert!(messages.iter().all(|line| line.contains("memory")), "{messages:?}");
        Some(())
    });
    let living = living.count();
    assert!(living > 0 || support::stacks().is_empty(), "{living}");
}

#[test]
fn a_process_that_may_have_little_more_memory_while_it_runs_is_not_harmed() {
    assert_harmless_within_limits("running");
}

#[test]
fn a_process_that_may_have_little_more_memory_once_the_runtime_has_started_is_not_harmed() {
    assert_harmless_within_limits("runtime");
}

/// Numbers of allocations of the tracer before it gets no more memory.
const GRANTS: [u32; 22] = [
    0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1_597, 2_584, 4_181, 6_765, 10_946, 17_711,
];

/// Checks that a process runs as without the tracer, however soon the tracer gets no memory, and that its records until then are
/// kept.
#[track_caller]
fn assert_harmless_without_memory(grants: &[u32], process: impl Fn() -> Option<Process>) {
    let mut recorded = Vec::new();
    for grants in grants {
        let Some(process) = process() else { return };
        let process = process.preload("no_memory").setting("MEMORY_GRANTS", grants.to_string());
        let bare = process.bare();
        let traced = process.traced();
        assert!(bare.status.success());
        assert_same(&bare, &traced, grants);
        let (rows, seen) = match traced.traces.len() {
            0 => (0, 0),
            _ => (traced.trace().rows.len(), traced.trace().count("seen")),
        };
        let is_told = traced.messages.iter().any(|line| line.contains("the process had no more memory"));
        assert!(is_told || rows > 0 && rows as i64 == seen, "{traced:?}");
        recorded.push(rows);
    }
    assert!(recorded[0] == 0 && recorded[recorded.len() - 1] > 100, "{recorded:?}");
}

#[test]
fn kernels_and_ranges_go_on_where_the_tracer_gets_no_memory() {
    let arguments = ["running", "0", "0", DISPATCHES];
    let process = || Some(Process::new("short_of_memory")?.arguments(&arguments).preloaded());
    assert_harmless_without_memory(&GRANTS, process);
}

#[test]
fn calls_of_hip_go_on_where_the_tracer_gets_no_memory() {
    let process =
        || Some(Process::for_hip(&support::stack("bookworm")?, "hip_threads", &["4", "100"])?.calls());
    assert_harmless_without_memory(&[0, 8, 34, 89, 144, 233, 610, 1_597, 17_711], process);
}
