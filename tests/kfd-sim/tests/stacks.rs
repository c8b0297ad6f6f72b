//! Every ROCm runtime of this machine on the simulator. What is missing is said in one line.

#![expect(clippy::unwrap_used, reason = "a test fails loudly")]

use std::process::{Command, Output};

use support::stacks;

/// Generations of GPUs, and the first runtime that knows them.
const TARGETS: [(&str, &str); 5] = [
    ("gfx90a", "5.2.3"),
    ("gfx942", "6.1.2"),
    ("gfx1100", "6.1.2"),
    ("gfx950", "6.4.3"),
    ("gfx1201", "6.4.3"),
];

#[track_caller]
fn answer(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr).into_owned());
    assert!(status.success(), "{command:?} {status}\n{stdout}\n{stderr}");
    assert_eq!(stderr, "", "nothing to complain about");
    stdout
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
