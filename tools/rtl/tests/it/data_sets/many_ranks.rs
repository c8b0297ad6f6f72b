//! Runs of more than a thousand ranks, which share files.

use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{Job, Need};

use super::{add, assert_same_with, rtl};

const RUN: &str = "runs/job=default/run=one";

/// Files of Parquet in a folder and below.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let all = entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    all.filter(|path| path.extension().is_some_and(|ending| ending == "parquet")).collect()
}

#[test]
fn a_run_of_more_than_a_thousand_ranks_has_a_file_for_each_table_and_the_reports_of_its_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let job = Job { nodes: 129, ranks_per_node: 8, steps: 2, kernels: 2, ..Job::default() };
    let ranks = job.generate(path).unwrap();
    let words: Vec<&str> = ranks.iter().map(|rank| rank.to_str().unwrap()).collect();
    assert_eq!(rtl(path, &[&["merge", "-q", "-o", "job.db"][..], &words].concat()).code, 0);
    add(path, &path.join("job.db"), "one");

    let manifest = std::fs::read(path.join(RUN).join("_manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let tables = manifest["tables"].as_object().unwrap();
    let dispatches = &tables["dispatches"];
    assert_eq!((&dispatches["files"], &dispatches["width"]), (&1.into(), &2_048.into()));
    assert_eq!(dispatches["rows"], job.ranks() * 6);
    // Rows of no rank are beside them.
    assert!(files(&path.join(RUN)).len() <= 2 * tables.len(), "{:?}", files(&path.join(RUN)));

    assert_same_with(&[&[], &["--by", "rank"]], path, &path.join("job.db"));
    if let Err(error) = duckdb::load() {
        return support::skip(Need::Duckdb, error);
    }
    for table in ["dispatches", "ranges"] {
        let query = format!(
            "select rank, count(*) as n, sum(duration) as t, min(start) as s from {table} group by rank order by rank"
        );
        let of = |input| rtl(path, &["sql", "--format", "csv", input, &query]);
        let (found, expected) = (of("runs"), of("job.db"));
        assert_eq!(expected.report.lines().count(), 1 + ranks.len(), "{}", expected.messages);
        assert_eq!(found.report, expected.report, "{}", found.messages);
    }
    let one = |input| {
        rtl(path, &["sql", "--format", "csv", input, "from dispatches where rank = 1029 order by start"])
    };
    let columns = |report: &str| report.lines().next().unwrap().to_owned();
    let found = one("runs").report;
    assert_eq!(found.lines().count(), 1 + 6, "{found}");
    assert!(!columns(&found).split(',').any(|column| column == "bucket"), "{found}");
}
