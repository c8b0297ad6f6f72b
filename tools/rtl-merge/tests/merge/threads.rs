//! Merged traces and reports do not depend on the number of threads, and few descriptors are enough for many traces.

use std::fs;
use std::process::Command;

use support::{Job, Layout, Options, generate};

use crate::Folder;

/// The ranks of a job, other traces, and one that cannot be read.
fn traces() -> (Folder, String) {
    let folder = Folder::of(&Job { nodes: 3, ranks_per_node: 3, steps: 60, ..Job::default() });
    folder.story("collective-waits", Layout::Native, "waits.db");
    folder.story("two-kernels", Layout::Lite, "lite.db");
    fs::write(folder.path("broken.db"), "no trace").unwrap();
    large(&folder, "large.db");
    let others = ["waits.db", "broken.db", "large.db", "lite.db"].map(str::to_owned);
    let ranks = (0..9).map(|rank| format!("rank{rank}.db"));
    let names = ranks.chain(others).collect::<Vec<_>>().join(" ");
    (folder, format!("{names} --allow unreadable,missing-ranks,different-runs --force"))
}

/// Adds a trace of several pieces, whose pages are written by several threads.
fn large(folder: &Folder, name: &str) {
    generate(&Options { ops: 70_000, ranges: true, ..Options::default() }, &folder.path(name)).unwrap();
}

/// The output of a call and its file.
fn outcome(folder: &Folder, line: &str, output: &str) -> (i32, String, String, Vec<u8>) {
    let _ = fs::remove_file(folder.path(output));
    let run = folder.run(line);
    (run.code, run.answer, run.messages, fs::read(folder.path(output)).unwrap())
}

#[test]
fn a_merged_trace_and_its_report_are_those_of_one_thread() {
    let (folder, traces) = traces();
    let merge =
        |threads| outcome(&folder, &format!("{traces} -o all.db --print json --threads {threads}"), "all.db");
    let alone = merge(1);
    assert_eq!(alone.0, 3, "{}", alone.2);
    for threads in [2, 5] {
        assert!(merge(threads) == alone, "{threads} threads");
    }
}

#[test]
fn a_report_on_ranks_is_that_of_one_thread() {
    let (folder, traces) = traces();
    let report = |threads| {
        outcome(&folder, &format!("{traces} --to summary -o all.json --threads {threads}"), "all.json")
    };
    let alone = report(1);
    assert_eq!(alone.0, 3, "{}", alone.2);
    for threads in [2, 5] {
        assert!(report(threads) == alone, "{threads} threads");
    }
}

#[test]
fn real_traces_are_reported_as_by_one_thread() {
    let Some(shared) = support::shared() else { return };
    let names = ["rpd2-vllm-fp8.rpd.gz", "rpd2-matmul-mi200.rpd", "rocprofv3-gfx950.json.gz"];
    let paths = names.map(|name| shared.join("traces/real").join(name));
    if let Some(missing) = paths.iter().find(|path| !path.exists()) {
        return support::skip(support::Need::Shared, format_args!("no {}", missing.display()));
    }
    let folder = Folder::new();
    let traces = paths.map(|path| path.display().to_string()).join(" ");
    for mode in ["--to summary -o out.json", "-o out.db"] {
        let output = mode.rsplit(' ').next().unwrap();
        let run = |threads| outcome(&folder, &format!("{traces} --force {mode} --threads {threads}"), output);
        let alone = run(1);
        for threads in [2, 5] {
            assert!(run(threads) == alone, "{mode}: {threads} threads");
        }
    }
}

#[test]
fn a_merged_trace_that_cannot_grow_is_named_whichever_thread_writes_it() {
    let folder = Folder::new();
    large(&folder, "large.db");
    for threads in [1, 2, 5] {
        let line = format!(
            "trap '' XFSZ; ulimit -f 2000; exec \"$0\" --threads {threads} -q -o all.db --allow missing-ranks large.db"
        );
        let mut command = Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_rtl-merge")]).current_dir(folder.0.path());
        let output = command.output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("cannot write: all.db: File too large"), "{threads}: {message}");
        assert!(!output.status.success() && !folder.path("all.db").exists(), "{threads} threads");
        assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 1, "{threads} threads");
    }
}

#[test]
fn more_traces_than_descriptors_are_read() {
    let folder = Folder::of(&Job { nodes: 20, ranks_per_node: 8, steps: 2, ..Job::default() });
    for mode in ["--to summary -o all.json", "-o all.db"] {
        let line = format!("ulimit -n 64; exec \"$0\" --threads 5 -q {mode} rank*.db");
        let mut command = Command::new("sh");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_rtl-merge")]).current_dir(folder.0.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
