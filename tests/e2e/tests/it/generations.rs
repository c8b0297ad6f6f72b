//! Tests of a runtime that nobody knows yet.

use std::path::PathBuf;

use e2e::Process;

#[test]
fn a_table_of_an_unknown_generation_is_refused_in_one_line_and_the_program_runs() {
    for process in Process::on_every_stack("own_signal") {
        let outcome = process.arguments(&["5"]).tool_before("other_generation").unchanged();
        assert!(outcome.status.success(), "{outcome:?}");
        assert_eq!(outcome.traces, Vec::<PathBuf>::new());
        assert_eq!(outcome.messages.len(), 1, "{outcome:?}");
        assert!(outcome.messages[0].contains("12345"), "it says which: {outcome:?}");
    }
}
