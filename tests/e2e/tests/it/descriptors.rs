//! Tests of programs that close and replace open files at will.

use e2e::Process;
use e2e::family::{assert_each_recorded, assert_whole, counts};

#[test]
fn a_program_that_closes_everything_and_opens_a_file_has_that_file_to_itself() {
    let Some(process) = Process::new("closes") else { return };
    let file = process.folder().join("file");
    let outcome = process.arguments(&[file.to_str().unwrap()]).preloaded().well();
    assert_eq!(outcome.stdout, "3\t13\tits own text\n");
    let trace = outcome.trace();
    assert_eq!(trace.count("ranges_recorded"), 4000);
    assert_whole(&trace);
}

#[test]
fn a_program_that_starts_with_nothing_open_does_not_print_into_its_trace() {
    for process in Process::on_every_stack("forks").into_iter().filter(is_started_by_itself) {
        let closed = ["sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh"];
        let process = process.arguments(&["begin", "range", "fork=exit", "work", "fork=exit", "end"]);
        let outcome = process.started_by(&closed).preloaded().well();
        assert_eq!(counts(&assert_each_recorded(&outcome)), [(20, 2)]);
    }
}

/// True if no starter precedes the program, which another loader would take for the program itself.
fn is_started_by_itself(process: &Process) -> bool {
    process.stack().name == "bookworm"
}
