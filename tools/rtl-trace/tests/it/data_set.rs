//! Commands whose traces become runs of a data set.

use std::ffi::OsStr;
use std::fs;
use std::process::Output;

use crate::running::{Traced, text};

fn named(run: &str) -> [&str; 8] {
    ["--to", "dataset", "-o", "runs", "--job", "train", "--run", run]
}

/// The number of dispatches that the manifest of a run states.
fn dispatches(traced: &Traced, run: &str) -> u64 {
    let path = traced.path().join(format!("runs/job=train/run={run}/_manifest.json"));
    let text: String = fs::read_to_string(path).unwrap().split_whitespace().collect();
    let (_, rows) = text.split_once("\"dispatches\":{\"rows\":").unwrap();
    rows.split(',').next().unwrap().parse().unwrap()
}

fn lines(output: &Output) -> Vec<&str> {
    text(&output.stderr).lines().collect()
}

#[test]
fn one_process_and_several_become_runs_of_a_data_set() {
    let Some(traced) = Traced::on_a_gpu() else { return };
    let output = traced.shell(&named("one"), "\"$@\" 20");
    assert!(output.status.success(), "{output:?}");
    let output = traced.shell(&named("several"), "\"$@\" 20 & \"$@\" 30 & wait");
    assert!(output.status.success(), "{output:?}");
    assert_eq!([dispatches(&traced, "one"), dispatches(&traced, "several")], [20, 50]);
    assert_eq!(traced.files(), ["runs"], "nothing lies beside the data set");
    let lines = lines(&output);
    assert_eq!(lines[0], "Merged 2 process traces");
    assert_eq!(lines[2], "Trace: runs/job=train/run=several", "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("  GPU ops:   50 ")), "{lines:?}");
    let [title, run] = lines[lines.len() - 2..] else { panic!("{lines:?}") };
    assert_eq!(title, "Output files:");
    assert!(run.starts_with("  runs/job=train/run=several ("), "{run}");
    assert!(run.ends_with(", of 2 processes, a run of a data set)"), "{run}");
}

#[test]
fn a_run_is_refused_before_its_command_is_started() {
    let traced = Traced::plain();
    fs::create_dir_all(traced.path().join("runs/job=train/run=taken")).unwrap();
    let refusals: [(&[&str], &str); 5] = [
        (&named("taken"), "runs has the run taken of the job train"),
        (&named("a/b"), "\"a/b\" is no name of a run"),
        (&["--to", "dataset", "-o", "runs"], "a run of a data set needs a folder and a name"),
        (&["--to", "dataset", "--run", "a"], "a run of a data set needs a folder and a name"),
        (&["-o", "a.db", "--run", "a"], "--job and --run name a run of a data set"),
    ];
    for (flags, expected) in refusals {
        let output = traced.command(flags, ["touch", "started"].map(OsStr::new)).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(text(&output.stderr).contains(expected), "{output:?}");
    }
    assert_eq!(traced.files(), ["runs"]);
}

#[test]
fn a_run_without_gpu_work_is_not_added() {
    let traced = Traced::plain();
    let output = traced.command(&named("none"), ["true"].map(OsStr::new)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stderr).contains("no GPU work was recorded, no trace is written"), "{output:?}");
    assert!(traced.files().is_empty(), "{:?}", traced.files());
}
