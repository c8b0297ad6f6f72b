//! Runs of data sets are traces for every tool: the reports are those of the traces that the runs were made from.

mod damage;
mod many_ranks;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use support::{Job, Layout, Options};

/// Traces of torch.profiler on two vendors, JAX, RPD and rocprofv3.
const REAL: [&str; 8] = [
    "kineto/mi300-qwen.json.gz",
    "kineto/h200/gpt-sync.json.gz",
    "kineto/h200/gpt-memory-rank0.json.gz",
    "kineto/h200/nostep-cut.json.gz",
    "kineto/jax/vm.trace.json.gz",
    "traces/real/rpd2-vllm-fp8.rpd.gz",
    "traces/real/rocprofv3-gfx950.json.gz",
    "traces/made/rtl-hip.db",
];

struct Ran {
    code: i32,
    report: String,
    messages: String,
}

fn rtl(folder: &Path, line: &[&str]) -> Ran {
    let output = Command::new(env!("CARGO_BIN_EXE_rtl")).args(line).current_dir(folder).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        report: String::from_utf8(output.stdout).unwrap(),
        messages: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Adds a trace to the data set `runs` as a run of this name.
fn add(folder: &Path, trace: &Path, run: &str) {
    let added =
        rtl(folder, &["convert", trace.to_str().unwrap(), "--to", "dataset", "-o", "runs", "--run", run]);
    assert_eq!(added.code, 0, "{}", added.messages);
}

/// A report as JSON without the names of inputs.
fn json(folder: &Path, line: &[&str]) -> Value {
    let ran = rtl(folder, &[line, &["--to", "json"]].concat());
    assert!(ran.report.starts_with('{'), "{line:?}: {}", ran.messages);
    let mut report = serde_json::from_str(&ran.report).unwrap();
    forget_paths(&mut report);
    report
}

fn forget_paths(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !["path", "files"].contains(&name.as_str()));
            fields.values_mut().for_each(forget_paths);
        }
        Value::Array(values) => values.iter_mut().for_each(forget_paths),
        _ => {}
    }
}

fn generated(folder: &Path, name: &str, options: &Options) -> PathBuf {
    let path = folder.join(name);
    support::generate(options, &path).unwrap();
    path
}

fn small(seed: u64) -> Options {
    Options { ops: 3_000, seed, api: true, ranges: true, shuffle: true, ..Options::default() }
}

/// The report of a run is that of its trace, whole and filtered.
fn assert_same_reports(trace: &Path) {
    let folder = tempfile::tempdir().unwrap();
    add(folder.path(), trace, "one");
    assert_same_with(&[&[], &["--by", "rank"], &["--gpu", "0"]], folder.path(), trace);
}

/// The run of the data set `runs` in a folder has the reports of its trace with each of these flags.
fn assert_same_with(flags: &[&[&str]], folder: &Path, trace: &Path) {
    for &flags in flags {
        let of = |input: &str| rtl(folder, &[&["summary", "--to", "json", input][..], flags].concat());
        let (expected, found) = (of(trace.to_str().unwrap()), of("runs"));
        assert_eq!(found.code, expected.code, "{}: {}", trace.display(), found.messages);
        if expected.report.is_empty() {
            continue;
        }
        let [mut expected, mut found] =
            [expected, found].map(|ran| serde_json::from_str::<Value>(&ran.report).unwrap());
        [&mut expected, &mut found].into_iter().for_each(forget_paths);
        let sections = expected.as_object().unwrap().keys();
        for section in sections {
            assert_eq!(found[section], expected[section], "{section} of {} {flags:?}", trace.display());
        }
    }
}

#[test]
fn the_report_on_a_run_is_that_on_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    for (name, layout) in [("a.db", Layout::Native), ("b.db", Layout::Lite), ("c.rpd", Layout::Rpd3)] {
        assert_same_reports(&generated(folder.path(), name, &Options { layout, ..small(1) }));
    }
}

#[test]
fn the_report_on_a_run_of_many_ranks_is_that_on_their_merged_trace() {
    let folder = tempfile::tempdir().unwrap();
    let job = Job { nodes: 2, ranks_per_node: 2, api: true, ..Job::default() };
    let ranks = job.generate(folder.path()).unwrap();
    let ranks: Vec<&str> = ranks.iter().map(|rank| rank.to_str().unwrap()).collect();
    assert_eq!(rtl(folder.path(), &[&["merge", "-q", "-o", "job.db"][..], &ranks].concat()).code, 0);
    assert_same_reports(&folder.path().join("job.db"));
}

#[test]
fn the_report_on_invalid_rows_is_the_same() {
    for name in ["bad-rows", "copies-both-ways", "graph-launch", "only-markers", "ranges-nested"] {
        assert_same_reports(&support::fixture(name));
    }
}

#[test]
fn the_report_on_a_run_of_a_real_trace_is_that_on_its_trace() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/real");
    for name in ["gpt-loader.json.gz", "llama-bench.db.gz", "tinygrad.db.gz"] {
        assert_same_reports(&fixtures.join(name).canonicalize().unwrap());
    }
    let Some(shared) = support::shared() else {
        return support::skip(support::Need::Shared, "no traces of real GPUs beside the checkout");
    };
    for name in REAL {
        assert_same_reports(&shared.join(name).canonicalize().unwrap());
    }
}

