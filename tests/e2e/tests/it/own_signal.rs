//! Tests of the application's own completion signal: value, timing and times are those without a tracer.

use e2e::Process;
use e2e::compare::assert_complete;

#[test]
fn every_dispatch_is_recorded_and_its_signal_tells_the_program_the_same_times() {
    for gpus in [1, 2, 4, 8] {
        for process in Process::on_every_stack("own_signal") {
            assert_complete(&process.arguments(&["30"]).gpus(gpus).well());
        }
    }
}
