//! Jobs of hundreds of ranks, each with a small file of its own.

use std::process::Command;

use serde_json::Value;
use support::Job;

use crate::{Folder, ranks};

#[test]
fn many_ranks_are_merged_onto_one_clock_with_few_open_files_and_any_number_of_threads() {
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
    let merge = |threads: u32, out: &str| {
        let program = env!("CARGO_BIN_EXE_rtl-merge");
        let names = ranks(job.ranks());
        let line = format!("ulimit -n 64; exec {program} --threads {threads} --print json -o {out} {names}");
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder.0.path()).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), messages.as_str()), (Some(0), ""));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let (mut one, mut other) = (merge(1, "one.db"), merge(5, "five.db"));
    let [one_file, other_file] = ["one.db", "five.db"].map(|file| std::fs::read(folder.path(file)).unwrap());
    assert!(one_file == other_file, "the merged trace depends on the number of threads");
    [&mut one, &mut other].into_iter().for_each(|report| report["output"] = Value::Null);
    assert_eq!(one, other);
    let merged = support::kernel_sums(&[folder.path("one.db")]).unwrap();
    assert_eq!(merged, support::kernel_sums(&files).unwrap());
    let inputs = one["clock"]["inputs"].as_array().unwrap();
    let aligned = inputs.iter().filter(|input| input["method"] == "collectives").count();
    assert_eq!((inputs.len(), aligned), (files.len(), files.len() - 8), "one node has the clock of all");
    assert_eq!((&one["clock"]["violations"], &one["clock"]["unmatched"]), (&0.into(), &0.into()));
    assert_eq!(one["waits"]["ranks"].as_array().unwrap().len(), files.len());
    assert_eq!(one["gpus"].as_array().unwrap().len(), files.len());
}
