//! Tests of processes that become other programs.

use e2e::Process;
use e2e::family::{assert_each_recorded, counts};

#[track_caller]
fn assert_recorded(steps: &[&str], expected: &[(usize, i64)]) {
    for process in Process::on_every_stack("forks") {
        let outcome = process.arguments(steps).preloaded().well();
        let traces = assert_each_recorded(&outcome);
        assert_eq!(counts(&traces), expected, "{outcome:?}");
    }
}

#[test]
fn a_child_that_becomes_another_program_has_a_file_of_its_own() {
    for how in ["fork=self", "vfork", "spawn"] {
        assert_recorded(&["begin", "submit", how, "drain", "work", "end"], &[(20, 2), (40, 0)]);
    }
}

#[test]
fn a_child_that_becomes_a_program_without_a_gpu_leaves_nothing() {
    assert_recorded(&["begin", "submit", "fork=true", "drain", "work", "end"], &[(40, 0)]);
}

#[test]
fn what_a_process_did_before_it_becomes_another_program_is_in_its_file() {
    assert_recorded(&["range", "begin", "work", "true"], &[(20, 2)]);
    assert_recorded(&["begin", "work", "self"], &[(20, 0), (20, 2)]);
    assert_recorded(&["range", "self"], &[(0, 2), (20, 2)]);
}

#[test]
fn a_program_that_cannot_be_executed_ends_nothing() {
    assert_recorded(&["begin", "range", "work", "nowhere", "range", "work", "end"], &[(40, 4)]);
}
