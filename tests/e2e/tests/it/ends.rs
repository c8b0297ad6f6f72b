//! Tests of processes that end in the middle of their work, in every way (`tests/programs/ways.h`).

mod delay;
mod disk;
mod exits;
mod kills;
mod panics;
mod taken_away;

use e2e::{Outcome, Process};

const DISPATCHES: usize = 20;

/// Running time of each kernel of [`processes`], in ns.
const KERNEL: &str = "5000000";

/// Processes with as many completed dispatches as queued ones, and a way to end.
fn processes(how: &str) -> Vec<Process> {
    Process::on_every_stack("ends").into_iter().map(|process| ending(process, how)).collect()
}

/// The process on Debian 12's runtime alone, for tests of the file in which the runtime does not matter.
fn process(how: &str) -> Option<Process> {
    Process::new("ends").map(|process| ending(process, how))
}

fn ending(process: Process, how: &str) -> Process {
    let process = process.arguments(&[&DISPATCHES.to_string(), how]);
    process.setting("KFD_SIM_KERNEL_NS", KERNEL)
}

/// Runs a process until the recorder has ended within its time limit, which a busy machine may exceed.
#[track_caller]
fn in_time(run: impl Fn() -> Outcome) -> Outcome {
    support::until_whole("the trace was not written in time", run, |outcome| !outcome.is_late())
}

#[track_caller]
fn assert_has_what_was_waited_for(outcome: &Outcome) {
    let trace = outcome.trace();
    let waited_for = trace.rows.iter().filter(|row| row.grid <= DISPATCHES as i64).count();
    assert_eq!(waited_for, DISPATCHES, "{outcome:?} {:?}", trace.metadata);
}

/// Checks that the file is marked as cut off.
#[track_caller]
fn assert_cut_off(outcome: &Outcome) {
    let metadata = outcome.trace().metadata;
    assert_eq!(metadata.get("complete").map(String::as_str), Some("0"), "{outcome:?} {metadata:?}");
}
