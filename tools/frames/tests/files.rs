//! What is written reads back, value by value.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::File;
use std::path::Path;

use frames::files::{Files, Kind};
use frames::table::Table;
use polars::prelude::*;
use polars_io::prelude::{CsvReadOptions, ParquetReader, SerReader};
use rtl_schema::table::{Agent, ApiCall, Copy, Direction, Dispatch, Process, Range, Shape, Symbol, Track};
use rtl_schema::{AgentId, NameId, ProcessId, SymbolId, Tables};

const HOSTILE: [&str; 6] =
    ["a \"quoted\", b", "back\\slash\\n", "line\nbreak\r\n\ttab", "\u{1}\u{7f}", "🚀 ядро", " spaces "];

/// Two processes on GPU 5: a kernel of which all is known and one of which nothing is, a copy, a call, a range.
fn trace() -> Tables {
    let mut tables = Tables::default();
    let process = |pid, rank| Process { pid, rank, ..Process::default() };
    tables.processes = vec![process(Some(70), Some(3)), process(None, None)];
    tables.agents = vec![Agent { number: 5, ..Agent::default() }];
    let name = tables.strings.intern("gemm");
    let known = tables.tracks.intern(Track { queue: 2, stream: Some(9), ..Track::default() });
    let unknown = tables.tracks.intern(Track { process: ProcessId(1), ..Track::default() });
    let shape = tables.shapes.intern(Shape {
        lds: Some(64),
        scratch: Some(0),
        ..Shape::from_items([64, 2, 1], [128, 4, 1])
    });
    tables.symbols = vec![Symbol { id: 8, name, vgprs: Some(32), ..Symbol::default() }];
    tables.dispatches.push(Dispatch {
        id: 1,
        name,
        track: known,
        start: 100,
        duration: Some(40),
        tid: Some(71),
        correlation: 6,
        range: 4,
        shape: Some(shape),
        symbol: Some(SymbolId(0)),
        graph: false,
        enqueued: Some(60),
        collective: None,
    });
    let bare = Dispatch { id: 2, name: NameId::NONE, track: unknown, start: 200, ..Dispatch::default() };
    tables.dispatches.push(Dispatch { graph: true, ..bare });
    tables.copies.push(Copy {
        id: 3,
        name: NameId::NONE,
        track: known,
        start: 300,
        duration: Some(-1),
        direction: Direction::HostToDevice,
        bytes: Some(1 << 40),
        destination: Some(AgentId(0)),
        ..Copy::default()
    });
    let call =
        ApiCall { id: 6, name, args: NameId::NONE, start: 90, duration: Some(5), ..ApiCall::default() };
    tables.api_calls.push(ApiCall { domain: NameId::NONE, category: NameId::NONE, correlation: 6, ..call });
    tables.ranges.push(Range { id: 4, name, category: NameId::NONE, start: 80, ..Range::default() });
    tables.info.metadata.push(("tool".to_owned(), "a \"tool\"".to_owned()));
    tables
}

fn written(tables: &Tables, kind: Kind, partition: Option<&str>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Files::new(folder.path(), kind, Table::ALL, partition);
    files.push(tables).unwrap();
    files.finish(tables).unwrap();
    folder
}

fn parquet(folder: &Path, table: &Table) -> DataFrame {
    let path = folder.join(format!("{}.parquet", table.name));
    ParquetReader::new(File::open(path).unwrap()).finish().unwrap()
}

fn csv(folder: &Path, table: &Table) -> DataFrame {
    let path = folder.join(format!("{}.csv", table.name));
    let options = CsvReadOptions::default().with_infer_schema_length(None);
    options.into_reader_with_file_handle(File::open(path).unwrap()).finish().unwrap()
}

