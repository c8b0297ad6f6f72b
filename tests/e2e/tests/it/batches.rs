//! Tests of several packets in one call of the interceptor: from ROCm 7's runtime, and on any from a tool above the tracer.

use std::collections::BTreeMap;

use e2e::Process;
use e2e::compare::{assert_complete, assert_true};

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

/// Packets that the runtimes of ROCm 7 copy into a buffer of fixed size.
const STAGED: usize = 256;

#[test]
fn large_batches_of_a_tool_above_go_down_whole_and_are_recorded_or_counted() {
    for size in [64, 65, 256, 257, 600] {
        for process in Process::on_every_stack("batch") {
            let process = process.tool("coalesce").setting("COALESCE", size.to_string());
            let process =
                process.setting("KFD_SIM_KERNEL_NS", "1000").arguments(&["2", "700", "last", "each"]);
            let outcome = process.unchanged();
            assert_eq!(outcome.reported.len(), 1400);
            if process.stack().rocr < "7" || size <= STAGED {
                assert_complete(&outcome);
                continue;
            }
            // Of twice 700 kernels those in whole batches are left out, and the rest is submitted with the barrier.
            let trace = outcome.trace();
            assert_true(&outcome, &trace);
            let left_out = (2 * (700 - 700 % size)) as i64;
            assert_eq!(trace.left_out(), BTreeMap::from([("skipped:batch", left_out)]));
            assert_eq!(outcome.messages.len(), 1, "{outcome:?}");
        }
    }
}

#[test]
fn more_packets_under_one_doorbell_than_the_runtime_can_stage_are_recorded() {
    // 1024 packets are the whole queue, so batches begin everywhere in it. Without the tracer's care a runtime of ROCm 7 crashes
    // here with any tool.
    for process in Process::on_every_stack("batch") {
        let process = process.setting("KFD_SIM_KERNEL_NS", "1000");
        assert_complete(&process.arguments(&["8", "700", "last", "one"]).well());
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
