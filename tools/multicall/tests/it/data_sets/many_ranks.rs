//! Runs of more than a thousand ranks, which share files.

use std::fs;
use std::path::{Path, PathBuf};

use dataset::{Packing, Provenance, Run};
use rtl_schema::{Select, Trace};
use serde_json::Value;
use support::{Job, Need};
use tables::Loaded;

use super::{add, assert_same_with, rtl};

const RUN: &str = "runs/job=default/run=one";

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|ending| ending == "parquet")).collect()
}

/// More ranks than have files of their own, with six dispatches each.
fn job() -> Job {
    Job { nodes: 129, ranks_per_node: 8, steps: 2, kernels: 2, ..Job::default() }
}

/// Merges the ranks of a job in a folder as `job.db` and returns their number.
fn merge(folder: &Path, job: &Job) -> usize {
    let ranks = job.generate(folder).unwrap();
    let words: Vec<&str> = ranks.iter().map(|rank| rank.to_str().unwrap()).collect();
    assert_eq!(rtl(folder, &[&["merge", "-q", "-o", "job.db"][..], &words].concat()).code, 0);
    ranks.len()
}

fn table_manifests(folder: &Path) -> Value {
    let manifest = fs::read(folder.join(RUN).join("_manifest.json")).unwrap();
    serde_json::from_slice::<Value>(&manifest).unwrap()["tables"].take()
}

#[test]
fn a_run_of_more_than_a_thousand_ranks_has_a_file_for_each_table_and_the_reports_of_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (path, job) = (folder.path(), job());
    let ranks = merge(path, &job);
    add(path, &path.join("job.db"), "one");

    let tables = table_manifests(path);
    let tables = tables.as_object().unwrap();
    let dispatches = &tables["dispatches"];
    assert_eq!((&dispatches["files"], &dispatches["width"]), (&1.into(), &2_048.into()));
    assert_eq!(dispatches["rows"], job.ranks() * 6);
    // Rows of no rank are beside them.
    assert!(files(&path.join(RUN)).len() <= 2 * tables.len(), "{:?}", files(&path.join(RUN)));

    assert_same_with(&[&[]], path, &path.join("job.db"));
    if let Err(error) = duckdb::load() {
        return support::skip(Need::Duckdb, error);
    }
    for table in ["dispatches", "ranges"] {
        let query = format!(
            "select rank, count(*) as n, sum(duration) as t, min(start) as s from {table} group by rank order by rank"
        );
        let of = |input| rtl(path, &["sql", "--to", "csv", input, &query]);
        let (found, expected) = (of("runs"), of("job.db"));
        assert_eq!(expected.report.lines().count(), 1 + ranks, "{}", expected.messages);
        assert_eq!(found.report, expected.report, "{}", found.messages);
    }
    let one =
        |input| rtl(path, &["sql", "--to", "csv", input, "from dispatches where rank = 1029 order by start"]);
    let columns = |report: &str| report.lines().next().unwrap().to_owned();
    let found = one("runs").report;
    assert_eq!(found.lines().count(), 1 + 6, "{found}");
    assert!(!columns(&found).split(',').any(|column| column == "bucket"), "{found}");
}

#[test]
fn a_run_in_several_files_of_many_ranks_has_the_answers_of_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (path, job) = (folder.path(), job());
    merge(path, &job);
    let (trace, select) = (path.join("job.db"), Select::everything());
    let loaded = Loaded::new("one", select, Trace::open(&trace).unwrap().read(&select).unwrap());
    let run = Run { job: "default", run: "one", force: false };
    let from = Provenance { path: &trace, name: None, version: "1" };
    let packing = Packing { rows: 600, ..Packing::default() };
    dataset::add_packed(&path.join("runs"), &run, &loaded, &from, &packing).unwrap();

    let tables = table_manifests(path);
    // 6,192 dispatches fill ten files of 600, and 128 is the least power of two with which there are no more.
    for (table, files, width) in [("dispatches", 9, 128), ("ranges", 3, 512)] {
        assert_eq!((&tables[table]["files"], &tables[table]["width"]), (&files.into(), &width.into()));
    }
    assert_same_with(&[&["--by", "rank"]], path, &trace);
    if let Err(error) = duckdb::load() {
        return support::skip(Need::Duckdb, error);
    }
    let of = |input: &str, table: &str, condition: &str| {
        let columns = "rank, name, start, duration, pid";
        let query = format!("select {columns} from {table} where {condition} order by all");
        rtl(path, &["sql", "--to", "csv", "-p", "low=1024", input, &query])
    };
    for (condition, ranks) in [
        ("rank = 1029", 1),
        ("rank in (3, 127, 128, 1031)", 4),
        ("rank between 120 and 270", 151),
        ("rank >= 127 and rank < 128", 1),
        ("rank >= $low", 8),
        ("rank > 1031", 0),
        ("rank >= 0", 1_032),
    ] {
        for (table, rows) in [("dispatches", 6), ("ranges", 2)] {
            let (found, expected) = (of("runs", table, condition), of("job.db", table, condition));
            assert_eq!(expected.report.lines().count(), 1 + rows * ranks, "{table} {condition}");
            assert_eq!(found.report, expected.report, "{table} {condition}: {}", found.messages);
        }
    }
    for bucket in (0..1_032).step_by(128).filter(|bucket| ![128, 256].contains(bucket)) {
        let file = path.join(RUN).join(format!("kind=dispatches/bucket={bucket}/part-0.parquet"));
        fs::write(file, "no Parquet").unwrap();
    }
    for (condition, code) in
        [("rank between 128 and 383", 0), ("rank between 127 and 383", 3), ("rank between 128 and 384", 3)]
    {
        assert_eq!(of("runs", "dispatches", condition).code, code, "{condition}");
    }
}
