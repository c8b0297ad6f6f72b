//! Tests of queues that wait for each other by signals that the tracer replaces.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn barriers_wait_for_kernels_of_other_queues() {
    for process in Process::on_every_stack("dependencies") {
        assert_complete(&process.arguments(&["20"]).well());
    }
}

#[test]
fn a_kernel_that_waits_for_a_later_one_does_not_stall() {
    // The values are for a signal of a kernel's own, and for one that several later kernels count down.
    for value in ["1", "2", "40"] {
        for process in Process::on_every_stack("waits_for_later") {
            assert_complete(&process.arguments(&["10", value]).well());
        }
    }
}
