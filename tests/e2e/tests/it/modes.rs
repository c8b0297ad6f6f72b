//! Tests of each cell of the table in docs/guide/modes.md: what is recorded in a mode, and what is counted as left out by it.

use std::collections::BTreeMap;

use e2e::Process;
use e2e::compare::{assert_complete, assert_true};

#[test]
fn kernels_without_a_completion_signal_are_recorded_in_every_mode() {
    for mode in ["lite", "standard", "hip", "full"] {
        for process in Process::on_every_stack("no_signal") {
            let trace = assert_complete(&process.arguments(&["10"]).mode(mode).unchanged());
            assert_eq!(trace.metadata["mode"], mode);
        }
    }
}

#[test]
fn kernels_with_a_completion_signal_are_recorded_in_every_mode_but_lite() {
    for (program, arguments) in [("own_signal", ["9"]), ("shared_signal", ["9"])] {
        for process in Process::on_every_stack(program) {
            let mut process = process.arguments(&arguments);
            for mode in ["standard", "hip", "full"] {
                process.set_mode(mode);
                assert_complete(&process.unchanged());
            }
            process.set_mode("lite");
            let outcome = process.well();
            let dispatches = outcome.reported.len() as i64;
            // The file has the counts of missing dispatches, and no row.
            let trace = outcome.trace();
            assert_true(&outcome, &trace);
            assert_eq!(trace.left_out(), BTreeMap::from([("skipped:completion_signal", dispatches)]));
        }
    }
}

#[test]
fn a_mode_that_does_not_exist_is_one_line_and_standard() {
    for process in Process::on_every_stack("no_signal") {
        let outcome = process.arguments(&["3"]).mode("fastest").unchanged();
        assert_eq!(outcome.messages.len(), 1, "{outcome:?}");
        assert!(outcome.messages[0].starts_with("rtl: RTL_MODE=fastest: "), "{outcome:?}");
        assert_eq!(assert_complete(&outcome).metadata["mode"], "standard");
    }
}

#[test]
fn a_misspelt_setting_is_one_line() {
    let Some(process) = Process::new("no_signal") else { return };
    let outcome = process.arguments(&["3"]).setting("RTL_OUPUT", "elsewhere.db").unchanged();
    assert_eq!(outcome.messages, ["rtl: RTL_OUPUT: unknown setting; hint: RTL_OUTPUT"], "{outcome:?}");
    assert_complete(&outcome);
}

#[test]
fn hip_says_in_one_line_that_calls_are_not_recorded_yet() {
    for process in Process::on_every_stack("no_signal") {
        let outcome = process.arguments(&["3"]).mode("hip").unchanged();
        assert_eq!(outcome.messages.len(), 1, "{outcome:?}");
    }
}

#[test]
fn debugging_tells_a_story_and_changes_nothing_else() {
    for process in Process::on_every_stack("own_signal") {
        let outcome = process.arguments(&["3"]).setting("RTL_DEBUG", "1").unchanged();
        assert!(outcome.messages.len() > 1, "{outcome:?}");
        assert_complete(&outcome);
    }
}
