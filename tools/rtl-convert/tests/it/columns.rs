//! The folders of columns: which files there are, and when they appear.

#![cfg(feature = "columns")]
use crate::drawing;
use std::path::Path;
use std::process::Command;

use support::Options;

/// Exit code, answer and messages of `rtl-convert` with these words, in this folder.
fn run(folder: &Path, line: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-convert"));
    let output = command.args(line.split_whitespace()).current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Every file below a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        match path.is_dir() {
            true => found.extend(files(&path).into_iter().map(|inner| format!("{name}/{inner}"))),
            false => found.push(name),
        }
    }
    found.sort();
    found
}

fn folder_with(options: &Options) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    support::generate(options, &folder.path().join("in.db")).unwrap();
    folder
}

#[test]
fn each_table_with_rows_is_a_file() {
    let folder = folder_with(&Options { ops: 300, api: true, ranges: true, ..Options::default() });
    for ending in ["csv", "parquet"] {
        let (code, answer, messages) = run(folder.path(), &format!("in.db -o out.{ending}"));
        assert_eq!((code, messages.as_str()), (0, ""));
        assert!(answer.starts_with(&format!("Written out.{ending}: ")), "{answer}");
        let expected = ["agents", "api_calls", "kernels", "metadata", "ops", "processes", "ranges"];
        let found = files(&folder.path().join(format!("out.{ending}")));
        assert_eq!(found, expected.map(|name| format!("{name}.{ending}")));
    }
    let csv = std::fs::read_to_string(folder.path().join("out.csv/ops.csv")).unwrap();
    assert!(csv.starts_with("id,kind,name,gpu,queue,stream,pid,rank,tid,start_ns,end_ns,duration_ns,"));
    assert_eq!(csv.lines().count(), 301);
}

#[test]
fn queues_markers_and_calls_have_their_rows_where_there_is_nothing_else() {
    type Put = fn(&drawing::Folder) -> std::path::PathBuf;
    let traces: [(&str, usize, Put); 3] = [
        ("ops", 101, |folder| folder.hundred_queues()),
        ("api_calls", 2, |folder| folder.calls_alone()),
        ("ranges", 0, |folder| folder.story("only-markers")),
    ];
    for (table, count, put) in traces {
        let folder = drawing::Folder::new();
        let path = put(&folder);
        let count = if count == 0 { drawing::rows(&path).ranges.len() } else { count };
        for ending in ["csv", "parquet"] {
            assert_eq!(folder.run(&format!("in.db -o out.{ending}")).0, 0, "{table} {ending}");
            assert!(folder.path(&format!("out.{ending}/{table}.{ending}")).exists(), "{table}");
        }
        let csv = std::fs::read_to_string(folder.path(&format!("out.csv/{table}.csv"))).unwrap();
        assert_eq!(csv.lines().count() - 1, count, "{table}");
        assert!(table != "ops" || csv.lines().skip(1).all(|line| line.contains(",k,5,")), "{csv}");
    }
}

#[test]
fn a_split_is_a_data_set_in_which_every_row_is_once() {
    let folder = folder_with(&Options { ops: 300, gpus: 3, api: true, ..Options::default() });
    let (code, _, messages) = run(folder.path(), "in.db -o out.csv --split gpu");
    assert_eq!((code, messages.as_str()), (0, ""));
    let found = files(&folder.path().join("out.csv"));
    let ops: Vec<&String> = found.iter().filter(|name| name.ends_with("ops.csv")).collect();
    assert_eq!(ops, ["gpu=0/ops.csv", "gpu=1/ops.csv", "gpu=2/ops.csv"]);
    assert!(found.contains(&"gpu=__HIVE_DEFAULT_PARTITION__/api_calls.csv".to_owned()), "{found:?}");
    let lines = |name: &str| {
        std::fs::read_to_string(folder.path().join("out.csv").join(name)).unwrap().lines().count() - 1
    };
    assert_eq!(ops.iter().map(|name| lines(name)).sum::<usize>(), 300);
    assert_eq!(lines("gpu=__HIVE_DEFAULT_PARTITION__/api_calls.csv"), 300);
}

#[test]
fn a_folder_is_replaced_only_when_asked_and_only_if_it_is_ours() {
    let folder = folder_with(&Options { ops: 20, ..Options::default() });
    assert_eq!(run(folder.path(), "in.db -o out.parquet").0, 0);
    let (code, _, messages) = run(folder.path(), "in.db -o out.parquet");
    assert!(code == 2 && messages.contains("--force replaces it"), "{messages}");
    assert_eq!(run(folder.path(), "in.db -o out.parquet --force --split process").0, 0);
    let found = files(&folder.path().join("out.parquet"));
    assert!(found.iter().all(|name| name.starts_with("pid=4242/")), "{found:?}");

    std::fs::write(folder.path().join("out.parquet/notes.txt"), "mine").unwrap();
    let (code, _, messages) = run(folder.path(), "in.db -o out.parquet --force");
    assert!(code == 2 && messages.contains("notes.txt"), "{messages}");
    assert_eq!(std::fs::read_to_string(folder.path().join("out.parquet/notes.txt")).unwrap(), "mine");
    let (code, _, messages) = run(folder.path(), "in.db -o . --to csv --force");
    assert_eq!(code, 2, "{messages}");
    assert!(folder.path().join("in.db").exists());
}

#[test]
fn a_trace_that_cannot_be_read_leaves_no_folder() {
    let folder = folder_with(&Options { ops: 20, ..Options::default() });
    assert_eq!(run(folder.path(), "in.db -o out.parquet --range nowhere").0, 3);
    assert_eq!(files(folder.path()), ["in.db"]);
}
