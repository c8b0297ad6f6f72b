//! Tests of copies that a program submits to the runtime, and of those of HIP.

use std::collections::BTreeMap;

use e2e::compare::assert_complete;
use e2e::copies::{assert_copies, copies};
use e2e::{Outcome, Process};

/// Runs the program on every runtime without and with the tracer.
#[track_caller]
fn outcomes(way: &str, gpus: usize) -> Vec<Outcome> {
    let processes = Process::on_every_stack("copies").into_iter();
    processes.map(|process| process.arguments(&[way]).gpus(gpus).well()).collect()
}

/// Checks that all copies of the program are in the trace, and nothing is left out.
#[track_caller]
fn every_copy_is_recorded(way: &str, gpus: usize) {
    for outcome in outcomes(way, gpus) {
        let trace = outcome.trace();
        assert_eq!(trace.left_out(), BTreeMap::new());
        assert_copies(&outcome, &trace, 0);
    }
}

#[test]
fn every_way_between_host_and_gpus() {
    for gpus in [1, 2, 8] {
        every_copy_is_recorded("ways", gpus);
    }
}

#[test]
fn one_signal_for_one_copy_after_another() {
    every_copy_is_recorded("reuse", 1);
}

#[test]
fn a_signal_that_is_destroyed_at_once() {
    every_copy_is_recorded("destroy", 1);
}

#[test]
fn a_signal_that_counts_several_copies() {
    every_copy_is_recorded("count", 1);
}

#[test]
fn copies_that_wait_for_the_host_and_for_kernels() {
    for outcome in outcomes("dependencies", 1) {
        assert_copies(&outcome, &assert_complete(&outcome), 0);
    }
}

#[test]
fn copies_of_several_threads() {
    every_copy_is_recorded("threads", 2);
}

#[test]
fn a_refused_copy_leaves_no_row_and_no_mark_on_its_signal() {
    every_copy_is_recorded("refused", 1);
}

#[test]
fn a_program_that_did_not_ask_for_times_sees_none() {
    every_copy_is_recorded("untimed", 1);
}

#[test]
fn a_signal_that_goes_from_kernels_to_copies_and_back() {
    for outcome in outcomes("kernels", 1) {
        assert_copies(&outcome, &assert_complete(&outcome), 0);
    }
}

#[test]
fn copies_within_the_host_are_recorded_where_the_runtime_times_them() {
    for process in Process::on_every_stack("copies") {
        let process = process.arguments(&["host"]);
        let outcome = process.unchanged();
        let trace = outcome.trace();
        if process.stack().rocr == "5.2.3" {
            assert_eq!(trace.left_out(), BTreeMap::from([("copies_lost:times", 1)]));
            assert_eq!(outcome.messages, ["rtl: 1 of 1 copies are not in the trace: 1 without valid times"]);
        } else {
            assert_eq!((trace.left_out(), outcome.messages.len()), (BTreeMap::new(), 0));
            assert_copies(&outcome, &trace, 0);
            assert_eq!(copies(&trace)[0].kind, "CopyHostToHost");
        }
    }
}

#[test]
fn a_copy_that_never_begins_is_counted_and_delays_nobody() {
    for process in Process::on_every_stack("copies") {
        let outcome = process.arguments(&["unfinished"]).unchanged();
        assert!(outcome.status.success(), "{outcome:?}");
        let trace = outcome.trace();
        assert!(trace.is_complete());
        assert_eq!(trace.left_out(), BTreeMap::from([("copies_lost:unfinished", 1)]));
        assert_eq!(
            (trace.count("copies_seen"), trace.count("copies_recorded"), copies(&trace).len()),
            (2, 1, 1)
        );
        assert_eq!(outcome.messages, ["rtl: 1 of 2 copies are not in the trace: 1 still running at the end"]);
    }
}

#[test]
fn a_childs_end_changes_nothing_for_its_parents_copies() {
    every_copy_is_recorded("forked", 1);
}

#[test]
fn what_was_copied_a_moment_before_a_process_is_killed_is_in_its_file() {
    for process in Process::on_every_stack("copies") {
        let outcome = process.arguments(&["killed"]).traced_until(10);
        assert!(!outcome.status.success(), "{outcome:?}");
        let trace = outcome.trace();
        assert!(!trace.is_complete());
        assert_copies(&outcome, &trace, 1);
    }
}

#[test]
fn copies_while_recording_is_paused_are_left_out_and_counted() {
    for process in Process::on_every_stack("copies") {
        let outcome = process.arguments(&["kernels"]).setting("RTL_START", "stopped").well();
        let trace = outcome.trace();
        assert_eq!((copies(&trace), trace.rows.len()), (vec![], 0));
        let left_out = BTreeMap::from([("copies_skipped:paused", 30), ("skipped:paused", 30)]);
        assert_eq!(trace.left_out(), left_out);
    }
}

#[test]
fn without_copies_everything_else_is_recorded() {
    for process in Process::on_every_stack("copies") {
        let outcome = process.arguments(&["kernels"]).setting("RTL_COPY", "0").well();
        let trace = assert_complete(&outcome);
        assert_eq!((copies(&trace), trace.metadata.get("copies_seen")), (vec![], None));
    }
}

#[test]
fn a_program_that_only_copies_without_a_record_of_it_leaves_no_file() {
    for process in Process::on_every_stack("copies") {
        let outcome = process.arguments(&["ways"]).setting("RTL_COPY", "0").well();
        assert_eq!(outcome.traces, Vec::<std::path::PathBuf>::new());
    }
}
