//! Data sets: what a run has, how runs are added, and what a killed writer leaves.

#![cfg(feature = "columns")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Options;

struct Set(tempfile::TempDir);

impl Set {
    /// A folder with `in.db`.
    fn new(options: &Options) -> Self {
        let folder = tempfile::tempdir().unwrap();
        support::generate(options, &folder.path().join("in.db")).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Exit code and messages of `rtl-convert` with these words.
    fn run(&self, line: &str) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
        let output = command.args(line.split_whitespace()).current_dir(self.0.path()).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }

    fn manifest(&self, run: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(run).join("_manifest.json")).unwrap()).unwrap()
    }
}

fn small() -> Options {
    Options { ops: 500, api: true, ranges: true, ..Options::default() }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_run_has_a_folder_for_each_table_and_a_manifest_that_counts_its_rows() {
    let set = Set::new(&small());
    assert_eq!(set.run("in.db --to dataset -o set --job train --run one"), (0, String::new()));
    let run = set.path("set/job=train/run=one");
    let kinds = names(&run);
    for kind in
        ["agents", "api_calls", "copies", "dispatches", "kernel_stats", "metadata", "processes", "ranges"]
    {
        assert!(kinds.contains(&format!("kind={kind}")), "{kind}: {kinds:?}");
    }
    let manifest = set.manifest("set/job=train/run=one");
    assert_eq!(manifest["schema"], "rtl-dataset/1");
    assert_eq!((&manifest["job"], &manifest["run"]), (&"train".into(), &"one".into()));
    assert_eq!(manifest["source"]["file"], "in.db");
    assert_eq!(manifest["source"]["bytes"], fs::metadata(set.path("in.db")).unwrap().len());
    let rows = |table: &str| manifest["tables"][table]["rows"].as_u64().unwrap();
    assert_eq!(rows("dispatches") + rows("copies"), 500);
    assert_eq!(names(&set.path("set")), ["job=train"]);
    assert_eq!(names(&set.path("set/job=train")), ["run=one"]);
}

#[test]
fn a_run_is_added_once_under_each_name_and_the_others_stay() {
    let set = Set::new(&small());
    support::generate(&Options { seed: 2, ..small() }, &set.path("other.db")).unwrap();
    assert_eq!(set.run("in.db --to dataset -o set").0, 0);
    let before = fs::read(set.path("set/job=default/run=in/_manifest.json")).unwrap();
    let (code, message) = set.run("in.db --to dataset -o set");
    assert_eq!(code, 2);
    assert!(message.contains("set has the run in of the job default\nhint: --run NAME"), "{message}");
    let (code, message) = set.run("in.db --to dataset -o set --job another --run name");
    assert_eq!(code, 2);
    assert!(message.contains("set has the same rows as the run in of the job default"), "{message}");
    assert_eq!(set.run("other.db --to dataset -o set"), (0, String::new()));
    assert_eq!(fs::read(set.path("set/job=default/run=in/_manifest.json")).unwrap(), before);
    assert_eq!(names(&set.path("set/job=default")), ["run=in", "run=other"]);
    assert_eq!(set.run("other.db --to dataset -o set --run in --force").0, 0);
    assert_eq!(set.manifest("set/job=default/run=in")["source"]["file"], "other.db");
}

#[test]
fn a_folder_with_other_files_and_a_name_that_is_a_path_are_refused() {
    let set = Set::new(&small());
    fs::create_dir(set.path("mine")).unwrap();
    fs::write(set.path("mine/thesis.txt"), "").unwrap();
    let (code, message) = set.run("in.db --to dataset -o mine");
    assert_eq!(code, 2);
    assert!(message.contains("mine is no data set: it has mine/thesis.txt"), "{message}");
    assert_eq!(names(&set.path("mine")), ["thesis.txt"]);
    for name in ["../up", "a/b", ".hidden", "a=b"] {
        let (code, message) = set.run(&format!("in.db --to dataset -o set --run {name}"));
        assert_eq!(code, 2, "{message}");
    }
    assert!(!set.path("set").exists());
}

#[test]
fn a_killed_writer_leaves_nothing_that_readers_see_and_the_next_one_removes_the_rest() {
    let set = Set::new(&Options { ops: 60_000, ..small() });
    support::generate(&Options { seed: 2, ..small() }, &set.path("other.db")).unwrap();
    let job = set.path("set/job=default");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
    command.args("in.db --to dataset -o set".split(' ')).current_dir(set.0.path()).stdout(Stdio::null());
    let mut writer = command.spawn().unwrap();
    // Killed while it holds the lock of its temporary folder, or it is done before.
    let has_lock = || job.is_dir() && names(&job).iter().any(|name| job.join(name).join("lock").is_file());
    while !has_lock() && writer.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let _ = writer.kill();
    writer.wait().unwrap();
    let complete = |name: &String| name.starts_with("run=");
    for run in names(&job).iter().filter(|name| complete(name)) {
        assert!(job.join(run).join("_manifest.json").is_file(), "{run}");
    }
    assert_eq!(set.run("other.db --to dataset -o set"), (0, String::new()));
    assert!(names(&job).iter().all(complete), "{:?}", names(&job));
    assert!(names(&job).contains(&"run=other".to_owned()));
}

#[test]
fn an_op_with_its_shape_and_its_links_takes_at_most_twelve_bytes() {
    let set = Set::new(&Options { ops: 300_000, ..Options::default() });
    assert_eq!(set.run("in.db --to dataset -o set").0, 0);
    let tables = &set.manifest("set/job=default/run=in")["tables"];
    let sum = |value: &str| -> u64 {
        ["dispatches", "copies"].iter().filter_map(|table| tables[table][value].as_u64()).sum()
    };
    assert!(sum("bytes") <= sum("rows") * 12, "{} bytes for {} ops", sum("bytes"), sum("rows"));
}

/// Times and shapes of real kernels repeat; those of the generator are drawn. A file itself takes 8 KB.
#[test]
fn a_dispatch_of_a_real_trace_takes_at_most_six_and_a_half_bytes() {
    let Some(shared) = support::shared() else { return };
    let set = Set(tempfile::tempdir().unwrap());
    for (name, rows) in [("rocprofv3-gfx950.json.gz", 43_915), ("rpd2-vllm-fp8.rpd.gz", 8_948)] {
        let trace = shared.join("traces/real").join(name);
        let run = name.split('.').next().unwrap();
        assert_eq!(set.run(&format!("{} --to dataset -o set --run {run}", trace.display())).0, 0);
        let table = &set.manifest(&format!("set/job=default/run={run}"))["tables"]["dispatches"];
        let [stored, bytes] = ["rows", "bytes"].map(|value| table[value].as_u64().unwrap());
        assert_eq!(stored, rows, "{name}");
        assert!(bytes * 2 <= rows * 13, "{name}: {bytes} bytes for {rows} dispatches");
    }
}
