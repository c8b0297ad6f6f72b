//! Tests of processes with many queues: every kernel of every queue is recorded, however many there are.

use e2e::Process;
use e2e::compare::assert_complete;

/// Checks that every kernel of a process is recorded, of whose queues `busy` get kernels.
///
/// In ROCr 5.2.3 the destruction of a queue beside others can wait for ever, also with a tool that only passes packets on: all
/// queues have one event, and another thread takes its signal. There the queues are left to the end of the process.
#[track_caller]
fn assert_all_recorded(queues: u32, kernels: u32, busy: u32, gpus: usize) {
    for process in Process::on_every_stack("many_queues") {
        let keeps = u32::from(process.stack().hip == "5.2.3");
        let arguments = [queues, kernels, busy, keeps].map(|number| number.to_string());
        let process = process.arguments(&arguments.each_ref().map(String::as_str));
        assert_complete(&process.gpus(gpus).well_when_traced());
    }
}

#[test]
fn seventy_queues_lose_nothing() {
    assert_all_recorded(70, 100, 70, 1);
}

#[test]
fn five_hundred_queues_lose_nothing() {
    assert_all_recorded(500, 40, 500, 8);
}

#[test]
fn a_thousand_queues_lose_nothing() {
    assert_all_recorded(1000, 32, 1000, 8);
}

#[test]
fn one_busy_queue_among_five_hundred_idle_ones_loses_nothing() {
    assert_all_recorded(501, 20000, 1, 8);
}

#[test]
fn sixty_four_gpus_lose_nothing() {
    assert_all_recorded(256, 64, 256, 64);
}
