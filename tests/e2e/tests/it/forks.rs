//! Tests of children of a process that uses a GPU, or has ranges, which go on without becoming another program.

use std::path::PathBuf;

use e2e::Process;
use e2e::family::{assert_each_recorded, counts};

/// Processes that run these steps of `forks.c`, on every runtime, with the tracer preloaded.
fn processes(steps: &[&str]) -> Vec<Process> {
    let processes = Process::on_every_stack("forks").into_iter();
    processes.map(|process| process.arguments(steps).preloaded()).collect()
}

/// Checks that each process of these steps has recorded its numbers of kernels and ranges, the fewest first.
#[track_caller]
fn assert_recorded(steps: &[&str], expected: &[(usize, i64)]) {
    for process in processes(steps) {
        let outcome = process.well();
        let traces = assert_each_recorded(&outcome);
        assert_eq!(counts(&traces), expected, "{outcome:?}");
    }
}

#[test]
fn a_child_that_does_nothing_takes_nothing_from_a_parent_that_works_before_meanwhile_and_after() {
    let steps = ["begin", "work", "submit", "fork=exit", "submit", "fork=_exit", "drain", "work", "end"];
    assert_recorded(&steps, &[(80, 0)]);
}

#[test]
fn a_child_with_ranges_has_a_file_of_its_own_however_it_ends() {
    assert_recorded(&["begin", "work", "fork=range,exit", "work", "end"], &[(0, 2), (40, 0)]);
    assert_recorded(&["begin", "work", "fork=range,_exit", "work", "end"], &[(0, 2), (40, 0)]);
    assert_recorded(&["range", "fork=range,fork=range,_exit"], &[(0, 2), (0, 2), (0, 2)]);
}

#[test]
fn a_child_of_a_process_that_has_not_used_a_gpu_may_use_one() {
    let steps = ["range", "fork=range,begin,work,end,exit", "fork=begin,work,_exit", "range"];
    assert_recorded(&steps, &[(0, 4), (20, 0), (20, 2)]);
}

#[test]
fn a_process_and_its_child_may_use_a_gpu_one_after_the_other() {
    // On the simulated driver the runtimes of ROCm 6.4 and 7 start only once.
    let again = ["begin", "work", "end", "fork=begin,work,end,exit"];
    for process in processes(&again).into_iter().filter(|process| process.stack().name == "bookworm") {
        assert_eq!(counts(&assert_each_recorded(&process.well())), [(20, 0), (20, 0)]);
    }
}

#[test]
fn a_child_hears_from_an_inherited_runtime_what_it_hears_without_the_tracer() {
    assert_recorded(&["begin", "work", "fork=calls,exit", "fork=calls,_exit", "work", "end"], &[(40, 0)]);
}

#[test]
fn a_child_of_which_no_library_is_told_leaves_its_parents_recording_alone() {
    let steps = ["begin", "range", "work", "clone=exit", "work", "clone=_exit", "work", "end"];
    assert_recorded(&steps, &[(60, 2)]);
}

#[test]
fn children_without_work_leave_nothing_and_say_nothing() {
    for process in processes(&["fork=exit", "fork=_exit", "fork=begin,end,exit", "fork=begin,_exit"]) {
        let outcome = process.well();
        assert_eq!(outcome.traces, Vec::<PathBuf>::new(), "{outcome:?}");
    }
}

#[test]
fn threads_lose_nothing_and_no_child_hangs_when_forks_come_at_any_moment() {
    for process in processes(&["begin", "threads", "storm=60", "join", "end"]) {
        let outcome = process.well();
        let counts = counts(&assert_each_recorded(&outcome));
        let (last, children) = counts.split_last().unwrap();
        assert_eq!(children, [(0, 2); 24], "two of five children have ranges");
        assert_eq!(last.0 as i64, 8 * last.1, "each range of a thread has eight kernels: {outcome:?}");
    }
}

#[test]
fn a_child_that_outlives_its_parent_has_all_of_its_own_work() {
    assert_recorded(&["late=begin,range,work,end,exit", "begin", "work"], &[(20, 0), (20, 2)]);
    assert_recorded(&["range", "late=range,range"], &[(0, 2), (0, 4)]);
}
