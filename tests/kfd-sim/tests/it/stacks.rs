//! Tests of every ROCm runtime of this machine on the simulator. For a missing one, a line is printed.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Output};

use support::{Stack, code_object, program, stacks};

/// Generations of GPUs, and the first runtime that knows them.
const TARGETS: [(&str, &str); 5] = [
    ("gfx90a", "5.2.3"),
    ("gfx942", "6.1.2"),
    ("gfx1100", "6.1.2"),
    ("gfx950", "6.4.3"),
    ("gfx1201", "6.4.3"),
];

/// A line that Debian's builds of the runtime print at their end, also on real GPUs, where HIP or ROCr 7.2.4 itself keep a signal
/// of every GPU.
const KEPT: &str = "Warning: Resource leak detected by SharedSignalPool, ";

#[track_caller]
fn answer(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr).into_owned());
    assert!(status.success(), "{command:?} {status}\n{stdout}\n{stderr}");
    let complaints: Vec<&str> = stderr.lines().filter(|line| !line.starts_with(KEPT)).collect();
    assert_eq!(complaints, [""; 0], "{command:?}");
    stdout
}

/// The columns of a program's lines, which tabs separate.
fn columns(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().map(|line| line.split('\t').collect())
}

/// The output of a HIP program on a runtime with this number of GPUs, and the simulator's log. `None` without a compiler.
fn hip(stack: &Stack, gpus: usize, name: &str, arguments: &[&str]) -> Option<(String, String)> {
    let (program, kernels) = (program(name)?, code_object("kernels", "gfx90a")?);
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let mut command = stack.command(&program);
    command.arg(kernels).args(arguments);
    command.env("KFD_SIM_GPUS", gpus.to_string()).env("KFD_SIM_LOG", &log);
    Some((answer(command), fs::read_to_string(log).unwrap()))
}

/// For each GPU, the numbers of executions of its kernels, in ascending order.
fn executions(log: &str, gpus: usize) -> Vec<Vec<usize>> {
    let mut kernels = vec![HashMap::<String, usize>::new(); gpus];
    for columns in columns(log).filter(|columns| columns[0] == "dispatch") {
        let node: usize = columns[2].parse().unwrap();
        *kernels[node - 1].entry(columns[5].to_owned()).or_default() += 1;
    }
    kernels.into_iter().map(|kernels| kernels.into_values().collect()).collect()
}

/// Runs a program that launches the same on every GPU, on every runtime, and checks that each GPU executed each kernel as often
/// as it was launched there.
#[track_caller]
fn everything_is_executed(name: &str, machines: &[usize], arguments: impl Fn(&Stack, usize) -> String) {
    for stack in stacks() {
        for &gpus in machines {
            let arguments = arguments(&stack, gpus);
            let arguments: Vec<&str> = arguments.split(' ').collect();
            let Some((printed, log)) = hip(&stack, gpus, name, &arguments) else { return };
            let launched = columns(&printed).filter(|columns| columns.len() == 2);
            let launched: Vec<usize> = launched.map(|columns| columns[1].parse().unwrap()).collect();
            assert_eq!(launched.len(), 3, "{printed}");
            for mut executed in executions(&log, gpus) {
                // Other executions are the runtime's, which copies and fills by kernels too.
                for launches in &launched {
                    let at = executed.iter().position(|executed| executed * gpus == *launches);
                    executed
                        .swap_remove(at.unwrap_or_else(|| panic!("{stack:?} {gpus}\n{printed}{executed:?}")));
                }
            }
        }
    }
}

#[test]
fn every_runtime_lists_the_gpus_that_it_knows() {
    for stack in stacks() {
        for (target, _) in TARGETS.into_iter().filter(|(_, since)| *since <= stack.rocr) {
            for gpus in [1, 8] {
                let mut command = stack.command(&stack.rocminfo());
                command.env("KFD_SIM_GPUS", gpus.to_string()).env("KFD_SIM_TARGET", target);
                let text = answer(command);
                let agents =
                    text.lines().filter(|line| line.split_whitespace().eq(["Name:", target])).count();
                assert_eq!(agents, gpus, "{stack:?}\n{text}");
            }
        }
    }
}

#[test]
fn the_child_of_a_fork_has_a_driver_of_its_own_and_not_its_parents() {
    let Some(program) = program("hsa_fork") else { return };
    for stack in stacks() {
        let mut command = stack.command(&program);
        command.env("KFD_SIM_GPUS", "2");
        let expected = "first\tgpus\t2\nparent\tgpus\t2\nsecond\tinherited\tEBADF\nsecond\town\tok\n";
        assert_eq!(answer(command), expected, "{stack:?}");
    }
}

#[test]
fn streams_of_every_gpu_execute_what_was_launched() {
    everything_is_executed("hip_streams", &[1, 8], |_, _| "3 40".to_owned());
}

#[test]
fn a_graph_executes_its_kernels_at_every_launch() {
    everything_is_executed("hip_graph", &[1, 2], |stack, _| {
        // The oldest runtime executes the kernels of a graph at its first launch only.
        let how_often = if stack.hip == "5.2.3" { "10 1 20" } else { "10 10 2" };
        how_often.to_owned()
    });
}

#[test]
fn threads_that_launch_at_the_same_time_lose_nothing() {
    everything_is_executed("hip_threads", &[4], |_, gpus| format!("{} 150", 2 * gpus));
}

#[test]
fn events_measure_at_least_the_kernels_between_them() {
    for stack in stacks() {
        for gpus in [1, 2] {
            let Some((printed, _)) = hip(&stack, gpus, "hip_events", &["20"]) else { return };
            let elapsed: Vec<u64> = columns(&printed)
                .filter(|columns| columns[0] == "elapsed")
                .map(|columns| columns[2].parse().unwrap())
                .collect();
            assert_eq!(elapsed.len(), gpus);
            // These are 20 kernels of 10 us; a tick is 10 ns, and HIP rounds.
            assert!(elapsed.iter().all(|elapsed| *elapsed >= 199), "{stack:?} {elapsed:?}");
        }
    }
}

#[test]
fn bytes_that_a_program_copies_come_back() {
    for stack in stacks() {
        for (gpus, bytes) in [(1, "7"), (2, "4194308"), (4, "100004")] {
            let Some((printed, _)) = hip(&stack, gpus, "hip_copies", &[bytes]) else { return };
            let ways: Vec<Vec<&str>> = columns(&printed).filter(|columns| columns.len() == 3).collect();
            assert_eq!(ways.len(), 5 * gpus + 2 * (gpus - 1), "{printed}");
            assert!(ways.iter().all(|way| way[2] == "same"), "{stack:?}\n{printed}");
        }
    }
}
