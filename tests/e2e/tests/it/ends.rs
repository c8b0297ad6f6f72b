//! Processes that end in the middle of their work, in every way (`tests/programs/ways.h`).

mod delay;
mod disk;
mod exits;
mod kills;
mod panics;
mod taken_away;

use e2e::{Outcome, Process};

const DISPATCHES: usize = 20;

/// How long each kernel of [`processes`] takes, in ns.
const KERNEL: &str = "5000000";

/// A process with as many dispatches done, as many in its queue, and a way to end.
fn processes(how: &str) -> Vec<Process> {
    Process::on_every_stack("ends").into_iter().map(|process| ending(process, how)).collect()
}

/// The same on Debian 12's runtime alone, where it is the file that matters and not the runtime.
fn process(how: &str) -> Option<Process> {
    Process::of("ends").map(|process| ending(process, how))
}

fn ending(process: Process, how: &str) -> Process {
    let process = process.arguments(&[&DISPATCHES.to_string(), how]);
    process.setting("KFD_SIM_KERNEL_NS", KERNEL)
}

/// Runs a process until the recorder has ended in the time that it has, which a busy machine may exceed.
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

/// Holds that the file says that it was cut off.
#[track_caller]
fn assert_cut_off(outcome: &Outcome) {
    let metadata = outcome.trace().metadata;
    assert_eq!(metadata.get("complete").map(String::as_str), Some("0"), "{outcome:?} {metadata:?}");
}
