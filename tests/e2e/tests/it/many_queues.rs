//! Processes with many queues: every kernel of every queue is recorded, however many there are.

use e2e::Process;
use e2e::compare::assert_complete;

/// Every kernel is recorded of a program with these arguments.
#[track_caller]
fn assert_all_recorded(arguments: &[&str], gpus: usize) {
    for process in Process::on_every_stack("many_queues") {
        let outcome = process.arguments(arguments).gpus(gpus).well_when_traced();
        assert_complete(&outcome);
    }
}

#[test]
fn seventy_queues_lose_nothing() {
    assert_all_recorded(&["70", "100"], 1);
}

#[test]
fn five_hundred_queues_lose_nothing() {
    assert_all_recorded(&["500", "40"], 8);
}

/// With 1,000 a program at times waits for ever on the runtime of Debian 12, also with a tool that only passes packets on.
#[test]
fn seven_hundred_queues_lose_nothing() {
    assert_all_recorded(&["700", "32"], 8);
}

#[test]
fn one_busy_queue_among_five_hundred_idle_ones_loses_nothing() {
    assert_all_recorded(&["501", "20000", "1"], 8);
}

#[test]
fn sixty_four_gpus_lose_nothing() {
    assert_all_recorded(&["256", "64"], 64);
}
