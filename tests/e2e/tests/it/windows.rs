//! Recordings that begin stopped, pause and go on.

use e2e::annotations::{account, assert_annotated, tables};
use e2e::compare::assert_true;
use e2e::{Outcome, Process, library};

/// The windows of the program are what its trace has, and the rest is counted.
#[track_caller]
fn assert_windows(outcome: &Outcome, dispatches: i64) {
    let trace = outcome.trace();
    let missing: i64 = outcome.stdout.trim().parse().unwrap();
    let account = account(&outcome.report);
    assert_eq!(account.dispatches.len() as i64 + missing, dispatches);
    assert_annotated(&account, &tables(&trace.path));
    assert_eq!(trace.left_out().into_iter().collect::<Vec<_>>(), [("skipped:paused", missing)]);
    let counts = (trace.count("seen"), trace.count("recorded"));
    assert_eq!(counts, (dispatches, dispatches - missing));
}

fn processes(scope: &str) -> Vec<Process> {
    let library = library::roctx("librocprofiler-sdk-roctx.so.1");
    let arguments = [library.to_str().unwrap(), "10", scope];
    let processes = Process::on_every_stack("windows").into_iter();
    processes.map(|process| process.arguments(&arguments).preloaded()).collect()
}

#[test]
fn a_program_pauses_and_resumes_its_recording() {
    for process in processes("process") {
        assert_windows(&process.well(), 60);
    }
}

#[test]
fn a_program_pauses_and_resumes_one_thread() {
    for process in processes("thread") {
        assert_windows(&process.well(), 60);
    }
}

#[test]
fn a_recording_that_begins_stopped_begins_when_the_program_says() {
    for process in processes("process") {
        assert_windows(&process.setting("RTL_START", "stopped").well(), 60);
    }
}

#[test]
fn a_recording_that_is_never_begun_says_what_it_left_out() {
    for process in Process::on_every_stack("no_signal") {
        let outcome = process.arguments(&["30"]).setting("RTL_START", "stopped").well();
        let trace = outcome.trace();
        assert_eq!((trace.rows.len(), trace.count("skipped:paused")), (0, 30));
        assert_true(&outcome, &trace);
    }
}
