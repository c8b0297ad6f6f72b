//! Tests of one signal that many kernels count down: every step is visible, in order, and the last one ends at the right value.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn a_signal_that_many_kernels_count_down_passes_every_value() {
    for process in Process::on_every_stack("shared_signal") {
        assert_complete(&process.arguments(&["512"]).well());
    }
}

#[test]
fn who_sees_a_later_packet_end_sees_the_signal_of_those_before_it_counted_down() {
    for process in Process::on_every_stack("shared_signal") {
        assert_complete(&process.arguments(&["3", "200"]).well());
    }
}
