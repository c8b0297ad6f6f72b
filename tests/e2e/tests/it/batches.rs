//! Several packets in one call of the interceptor: from ROCm 7's runtime, and on any from a tool above the tracer.

use e2e::Process;
use e2e::compare::assert_complete;

const MODES: [&str; 4] = ["lite", "standard", "hip", "full"];

#[test]
fn batches_of_a_tool_above_are_recorded_in_every_mode() {
    for mode in MODES {
        for process in Process::on_every_stack("batch") {
            let process = process.tool("coalesce").setting("COALESCE", "4").mode(mode);
            assert_complete(&process.arguments(&["4", "34", "none", "each"]).unchanged());
        }
    }
}

#[test]
fn batches_larger_than_the_stack_and_the_runtimes_staging_buffer_go_down_whole() {
    for size in ["64", "65", "256", "257", "600"] {
        for process in Process::on_every_stack("batch") {
            let process =
                process.tool("coalesce").setting("COALESCE", size).setting("KFD_SIM_KERNEL_NS", "1000");
            let process = process.arguments(&["2", "700", "last", "each"]);
            let outcome = process.well();
            assert_eq!(outcome.reported.len(), 1400);
            assert_complete(&outcome);
        }
    }
}

#[test]
fn packets_under_one_doorbell_are_recorded_with_signals_and_without() {
    for signals in ["none", "own", "last"] {
        for process in Process::on_every_stack("batch") {
            assert_complete(&process.arguments(&["5", "40", signals, "one"]).well());
        }
    }
}
