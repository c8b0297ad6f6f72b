//! Threads that share queues.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn threads_on_one_queue_lose_nothing() {
    for process in Process::on_every_stack("threads") {
        assert_complete(&process.arguments(&["4", "320", "1"]).setting("KFD_SIM_KERNEL_NS", "2000").well());
    }
}

#[test]
fn threads_on_several_queues_lose_nothing() {
    for process in Process::on_every_stack("threads") {
        assert_complete(&process.arguments(&["4", "320", "8"]).setting("KFD_SIM_KERNEL_NS", "2000").well());
    }
}

#[test]
fn threads_that_create_the_first_queues_at_once_lose_nothing() {
    for process in Process::on_every_stack("first_queues") {
        let process = process.arguments(&["8"]);
        for _ in 0..5 {
            assert_complete(&process.well());
        }
    }
}
