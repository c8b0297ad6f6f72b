//! Tests of signals that are used for something else, or are gone, the moment the program has waited for them.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn a_signal_that_is_used_again_at_once_costs_no_dispatch() {
    for what in ["destroy", "again", "copy", "time"] {
        for process in Process::on_every_stack("signal_reuse") {
            assert_complete(&process.arguments(&["200", what]).setting("KFD_SIM_KERNEL_NS", "1000").well());
        }
    }
}
