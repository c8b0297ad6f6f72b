//! Tests of processes without work for a GPU.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use e2e::{Process, library};
use support::stacks;

#[test]
fn a_process_that_asks_no_gpu_for_anything_leaves_no_file() {
    for what in ["nothing", "agents", "queue"] {
        for process in Process::on_every_stack("no_work") {
            assert_eq!(process.arguments(&[what]).well().traces, Vec::<PathBuf>::new(), "{what}");
        }
    }
}

#[test]
fn a_process_that_only_looks_for_gpus_by_hip_leaves_no_file() {
    for stack in stacks() {
        let Some(process) = Process::for_python(&stack, "workers", &["look"]) else { return };
        let outcome = process.preloaded().gpus(3).well();
        assert_eq!((outcome.stdout.as_str(), outcome.traces.len()), ("3\n", 0));
    }
}

#[test]
fn shells_and_other_programs_leave_nothing_and_print_nothing_more() {
    let pipes = "echo a; (echo b; exit 3); echo $?; echo c | cat; x=$(echo d); echo $x; exec sh -c 'exit 4'";
    let python = "import os, subprocess; print(subprocess.run(['true'])); os.fork() or os._exit(5); print(os.wait()[1])";
    let missing = "exec /nowhere/at/all";
    for words in
        [vec!["true"], vec!["sh", "-c", pipes], vec!["python3", "-c", python], vec!["sh", "-c", missing]]
    {
        let folder = tempfile::tempdir().unwrap();
        let run = |tool: &str| -> Output {
            let mut command = Command::new(words[0]);
            command.args(&words[1..]).env("LD_PRELOAD", tool).env("HSA_TOOLS_LIB", tool);
            command.env("RTL_OUTPUT", folder.path().join("trace_%p.db")).current_dir(folder.path());
            command.output().unwrap()
        };
        let (bare, traced) = (run(""), run(library::tracer().to_str().unwrap()));
        assert_eq!(traced, bare, "{words:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{words:?}");
    }
}
