//! The program as its users meet it, its tables beside those of the readers, and its queries beside SQLite.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cookbook;
mod data_sets;
mod formats;
mod queries;
mod ranks;
mod refusals;
mod spill;
mod summary;
mod tables;

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The result of one call of the program.
struct Run {
    code: i32,
    answer: String,
    messages: String,
}

/// Runs the program in a folder; `None` where the machine has no DuckDB.
fn run_in(folder: &Path, arguments: &[&str]) -> Option<Run> {
    if let Err(error) = duckdb::load() {
        return support::skipped(support::Need::Duckdb, error);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_rtl-sql"));
    let output = command.current_dir(folder).env_remove("COLUMNS").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Some(Run {
        code: output.status.code().unwrap(),
        answer: text(output.stdout),
        messages: text(output.stderr),
    })
}

fn run(arguments: &[&str]) -> Option<Run> {
    run_in(Path::new("."), arguments)
}

/// The rows of a query on traces; `None` where the machine has no DuckDB.
fn rows(traces: &[&Path], query: &str) -> Option<Vec<Value>> {
    rows_with(traces, query, &[])
}

/// As [`rows`], with values of parameters, as `name=value`.
fn rows_with(traces: &[&Path], query: &str, parameters: &[String]) -> Option<Vec<Value>> {
    let mut arguments: Vec<&str> = traces.iter().map(|trace| trace.to_str().unwrap()).collect();
    arguments.extend(parameters.iter().flat_map(|parameter| ["-p", parameter]));
    // A query may begin with a comment.
    arguments.extend(["--to", "json", "--", query]);
    let run = run(&arguments)?;
    assert_eq!((run.code, run.messages.as_str()), (0, ""), "{query}");
    let mut document: Value = serde_json::from_str(&run.answer).unwrap();
    Some(serde_json::from_value(document["rows"].take()).unwrap())
}
