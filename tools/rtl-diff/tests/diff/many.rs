//! Jobs of hundreds of ranks, each with a small file of its own.

use std::process::Command;

use serde_json::Value;
use support::Job;

use crate::Folder;

#[test]
fn two_jobs_of_many_ranks_have_the_sums_of_sqlite_with_few_open_files() {
    let folder = Folder::new();
    let sides = ["before", "after"].map(|side| {
        let job = Job {
            seed: side.len() as u64,
            ..Job {
                nodes: support::many() / 8,
                ranks_per_node: 8,
                steps: 12,
                kernels: 3,
                api: true,
                ..Job::default()
            }
        };
        std::fs::create_dir(folder.path(side)).unwrap();
        job.generate(&folder.path(side)).unwrap()
    });
    let program = env!("CARGO_BIN_EXE_rtl-diff");
    let line = format!("ulimit -n 64; exec {program} --as ranks --to json before/*.db -- after/*.db");
    let output = Command::new("sh").args(["-c", &line]).current_dir(folder.0.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (side, files) in ["baseline", "candidate"].into_iter().zip(&sides) {
        let expected = support::kernel_sums(files).unwrap();
        let kernels = document["kernels"].as_array().unwrap();
        assert_eq!(kernels.len(), expected.len());
        for kernel in kernels {
            let name = kernel["name"].as_str().unwrap();
            let [calls, total_ns] = ["calls", "total_ns"].map(|field| kernel[side][field].as_i64().unwrap());
            // A collective counts once for all ranks, with its transfer.
            match name.starts_with("nccl") {
                true => assert_eq!(calls * files.len() as i64, expected[name].0, "{kernel}"),
                false => assert_eq!((calls, total_ns), expected[name], "{kernel}"),
            }
        }
    }
    assert_eq!(document["decomposition"]["gpus"].as_array().unwrap().len(), sides[0].len());
}
