//! Tests of a GPU with unexpected behaviour: times that make no sense, signals that come late and out of order, clocks that
//! drift, kernels that overlap and kernels that never end.

use std::collections::BTreeMap;

use e2e::Process;
use e2e::compare::{assert_complete, assert_complete_within, assert_true};

#[test]
fn times_that_make_no_sense_are_counted_and_not_recorded() {
    for times in ["zero", "inverted", "garbage"] {
        for process in Process::on_every_stack("every_kernel") {
            let process = process.setting("KFD_SIM_TIMESTAMPS", format!("alpha={times},true"));
            let outcome = process.arguments(&["beta", "alpha", "beta", "alpha", "alpha"]).unchanged();
            let trace = outcome.trace();
            assert_true(&outcome, &trace);
            assert_eq!(trace.left_out(), BTreeMap::from([("lost:times", 3)]), "{times}");
            assert_eq!(outcome.messages.len(), 1, "one line says that something was lost: {outcome:?}");
        }
    }
}

#[test]
fn signals_that_come_late_and_out_of_order_cost_nothing() {
    for (program, arguments) in
        [("threads", ["3", "96", "4"]), ("shared_signal", ["100", "", ""]), ("own_signal", ["60", "", ""])]
    {
        for process in Process::on_every_stack(program) {
            let process = process.setting("KFD_SIM_DELAY_NS", "0..3000000").setting("KFD_SIM_SEED", "7");
            assert_complete(
                &process.arguments(&arguments).setting("KFD_SIM_KERNEL_NS", "1000..90000").well(),
            );
        }
    }
}

#[test]
fn kernels_that_overlap_in_a_queue_have_their_own_times() {
    for process in Process::on_every_stack("batch") {
        let process = process.setting("KFD_SIM_OVERLAP", "8").setting("KFD_SIM_KERNEL_NS", "50000..400000");
        let trace = assert_complete(&process.arguments(&["4", "30", "own", "one"]).well());
        let overlaps = trace.rows.windows(2).filter(|pair| pair[1].start < pair[0].end).count();
        assert!(overlaps > 0, "the kernels ran one after another");
    }
}

#[test]
fn a_clock_that_drifts_is_translated_as_the_runtime_does() {
    for drift in ["-200", "200"] {
        for process in Process::on_every_stack("own_signal") {
            // The runtime itself learns the drift little by little, so its answers for the same time differ.
            let process = process.arguments(&["30"]).gpus(2).setting("KFD_SIM_DRIFT_PPM", drift);
            assert_complete_within(&process.well(), 1_000);
        }
    }
}

#[test]
fn a_kernel_that_never_ends_is_counted_and_keeps_nobody() {
    for process in Process::on_every_stack("ends") {
        let process = process.setting("KFD_SIM_KERNEL_NS", "beta=never,20000").arguments(&["10", "hang"]);
        let outcome = process.unchanged();
        assert_eq!(outcome.status.code(), Some(7));
        let trace = outcome.trace();
        assert_true(&outcome, &trace);
        assert_eq!(trace.rows.len(), 10, "{:?}", trace.metadata);
        assert_eq!(trace.left_out(), BTreeMap::from([("lost:unfinished", 11)]));
    }
}
