//! Tests of a long life in which queues, executables and signals come and go, and memory does not grow.
//!
//! SOAK_SECONDS is its length; `./test --long` takes ten minutes.

use e2e::{Process, Trace};

/// Differences in the allocator's memory at different times.
const SLACK_KIB: u64 = 4 * 1024;

#[test]
fn memory_is_flat_while_queues_code_and_signals_come_and_go() {
    let seconds = std::env::var("SOAK_SECONDS").unwrap_or_else(|_| "3".to_owned());
    let Some(process) = Process::new("churn") else { return };
    let process = process.arguments(&[&seconds]).setting("KFD_SIM_KERNEL_NS", "1000").without_time_limit();
    let outcome = process.traced();
    assert!(outcome.status.success() && outcome.stderr.is_empty(), "{outcome:?}");
    let numbers: Vec<u64> = outcome.report.split_whitespace().map(|number| number.parse().unwrap()).collect();
    let [early, late, dispatches] = numbers[..] else { panic!("{:?}", outcome.report) };
    assert!(late <= early + SLACK_KIB, "{early} KiB at a third of the time, {late} KiB at the end");
    let trace = Trace::without_rows(&outcome.traces[0]);
    assert_eq!((trace.count("seen"), trace.count("recorded")), (dispatches as i64, dispatches as i64));
}
