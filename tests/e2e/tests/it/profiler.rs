//! Tests of timestamps that the application switches on and off.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn an_application_that_wants_no_times_is_recorded_all_the_same() {
    for process in Process::on_every_stack("profiler_off") {
        assert_complete(&process.arguments(&["20"]).well());
    }
}
