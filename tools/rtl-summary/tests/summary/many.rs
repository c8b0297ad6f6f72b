//! Jobs of hundreds of ranks, each with a small file of its own.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use support::Job;

use crate::{Folder, Run};

/// A folder with the ranks of a job, and these.
fn job() -> (Folder, Vec<PathBuf>) {
    let job = Job {
        nodes: support::many() / 8,
        ranks_per_node: 8,
        steps: 12,
        kernels: 3,
        api: true,
        ..Job::default()
    };
    let folder = Folder::new();
    let files = job.generate(folder.0.path()).unwrap();
    (folder, files)
}

/// `name: (calls, total)` of the rows of a table of kernels.
fn sums(report: &Value) -> Vec<(&str, i64, i64)> {
    let rows = report["kernels"].as_array().unwrap().iter();
    let mut sums: Vec<_> = rows
        .map(|row| {
            let number = |field: &str| row[field].as_i64().unwrap();
            (row["name"].as_str().unwrap(), number("calls"), number("total_ns"))
        })
        .collect();
    sums.sort_unstable();
    sums
}

#[test]
fn many_ranks_add_up_to_what_sqlite_sums_with_few_open_files_and_any_number_of_threads() {
    let (folder, files) = job();
    let run = |threads: u32, flags: &str| {
        let program = env!("CARGO_BIN_EXE_rtl-summary");
        let line = format!("ulimit -n 64; exec {program} --threads {threads} {flags} rank*.db");
        Run::of(Command::new("sh").args(["-c", &line]).current_dir(folder.0.path()))
    };
    let one = run(1, "--section kernels,gpus,ranks,findings,idle --to json");
    assert_eq!((one.code, one.messages.as_str()), (0, ""));
    assert_eq!(one.answer, run(5, "--section kernels,gpus,ranks,findings,idle --to json").answer);
    let report: Value = serde_json::from_str(&one.answer).unwrap();
    let expected = support::kernel_sums(&files).unwrap();
    let expected: Vec<_> =
        expected.iter().map(|(name, &(calls, total_ns))| (name.as_str(), calls, total_ns)).collect();
    assert_eq!(sums(&report), expected);
    let gpus = report["gpus"].as_array().unwrap();
    assert_eq!(gpus.len(), files.len());
    let ranks = report["ranks"]["ranks"].as_array().unwrap();
    assert!(ranks.len() == files.len() && ranks.iter().all(|rank| rank["collectives"] == 12));
    // Every rank is a group of its own where the report is divided so.
    let by_rank: Value = serde_json::from_str(&run(2, "--by rank --to json").answer).unwrap();
    let groups = by_rank["groups"].as_array().unwrap();
    let calls: i64 = groups.iter().map(|row| row["calls"].as_i64().unwrap()).sum();
    assert_eq!((groups.len(), calls), (files.len(), expected.iter().map(|row| row.1).sum()));
}
