//! Tests of threads that share queues.

use e2e::compare::assert_complete;
use e2e::{Process, library};

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

/// True if a program may create queues in several threads at once without any tool. From ROCm 6.1 on it may die: the runtime adds
/// each to `GpuAgent::aql_queues_`, a vector, without a lock (`GpuAgent::QueueCreate`).
///
/// Observed under load with `first_queues 8` on 6.1.2: 1 of 4,500 runs fails with `pass_through` ("unaligned chunk detected"),
/// none of 3,000 without a tool. With `slow_growth`, on 6.1.2, 6.4.3 and 7.2.4 together: 25 of 30 without a tool and 26 of 30
/// with `pass_through` ("double free or corruption", or never ended), none of 180 with the tracer. With the growth of that vector
/// alone made slow, 6 of 6 without a tool.
fn is_sound(process: &Process) -> bool {
    process.stack().name == "bookworm"
}

#[test]
fn threads_that_create_the_first_queues_at_once_lose_nothing() {
    for process in Process::on_every_stack("first_queues") {
        let process = process.arguments(&["8"]);
        for _ in 0..5 {
            assert_complete(&if is_sound(&process) { process.well() } else { process.well_when_traced() });
        }
    }
}

#[test]
fn threads_that_create_queues_at_once_are_kept_apart_where_the_runtime_does_not() {
    for process in Process::on_every_stack("first_queues").into_iter().filter(|process| !is_sound(process)) {
        let process = process.arguments(&["8"]).setting("LD_PRELOAD", library::tool("slow_growth"));
        assert_complete(&process.well_when_traced());
    }
}
