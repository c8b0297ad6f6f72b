//! Tests of real programs on the simulator, where `scripts/fetch/real-programs` has fetched them. For a missing one, a line is
//! printed.

use std::collections::HashSet;
use std::fs;
use std::process::{Command, Output};

use support::real::{llama_bench, tinygrad, write_model};

/// The program's output, and each dispatch of the log: the GPU's node and the kernel.
fn run(mut command: Command, gpus: u32) -> (String, Vec<(String, String)>) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    command.env("KFD_SIM_GPUS", gpus.to_string()).env("KFD_SIM_LOG", &log);
    let Output { status, stdout, stderr } = command.output().unwrap();
    let printed = String::from_utf8(stdout).unwrap();
    assert!(status.success(), "{status}\n{printed}\n{}", String::from_utf8_lossy(&stderr));
    let log = fs::read_to_string(log).unwrap();
    let columns = log.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let dispatches = columns.filter(|columns| columns[0] == "dispatch");
    (printed, dispatches.map(|columns| (columns[2].to_owned(), columns[5].to_owned())).collect())
}

#[test]
fn tinygrad_trains_a_network() {
    let Some(command) = tinygrad(5) else { return };
    let (printed, dispatches) = run(command, 1);
    assert_eq!(printed.lines().filter(|line| line.ends_with("on HIP")).count(), 5, "{printed}");
    let kernels: HashSet<&String> = dispatches.iter().map(|(_, kernel)| kernel).collect();
    assert!(dispatches.len() > 100 && kernels.len() > 20, "{} {}", dispatches.len(), kernels.len());
}

#[test]
fn llama_cpp_measures_a_model_on_one_gpu_and_on_two() {
    let folder = tempfile::tempdir().unwrap();
    let Some(model) = write_model(folder.path()) else { return };
    for gpus in [1, 2] {
        let Some(command) = llama_bench(&model) else { return };
        let (printed, dispatches) = run(command, gpus);
        for test in ["pp64", "tg16"] {
            assert!(printed.lines().any(|line| line.contains("ROCm") && line.contains(test)), "{printed}");
        }
        let nodes: HashSet<&String> = dispatches.iter().map(|(node, _)| node).collect();
        assert_eq!(nodes.len() as u32, gpus);
    }
}
