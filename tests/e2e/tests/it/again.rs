//! A runtime that is shut down and started again in one process.

use e2e::Process;
use e2e::compare::{assert_adds_up, assert_executed};

#[test]
fn the_first_life_of_the_runtime_is_recorded_and_each_further_one_is_one_line() {
    for process in Process::on_every_stack("again") {
        let process = process.arguments(&["3", "10"]);
        // The simulated driver lets the runtimes of ROCm 6.4 and 7 start only once.
        if !process.bare().status.success() {
            eprintln!("skipped: ROCm {} does not start again", process.stack().rocr);
            continue;
        }
        let outcome = process.unchanged();
        assert!(outcome.status.success(), "{outcome:?}");
        let trace = outcome.trace();
        assert_executed(&outcome, &trace);
        assert_adds_up(&trace, 10);
        assert_eq!(trace.rows.len(), 10);
        assert_eq!(outcome.said.len(), 2, "{outcome:?}");
    }
}
