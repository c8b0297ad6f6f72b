//! HIP programs on every runtime: streams, events, graphs, threads and copies are recorded as they were executed.

use e2e::launched::{assert_all_recorded, assert_recorded, traced};
use support::{code_object, program, stacks};

/// Runs a HIP program on every runtime with so many GPUs in turn, in this mode.
#[track_caller]
fn recorded(name: &str, arguments: &[&str], machines: &[u32], mode: &str) {
    for stack in stacks() {
        let (Some(program), Some(kernels)) = (program(name), code_object("kernels", "gfx90a")) else {
            return;
        };
        for gpus in machines {
            let folder = tempfile::tempdir().unwrap();
            let mut command = stack.command(&program);
            command.arg(&kernels).args(arguments);
            command.env("KFD_SIM_GPUS", gpus.to_string()).env("RTL_MODE", mode);
            let (_, launched, trace) = traced(command, folder.path());
            assert!(!launched.is_empty(), "{stack:?} {name}");
            if mode == "lite" {
                // Kernels that signal their end to the program are left out, and counted.
                assert_recorded(&launched, &trace);
            } else {
                assert_all_recorded(&launched, &trace);
            }
        }
    }
}

#[test]
fn streams_are_recorded_on_one_gpu_and_on_eight() {
    recorded("hip_streams", &["3", "40"], &[1, 8], "standard");
}

#[test]
fn graphs_are_recorded_at_every_launch() {
    recorded("hip_graph", &["10", "10", "2"], &[1, 2], "standard");
}

#[test]
fn kernels_between_events_are_recorded() {
    recorded("hip_events", &["30"], &[2], "full");
}

#[test]
fn threads_are_recorded_side_by_side() {
    recorded("hip_threads", &["8", "150"], &[4], "standard");
}

#[test]
fn copies_and_fills_by_kernel_are_recorded() {
    recorded("hip_copies", &["100004"], &[2], "standard");
}

#[test]
fn lite_counts_what_it_leaves_out_of_a_graph() {
    recorded("hip_graph", &["10", "10", "2"], &[2], "lite");
}