#[test]
fn a_data_set_of_several_runs_names_them() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, run) in [(1, "monday"), (2, "tuesday")] {
        add(folder.path(), &generated(folder.path(), run, &small(seed)), run);
    }
    for place in ["runs", "runs/job=default"] {
        let refused = rtl(folder.path(), &["summary", place]);
        let expected = format!(
            "rtl: error: a data set with 2 runs, not one: {place}\nhint: name the folder of one run: \
             {}/run=monday, {0}/run=tuesday\n",
            "runs/job=default"
        );
        assert_eq!((refused.code, refused.messages.as_str()), (3, expected.as_str()));
    }
    assert_eq!(rtl(folder.path(), &["summary", "runs/job=default/run=tuesday"]).code, 0);
}

#[test]
fn every_tool_takes_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let trace = generated(folder.path(), "a.db", &small(1));
    add(folder.path(), &trace, "one");
    let rows = |input: &str| json(folder.path(), &["summary", input])["inputs"][0]["info"]["rows"].clone();
    let line = |line: &str| {
        let ran = rtl(folder.path(), &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!(ran.code, 0, "{line}: {}", ran.messages);
        ran.report
    };
    line("convert runs -o back.db");
    line("merge -q runs -o merged.db");
    for written in ["back.db", "merged.db"] {
        assert_eq!(rows(written), rows("a.db"), "{written}");
    }
    line("report runs -o page.html");
    line("convert runs/job=default --to json -o viewer.json");
    assert!(line("info runs").contains("dispatches: "));
    line("convert runs/job=default/run=one --to dataset -o other --run again");
    assert_eq!(rows("other"), rows("a.db"));
}

#[test]
fn the_comparison_of_runs_is_that_of_their_traces() {
    let folder = tempfile::tempdir().unwrap();
    let slow = Options { workload: Some(1), slow: Some((0, 1.5)), ..small(2) };
    add(folder.path(), &generated(folder.path(), "a.db", &Options { workload: Some(1), ..small(1) }), "a");
    add(folder.path(), &generated(folder.path(), "b.db", &slow), "b");
    let expected = json(folder.path(), &["diff", "a.db", "b.db"]);
    let found = json(folder.path(), &["diff", "runs/job=default/run=a", "runs/job=default/run=b"]);
    assert!(expected["kernels"].as_array().unwrap().len() > 10, "{expected}");
    assert_eq!(comparable(found), comparable(expected));
}

#[test]
fn a_data_set_is_a_history_of_its_runs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("past")).unwrap();
    for seed in 1..=6 {
        let name = format!("past/run{seed}.db");
        let trace = generated(folder.path(), &name, &Options { workload: Some(1), ..small(seed) });
        add(folder.path(), &trace, &format!("run{seed}"));
    }
    let slow = Options { workload: Some(1), slow: Some((0, 1.5)), ..small(7) };
    generated(folder.path(), "now.db", &slow);
    let expected = json(folder.path(), &["diff", "--history", "past", "now.db"]);
    for place in ["runs", "runs/job=default"] {
        let found = json(folder.path(), &["diff", "--history", place, "now.db"]);
        assert_eq!(found["baseline"].as_array().map(Vec::len), expected["baseline"].as_array().map(Vec::len));
        assert_eq!(comparable(found), comparable(expected.clone()));
    }
}

#[test]
fn ranks_are_merged_into_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let ranks = Job { nodes: 2, ranks_per_node: 2, ..Job::default() }.generate(folder.path()).unwrap();
    let ranks: Vec<&str> = ranks.iter().map(|rank| rank.to_str().unwrap()).collect();
    let merge = |line: &[&str]| rtl(folder.path(), &[&["merge", "-q"][..], line, &ranks].concat());
    assert_eq!(merge(&["-o", "job.db"]).code, 0);
    let set = ["--to", "dataset", "-o", "runs", "--job", "train", "--run", "friday"];
    let added = merge(&set);
    assert_eq!(added.code, 0, "{}", added.messages);
    let report = |input| json(folder.path(), &["summary", input]);
    assert_eq!(report("runs/job=train/run=friday"), report("job.db"));
    let again = merge(&set);
    let expected = "rtl: error: runs has the run friday of the job train\nhint: --run NAME gives";
    assert!(again.code == 2 && again.messages.starts_with(expected), "{}", again.messages);
    assert_eq!(merge(&[&set[..], &["--force"]].concat()).code, 0);
    for line in [&["--to", "dataset", "-o", "runs"][..], &["-o", "x.db", "--run", "x"]] {
        let refused = merge(line);
        assert_eq!((refused.code, refused.messages.lines().count()), (2, 2), "{}", refused.messages);
    }
}

/// A comparison without the names of its runs.
fn comparable(mut comparison: Value) -> Value {
    for side in ["baseline", "candidate"] {
        comparison.as_object_mut().unwrap().remove(side);
    }
    comparison
}
