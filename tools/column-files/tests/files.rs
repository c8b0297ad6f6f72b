//! Written tables read back, value by value.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use column_files::files::{Files, Kind, RowSink};
use column_files::table::Table;
use column_files::{Piece, Selected};
use columnar::{Data, Reader, Type, Values};
use rtl_schema::table::{
    Agent, ApiArgument, ApiCall, Copy, Details, Direction, Dispatch, Process, Range, Shape, Symbol, Track,
};
use rtl_schema::{AgentId, NameId, PieceSink, ProcessId, SymbolId, Tables, TrackId};

type Failure = Box<dyn std::error::Error>;

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
        details: Details::with_enqueued(Some(60)),
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
    let files = Files { folder: folder.path(), output: folder.path(), kind, tables: Table::ALL, partition };
    let read = |sink: &mut RowSink<'_, Failure>| {
        sink.take(&mut tables.clone())?;
        Ok(tables.clone())
    };
    files.write(read).unwrap();
    folder
}

/// A table as a file has it: its columns, and the text of every value, `-` where it is null.
struct Read {
    fields: Vec<(String, Option<Type>)>,
    columns: Vec<Vec<String>>,
}

impl Read {
    fn column(&self, name: &str) -> &[String] {
        let position = self.fields.iter().position(|(field, _)| field == name);
        &self.columns[position.unwrap_or_else(|| panic!("no column {name}"))]
    }

    fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(field, _)| field == name)
    }

    fn kind(&self, name: &str) -> Type {
        self.fields.iter().find(|(field, _)| field == name).unwrap().1.unwrap()
    }
}

fn parquet(folder: &Path, table: &Table) -> Read {
    let file = Reader::open(&folder.join(table.name).with_extension("parquet")).unwrap();
    let fields = file.fields().iter().map(|field| (field.name.clone(), Some(field.kind))).collect();
    let column = |column| {
        let groups = (0..file.groups()).map(|group| (file.rows(group), file.read(group, column).unwrap()));
        groups
            .flat_map(|(rows, values)| (0..rows).map(move |row| text(&values, row)).collect::<Vec<_>>())
            .collect()
    };
    let columns = (0..file.fields().len()).map(column).collect();
    Read { fields, columns }
}

fn text(values: &Values, row: usize) -> String {
    if !values.is_known(row) {
        return "-".to_owned();
    }
    match &values.data {
        Data::Bools(values) => values[row].to_string(),
        Data::Integers(values) => values[row].to_string(),
        Data::Floats(values) => values[row].to_string(),
        Data::Texts(values) => values[row].as_str().unwrap().to_owned(),
    }
}

fn csv(folder: &Path, table: &Table) -> Read {
    let mut file = csv::Reader::from_path(folder.join(table.name).with_extension("csv")).unwrap();
    let fields: Vec<_> = file.headers().unwrap().iter().map(|name| (name.to_owned(), None)).collect();
    let mut columns = vec![Vec::new(); fields.len()];
    for row in file.records() {
        for (column, value) in columns.iter_mut().zip(row.unwrap().iter()) {
            column.push(if value.is_empty() { "-" } else { value }.to_owned());
        }
    }
    Read { fields, columns }
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
            assert_eq!(ops.column(name), expected, "{name}");
        }
    }
}

#[test]
fn some_columns_are_those_among_all() {
    let tables = trace();
    for table in Table::ALL {
        let columns = |columns| {
            let piece = Piece { rows: &tables, references: &tables, columns };
            (table.columns)(piece, 0..(table.rows)(&tables))
        };
        let all = columns(Selected::ALL);
        for count in [1, 2, 5, all.len()] {
            let firsts = (0..all.len()).step_by(count);
            let some: Vec<_> = firsts.flat_map(|first| columns(Selected { first, count })).collect();
            assert_eq!(some, all, "{}: {count} columns at a time", table.name);
        }
    }
}

#[test]
fn columns_have_their_type_whether_they_have_values_or_not() {
    let full = parquet(written(&trace(), Kind::Parquet, None).path(), Table::OPS);
    let empty = parquet(written(&Tables::default(), Kind::Parquet, None).path(), Table::OPS);
    assert_eq!(full.fields, empty.fields);
    assert!(empty.columns.iter().all(Vec::is_empty));
    assert_eq!(full.kind("bytes"), Type::Integer);
    assert_eq!(full.kind("graph"), Type::Bool);
    assert_eq!(full.kind("name"), Type::Text);
}

#[test]
fn a_parquet_file_has_no_schema_of_arrow() {
    let folder = written(&trace(), Kind::Parquet, None);
    for name in names(folder.path()) {
        // It could name types, such as string views, that readers of 2023 do not know.
        let bytes = std::fs::read(folder.path().join(&name)).unwrap();
        assert!(!bytes.windows(12).any(|bytes| bytes == b"ARROW:schema"), "{name}");
    }
}

#[test]
fn an_address_above_the_signed_integers_keeps_its_bits() {
    let mut tables = trace();
    tables.copies[0].source_address = Some(u64::MAX - 1);
    let read = parquet(written(&tables, Kind::Parquet, None).path(), Table::OPS);
    assert_eq!(read.column("source_address")[2], "-2");
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
    assert!(!parquet(folder.path(), Table::OPS).has("gpu"));
    assert!(parquet(folder.path(), Table::API_CALLS).has("pid"));
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
    assert_eq!(read.column("name"), texts);
    let read = csv(written(&tables, Kind::Csv, None).path(), Table::OPS);
    assert_eq!(read.column("name"), texts);
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
    let ids: Vec<String> = (0..70_000).map(|id| id.to_string()).collect();
    assert_eq!(read.column("id"), ids);
    assert_eq!(read.column("name")[65_537], "copy");
    assert_eq!(read.column("name")[69_999], "gemm");
}

