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
    // With a tool that intercepts queues, processes on ROCr 6.1.2 were seen to die when eight threads created queues at
    // once: twice in 800 runs.
    let sound = |process: &Process| process.stack().name != "trixie";
    for process in Process::on_every_stack("first_queues").into_iter().filter(sound) {
        let process = process.arguments(&["8"]);
        for _ in 0..5 {
            assert_complete(&process.well());
        }
    }
}
