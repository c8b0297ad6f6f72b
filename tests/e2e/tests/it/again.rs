//! A runtime that is shut down and started again in one process.

use e2e::compare::assert_executed;
use e2e::{Process, Trace};

#[test]
fn every_life_of_the_runtime_is_recorded_or_counted() {
    for process in Process::on_every_stack("again") {
        let process = process.arguments(&["3", "10"]);
        // The simulated driver lets the runtimes of ROCm 6.4 and 7 start only once.
        if !process.bare().status.success() {
            eprintln!("skipped: ROCm {} does not start again", process.stack().rocr);
            continue;
        }
        let outcome = process.unchanged();
        assert!(outcome.status.success(), "{outcome:?}");
        let traces: Vec<Trace> = outcome.traces.iter().map(|file| Trace::read(file)).collect();
        traces.iter().for_each(|trace| assert_executed(&outcome, trace));
        let seen: i64 = traces.iter().map(|trace| trace.count("seen")).sum();
        assert_eq!(seen, 30, "{outcome:?}");
    }
}