fn column(frame: &DataFrame, name: &str) -> Vec<String> {
    let column = frame.column(name).unwrap();
    (0..column.len())
        .map(|row| match column.get(row).unwrap() {
            AnyValue::Null => "-".to_owned(),
            AnyValue::String(text) => text.to_owned(),
            AnyValue::StringOwned(text) => text.to_string(),
            other => other.to_string(),
        })
        .collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_unknown_is_null_in_both_formats() {
    let tables = trace();
    let parquet = parquet(written(&tables, Kind::Parquet, None).path(), Table::OPS);
    let csv = csv(written(&tables, Kind::Csv, None).path(), Table::OPS);
    for ops in [parquet, csv] {
        for (name, expected) in [
            ("id", ["1", "2", "3"]),
            ("kind", ["kernel", "kernel", "copy"]),
            ("graph", ["false", "true", "-"]),
            ("name", ["gemm", "-", "-"]),
            ("gpu", ["5", "5", "5"]),
            ("queue", ["2", "0", "2"]),
            ("stream", ["9", "-", "9"]),
            ("pid", ["70", "-", "70"]),
            ("rank", ["3", "-", "3"]),
            ("tid", ["71", "-", "-"]),
            ("start_ns", ["100", "200", "300"]),
            ("end_ns", ["140", "-", "299"]),
            ("duration_ns", ["40", "-", "-1"]),
            ("enqueued_ns", ["60", "-", "-"]),
            ("correlation_id", ["6", "-", "-"]),
            ("range_id", ["4", "-", "-"]),
            ("grid_x", ["128", "-", "-"]),
            ("grid_y", ["4", "-", "-"]),
            ("workgroup_x", ["64", "-", "-"]),
            ("lds_bytes", ["64", "-", "-"]),
            ("scratch_bytes", ["0", "-", "-"]),
            ("kernel_id", ["8", "-", "-"]),
            ("direction", ["-", "-", "host-to-device"]),
            ("bytes", ["-", "-", "1099511627776"]),
            ("destination_gpu", ["-", "-", "5"]),
        ] {
            assert_eq!(column(&ops, name), expected, "{name}");
        }
    }
}

#[test]
fn columns_have_their_type_whether_they_have_values_or_not() {
    let full = parquet(written(&trace(), Kind::Parquet, None).path(), Table::OPS);
    let empty = parquet(written(&Tables::default(), Kind::Parquet, None).path(), Table::OPS);
    assert_eq!(full.schema(), empty.schema());
    assert_eq!(empty.height(), 0);
    assert_eq!(full.column("bytes").unwrap().dtype(), &DataType::Int64);
    assert_eq!(full.column("start_ns").unwrap().dtype(), &DataType::Int64);
    assert_eq!(full.column("name").unwrap().dtype(), &DataType::String);
}

#[test]
fn a_parquet_file_has_only_types_that_every_reader_knows() {
    let folder = written(&trace(), Kind::Parquet, None);
    let known = [DataType::Int64, DataType::Float64, DataType::Boolean, DataType::String];
    for name in names(folder.path()) {
        let path = folder.path().join(&name);
        let frame = ParquetReader::new(File::open(&path).unwrap()).finish().unwrap();
        for column in frame.columns() {
            assert!(known.contains(column.dtype()), "{name}: {} is {}", column.name(), column.dtype());
        }
        // Arrow's own schema would name string views, which readers of 2023 do not know.
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(12).any(|bytes| bytes == b"ARROW:schema"), "{name}");
    }
}

#[test]
fn an_address_above_the_signed_integers_keeps_its_bits() {
    let mut tables = trace();
    tables.copies[0].source_address = Some(u64::MAX - 1);
    let read = parquet(written(&tables, Kind::Parquet, None).path(), Table::OPS);
    assert_eq!(column(&read, "source_address")[2], "-2");
}

#[test]
fn tables_without_rows_have_no_file() {
    let folder = written(&trace(), Kind::Parquet, None);
    let expected = ["agents", "api_calls", "kernels", "metadata", "ops", "processes", "ranges"]
        .map(|name| format!("{name}.parquet"));
    assert_eq!(names(folder.path()), expected);
    assert_eq!(names(written(&Tables::default(), Kind::Csv, None).path()), ["ops.csv"]);
}

#[test]
fn the_column_that_the_folder_says_is_in_no_file() {
    let folder = written(&trace(), Kind::Parquet, Some("gpu"));
    assert!(parquet(folder.path(), Table::OPS).column("gpu").is_err());
    assert!(parquet(folder.path(), Table::API_CALLS).column("pid").is_ok());
}

#[test]
fn any_text_reads_back_from_both_formats() {
    let mut tables = Tables::default();
    tables.processes.push(Process::default());
    tables.agents.push(Agent::default());
    let track = tables.tracks.intern(Track::default());
    let long = "x".repeat(64 << 10);
    let texts: Vec<&str> = HOSTILE.into_iter().chain([long.as_str()]).collect();
    for text in &texts {
        let name = tables.strings.intern(text);
        tables.dispatches.push(Dispatch { name, track, duration: Some(1), ..Dispatch::default() });
    }
    let read = parquet(written(&tables, Kind::Parquet, None).path(), Table::OPS);
    assert_eq!(column(&read, "name"), texts);
    let read = csv(written(&tables, Kind::Csv, None).path(), Table::OPS);
    assert_eq!(column(&read, "name"), texts);
}

#[test]
fn a_long_table_is_written_in_groups_of_rows_and_reads_as_one() {
    let mut tables = Tables::default();
    tables.processes.push(Process::default());
    tables.agents.push(Agent::default());
    let track = tables.tracks.intern(Track::default());
    let names = ["gemm", "add", "copy"].map(|name| tables.strings.intern(name));
    for row in 0..70_000_i64 {
        let name = names[row as usize % 3];
        tables.dispatches.push(Dispatch {
            id: row,
            name,
            track,
            start: row,
            duration: Some(1),
            ..Dispatch::default()
        });
    }
    let folder = written(&tables, Kind::Parquet, None);
    let read = parquet(folder.path(), Table::OPS);
    let ids = read.column("id").unwrap().i64().unwrap().clone();
    assert_eq!(ids.iter().collect::<Vec<_>>(), (0..70_000).map(Some).collect::<Vec<_>>());
    let names = read.column("name").unwrap().str().unwrap().clone();
    assert_eq!(names.get(69_999), Some("gemm"));
    assert_eq!(names.get(65_537), Some("copy"));
}
