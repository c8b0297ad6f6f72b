//! Tests of a runtime that is shut down and started again in one process, as by programs that count the GPUs first.

use e2e::compare::{assert_adds_up, assert_executed};
use e2e::{Process, Trace};
use support::{Need, skip};

/// A process with these numbers of dispatches in the lives of its runtime, on every runtime that starts again.
fn processes(lives: &[&str]) -> Vec<Process> {
    let processes = Process::on_every_stack("again").into_iter().map(|process| process.arguments(lives));
    // On the simulated driver the runtimes of ROCm 6.4 and 7 start only once.
    let starts_again = |process: &Process| {
        let starts = process.bare().status.success();
        if !starts {
            skip(Need::Machine, format_args!("ROCm {} does not start again", process.stack().rocr));
        }
        starts
    };
    processes.filter(starts_again).collect()
}

/// Checks that the process runs as it does without the tracer and leaves a file for each of these lives.
#[track_caller]
fn assert_recorded(process: &Process, lives: &[usize]) {
    let outcome = process.well();
    let mut traces: Vec<Trace> = outcome.traces.iter().map(|path| Trace::read(path)).collect();
    traces.sort_by_key(|trace| trace.rows[0].start);
    let recorded: Vec<usize> = traces.iter().map(|trace| trace.rows.len()).collect();
    assert_eq!(recorded, lives, "{outcome:?}");
    for trace in &traces {
        assert_executed(&outcome, trace);
        assert_adds_up(trace, trace.rows.len() as i64);
        assert_eq!(trace.metadata["complete"], "1");
    }
}

#[test]
fn each_life_of_the_runtime_is_a_recording_of_its_own() {
    for process in processes(&["3", "5", "4"]) {
        assert_recorded(&process, &[3, 5, 4]);
    }
}

#[test]
fn a_life_without_work_leaves_no_file_and_does_not_keep_the_next_from_being_recorded() {
    for process in processes(&["0", "3", "0", "5", "0"]) {
        assert_recorded(&process, &[3, 5]);
    }
}

#[test]
fn what_is_to_be_said_of_the_settings_is_said_once() {
    for process in processes(&["1", "1"]) {
        let outcome = process.mode("hip").unchanged();
        assert_eq!((outcome.messages.len(), outcome.traces.len()), (1, 2), "{outcome:?}");
    }
}

#[test]
fn a_child_that_starts_a_runtime_of_its_own_is_recorded_with_its_own_number() {
    for process in processes(&["3", "fork", "5"]) {
        let outcome = process.well();
        let mut traces: Vec<Trace> = outcome.traces.iter().map(|path| Trace::read(path)).collect();
        traces.sort_by_key(|trace| trace.rows.len());
        let recorded: Vec<usize> = traces.iter().map(|trace| trace.rows.len()).collect();
        assert_eq!(recorded, [3, 5], "{outcome:?}");
        assert_ne!(traces[0].metadata["pid"], traces[1].metadata["pid"]);
    }
}

#[test]
fn libraries_that_start_and_shut_down_the_runtime_of_others_cost_them_nothing() {
    for process in Process::on_every_stack("shared_runtime") {
        assert_recorded(&process.arguments(&["1000"]), &[1000]);
    }
}
