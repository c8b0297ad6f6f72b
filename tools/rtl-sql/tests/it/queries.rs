//! Every query of `sql/queries/` has a twin for rtl-sql in `sql/duckdb/`, which answers the same as SQLite.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use support::rusqlite::types::ValueRef;
use support::rusqlite::{Connection, OpenFlags};

use crate::rows;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sql").join(name)
}

/// The names of all queries.
fn names() -> Vec<String> {
    let files = fs::read_dir(folder("queries")).unwrap().map(|file| file.unwrap().path());
    let mut names: Vec<String> =
        files.map(|path| path.file_stem().unwrap().to_string_lossy().into()).collect();
    names.sort();
    names
}

/// The rows of SQLite, as objects; `None` where the file lacks a table of the query.
fn by_sqlite(path: &Path, query: &str) -> Option<Vec<Map<String, Value>>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut statement = connection.prepare(query).ok()?;
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let rows = statement.query_map([], |row| {
        let value = |at: usize| match row.get_ref(at).unwrap() {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(value) => json!(value),
            ValueRef::Real(value) => json!(value),
            ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
            ValueRef::Blob(_) => unreachable!("no query returns one"),
        };
        Ok(columns.iter().enumerate().map(|(at, name)| (name.clone(), value(at))).collect())
    });
    Some(rows.unwrap().map(Result::unwrap).collect())
}

/// A value to compare: a truth is a number, numbers are equal to nine digits.
fn comparable(value: &Value) -> String {
    match value {
        Value::Bool(is) => comparable(&json!(i32::from(*is))),
        Value::Number(number) => match number.as_i64() {
            Some(number) => number.to_string(),
            None => match number.as_f64().unwrap() {
                whole if whole.fract() == 0.0 => format!("{whole}"),
                number => format!("{number:.8e}"),
            },
        },
        other => other.to_string(),
    }
}

/// The rows with the columns that both have, sorted: equal totals leave the order open.
fn sorted<'a>(rows: impl IntoIterator<Item = &'a Map<String, Value>>, columns: &[String]) -> Vec<String> {
    let text = |row: &Map<String, Value>| {
        let cells = columns.iter().map(|column| format!("{column}={}", comparable(&row[column])));
        cells.collect::<Vec<_>>().join(" ")
    };
    let mut rows: Vec<String> = rows.into_iter().map(text).collect();
    rows.sort();
    rows
}

/// Compares every query on a trace; returns how many rows were compared, or `None` without DuckDB.
fn compare(path: &Path, left_out: &[&str]) -> Option<usize> {
    let mut compared = 0;
    for name in names().iter().filter(|name| !left_out.contains(&name.as_str())) {
        let query = fs::read_to_string(folder("queries").join(format!("{name}.sql"))).unwrap();
        let twin = fs::read_to_string(folder("duckdb").join(format!("{name}.sql"))).unwrap();
        let ours = rows(&[path], &twin)?;
        let ours: Vec<Map<String, Value>> =
            ours.into_iter().map(|row| row.as_object().unwrap().clone()).collect();
        let Some(mut theirs) = by_sqlite(path, &query) else { continue };
        if name == "suspicious" {
            // Readers leave out rows without a start, and rtl-summary alone counts duplicates.
            theirs.retain(|row| !["no start", "duplicate"].contains(&row["finding"].as_str().unwrap()));
        }
        let both = |column: &&String| ours.first().is_some_and(|row| row.contains_key(*column));
        let columns: Vec<String> =
            theirs.first().into_iter().flat_map(Map::keys).filter(both).cloned().collect();
        assert_eq!(theirs.len(), ours.len(), "{name} on {}", path.display());
        assert_eq!(sorted(&theirs, &columns), sorted(&ours, &columns), "{name} on {}", path.display());
        assert!(columns.len() >= 2 || ours.is_empty(), "{name} has the columns {columns:?}");
        compared += ours.len();
    }
    Some(compared)
}

#[test]
fn every_query_has_a_twin() {
    for name in names() {
        assert!(folder("duckdb").join(format!("{name}.sql")).is_file(), "{name}");
    }
}

#[test]
fn twins_answer_as_sqlite_on_fixtures() {
    for name in
        ["two-kernels", "copies-both-ways", "eight-gpus", "gaps", "overlap-two-queues", "ranges-nested"]
    {
        let Some(_) = compare(&support::fixture(name), &[]) else { return };
    }
}

#[test]
fn twins_answer_as_sqlite_on_generated_traces() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.db");
    let options = support::Options {
        ops: 20_000,
        gpus: 3,
        kernels: 60,
        api: true,
        ranges: true,
        ..support::Options::default()
    };
    support::generate(&options, &path).unwrap();
    let Some(compared) = compare(&path, &[]) else { return };
    assert!(compared > 100, "{compared} rows");
}
