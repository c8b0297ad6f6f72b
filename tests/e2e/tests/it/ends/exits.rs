//! Tests of every way in which a program ends or is ended by the system: exit code and output are those without the tracer, and
//! completed work is in the file.

use e2e::compare::{assert_executed, assert_true};
use e2e::{Process, Trace};
use support::stacks;

use super::{DISPATCHES, assert_cut_off, assert_has_what_was_waited_for, processes};

/// Ways after which no function of the tracer is called.
const AT_ONCE: [&str; 9] =
    ["now", "abort", "throw", "callback", "kill", "term", "int", "fault", "fault-reported"];

/// Ways in which exit handlers run, most of them through the program's own handler of a signal.
const BY_EXIT: [&str; 7] =
    ["return", "exit", "thread", "quick", "term-handled", "int-handled", "fault-survived"];

#[test]
fn a_process_that_returns_or_exits_has_all_that_was_done_and_counts_the_rest() {
    for how in BY_EXIT {
        for process in processes(how) {
            let outcome = process.unchanged();
            let trace = outcome.trace();
            assert_true(&outcome, &trace);
            assert_has_what_was_waited_for(&outcome);
            assert_eq!(trace.metadata["complete"], "1", "{how}: {:?}", trace.metadata);
        }
    }
}

#[test]
fn a_process_that_is_gone_in_an_instant_keeps_its_exit_code_and_leaves_a_healthy_file_or_none() {
    for how in AT_ONCE {
        for process in processes(how) {
            let outcome = process.unchanged_in_one_run();
            assert!(!outcome.status.success(), "{how}: {outcome:?}");
            assert!(outcome.traces.len() <= 1, "{how}: {outcome:?}");
            if let Some(trace) = outcome.traces.first().and_then(|file| Trace::read_begun(file)) {
                assert_executed(&outcome, &trace);
                assert_cut_off(&outcome);
            }
        }
    }
}

#[test]
fn what_was_done_a_moment_before_a_process_dies_is_in_its_file() {
    for how in ["now", "abort", "throw", "kill", "term", "fault"] {
        for process in processes(how) {
            let outcome = process.traced_until(DISPATCHES as i64);
            assert!(!outcome.status.success(), "{how}: {outcome:?}");
            assert_executed(&outcome, &outcome.trace());
            assert_has_what_was_waited_for(&outcome);
            assert_cut_off(&outcome);
        }
    }
}

#[test]
fn a_hip_program_ends_as_it_does_without_the_tracer() {
    for how in ["exit", "throw"] {
        for stack in stacks() {
            // Signals of running kernels may remain: fewer than the number that the runtime reports.
            let Some(process) = Process::for_hip(&stack, "hip_ends", &["8", how]) else { return };
            let outcome = process.setting("KFD_SIM_KERNEL_NS", "2000000").unchanged();
            let trace = outcome.traces.first().and_then(|file| Trace::read_begun(file));
            let is_complete = trace.is_some_and(|trace| trace.is_complete());
            assert_eq!(is_complete, how != "throw", "{how}: {outcome:?}");
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
fn a_kernel_that_never_ends_is_counted_and_does_not_hold_up_the_exit() {
    for process in Process::on_every_stack("ends") {
        let process = process.setting("KFD_SIM_KERNEL_NS", "beta=never,20000").arguments(&["10", "hang"]);
        let outcome = process.unchanged();
        let trace = outcome.trace();
        assert_true(&outcome, &trace);
        // Ten are done; the one that hangs holds up ten more.
        assert_eq!((trace.rows.len(), trace.count("lost:unfinished")), (10, 11), "{outcome:?}");
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
