//! Processes that end in the middle of their work, in every way.

use e2e::compare::{assert_executed, assert_true};
use e2e::{Outcome, Process, Trace};

const DISPATCHES: usize = 20;

/// A process with as many dispatches done, as many in its queue, and a way to end.
fn processes(how: &str) -> Vec<Process> {
    let processes = Process::on_every_stack("ends").into_iter();
    let processes = processes.map(|process| process.arguments(&[&DISPATCHES.to_string(), how]));
    processes.map(|process| process.setting("KFD_SIM_KERNEL_NS", "5000000")).collect()
}

#[track_caller]
fn assert_has_what_was_waited_for(outcome: &Outcome) {
    let trace = outcome.trace();
    let waited_for = trace.rows.iter().filter(|row| row.grid <= DISPATCHES as i64).count();
    assert_eq!(waited_for, DISPATCHES, "{outcome:?} {:?}", trace.metadata);
}

#[test]
fn a_process_that_returns_or_exits_has_all_that_was_done_and_counts_the_rest() {
    for how in ["return", "exit", "thread"] {
        for process in processes(how) {
            let outcome = process.unchanged();
            let trace = outcome.trace();
            assert_true(&outcome, &trace);
            assert_has_what_was_waited_for(&outcome);
            assert_eq!(trace.metadata["complete"], "1", "{:?}", trace.metadata);
        }
    }
}

#[test]
fn a_process_that_is_gone_in_an_instant_keeps_its_exit_code_and_leaves_a_healthy_file_or_none() {
    for how in ["quick", "now", "abort", "kill"] {
        for process in processes(how) {
            let outcome = process.unchanged();
            assert!(outcome.traces.len() <= 1, "{outcome:?}");
            if let Some(trace) = outcome.traces.first().and_then(|file| Trace::read_begun(file)) {
                assert_executed(&outcome, &trace);
            }
        }
    }
}

#[test]
fn what_was_done_a_moment_before_a_process_is_killed_is_in_its_file() {
    for how in ["now", "abort", "kill"] {
        for process in processes(how) {
            let outcome = process.traced_until(DISPATCHES as i64);
            assert!(!outcome.status.success(), "{outcome:?}");
            assert_executed(&outcome, &outcome.trace());
            assert_has_what_was_waited_for(&outcome);
        }
    }
}

#[test]
fn a_child_that_never_asks_for_a_gpu_does_nothing_to_the_parents_file() {
    for process in processes("fork") {
        let outcome = process.unchanged();
        assert_true(&outcome, &outcome.trace());
        assert_has_what_was_waited_for(&outcome);
    }
}

#[test]
fn a_line_that_nobody_reads_does_not_change_how_a_process_ends() {
    for process in Process::on_every_stack("ends") {
        let process = process.setting("KFD_SIM_KERNEL_NS", "beta=never,20000").arguments(&["10", "hang"]);
        let process = process.setting("HSA_TOOLS_LIB", e2e::library::tracer());
        let (unread, standard_error) = std::io::pipe().unwrap();
        drop(unread);
        let status = process.command(process.folder()).stderr(standard_error).status().unwrap();
        assert_eq!(status.code(), Some(7), "{:?}", process.stack().name);
    }
}