/// Ops, ranges and calls with arguments in the pieces that begin at these rows. Later pieces have names of their own.
fn in_pieces(begins: &[i64], kind: Kind, partition: Option<&str>) -> tempfile::TempDir {
    const ROWS: i64 = 140_000;
    let folder = tempfile::tempdir().unwrap();
    let files = Files { folder: folder.path(), output: folder.path(), kind, tables: Table::ALL, partition };
    let read = |sink: &mut RowSink<'_, Failure>| {
        let mut tables = Tables::default();
        tables.processes.push(Process::default());
        tables.agents.push(Agent::default());
        for row in 0..70_000_i64 {
            let name = tables.strings.intern(["launch", "copy"][row as usize % 2]);
            tables.api_calls.push(ApiCall { id: row, name, start: row, ..ApiCall::default() });
            let argument = ApiArgument { call: row as u32, position: 1, kind: name, name, value: name };
            tables.api_calls.arguments.push(argument);
        }
        for row in 0..ROWS {
            if row == 0 || begins.contains(&row) {
                sink.take(&mut tables)?;
            }
            let name = tables.strings.intern(&format!("kernel {}", row / 20_000));
            let track = tables.tracks.intern(Track { queue: row / 30_000, ..Track::default() });
            // All of the first rows are known, of later ones some.
            let tid = (row < 500 || row % 3 == 0).then_some(row);
            tables.dispatches.push(Dispatch { id: row, name, track, start: row, tid, ..Dispatch::default() });
            if row % 2 == 0 {
                tables.ranges.push(Range { id: row, name, start: row, ..Range::default() });
            }
        }
        sink.take(&mut tables)?;
        Ok(tables)
    };
    let rows = files.write(read).unwrap();
    let count = |table: &Table| rows[Table::ALL.iter().position(|other| *other == table).unwrap()];
    let counts =
        [Table::OPS, Table::RANGES, Table::API_CALLS, Table::API_ARGUMENTS, Table::AGENTS].map(count);
    assert_eq!(counts, [140_000, 70_000, 70_000, 70_000, 1]);
    folder
}

#[test]
fn pieces_of_any_size_make_the_same_files() {
    for (kind, partition) in [(Kind::Parquet, None), (Kind::Parquet, Some("gpu")), (Kind::Csv, None)] {
        let one = in_pieces(&[], kind, partition);
        let expected = names(one.path());
        // Of one row, of as many as a row group has, across the end of one, of some hundreds and of thousands.
        let some: Vec<i64> = (70_000..90_000).step_by(300).chain((90_000..140_000).step_by(7_000)).collect();
        for begins in [&[500, 501, 65_536, 65_540, 131_076][..], &[65_000, 131_072], &some] {
            let pieces = in_pieces(begins, kind, partition);
            assert_eq!(names(pieces.path()), expected);
            for name in &expected {
                let bytes = |folder: &Path| std::fs::read(folder.join(name)).unwrap();
                assert!(bytes(one.path()) == bytes(pieces.path()), "{name}: pieces at {begins:?}");
            }
        }
    }
}

#[test]
fn row_groups_have_their_length_wherever_pieces_end() {
    let folder = in_pieces(&[1, 65_000, 70_000], Kind::Parquet, None);
    let groups = |table: &Table| {
        let file = Reader::open(&folder.path().join(table.name).with_extension("parquet")).unwrap();
        (0..file.groups()).map(|group| file.rows(group)).collect::<Vec<_>>()
    };
    assert_eq!(groups(Table::OPS), [65_536, 65_536, 8_928]);
    assert_eq!(groups(Table::RANGES), [65_536, 4_464]);
    assert_eq!(groups(Table::API_ARGUMENTS), [65_536, 4_464]);
}

#[test]
fn after_an_error_no_more_pieces_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ops.parquet"), "").unwrap();
    let (folder, output) = (folder.path(), Path::new("out.parquet"));
    let files = Files { folder, output, kind: Kind::Parquet, tables: Table::ALL, partition: None };
    let mut pieces = 0;
    let read = |sink: &mut RowSink<'_, Failure>| {
        let mut tables = trace();
        loop {
            pieces += 1;
            let bare = Dispatch { track: TrackId(0), ..Dispatch::default() };
            (0..20_000).for_each(|_| tables.dispatches.push(bare));
            sink.take(&mut tables)?;
        }
    };
    let failed = files.write(read).unwrap_err();
    assert_eq!(failed.to_string(), "cannot write out.parquet/ops.parquet");
    assert_eq!(pieces, 4);
}

#[test]
fn a_file_that_cannot_be_created_is_named_where_it_would_be() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("ops.csv"), "").unwrap();
    let output = Path::new("out.csv");
    let files = Files { folder: folder.path(), output, kind: Kind::Csv, tables: Table::ALL, partition: None };
    let failed = files.write(|_| Ok::<_, Failure>(trace())).unwrap_err();
    assert_eq!(failed.to_string(), "cannot write out.csv/ops.csv");
}

#[test]
fn the_empty_text_is_not_null_in_csv() {
    let mut tables = Tables::default();
    tables.info.metadata.push((String::new(), "value".to_owned()));
    let folder = written(&tables, Kind::Csv, None);
    let file = std::fs::read_to_string(folder.path().join("metadata.csv")).unwrap();
    assert_eq!(file, "tag,value\n\"\",value\n");
}
