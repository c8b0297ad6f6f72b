//! Every column of every table passes through every reader and writer that claims it. The columns come from the declarations of
//! `rtl_schema::table`, so that a column which is added and forgotten in one place fails here.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod compared;
mod engine;
mod filled;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rtl_convert::formats;
use rtl_merge::args::ClockOptions;
use rtl_schema::{Select, Tables, Trace};
use rtl_write::{NativeWriter, TraceImport};

use crate::compared::{Columns, columns};
use crate::filled::{Fill, Values};

/// A column, by its table.
type Column = (&'static str, &'static str);

/// Tables with the columns that a format keeps.
type Claims = &'static [(&'static str, &'static str)];

fn written(tables: &Tables, path: &Path) {
    let mut writer = NativeWriter::create(path).unwrap();
    writer.push_tables(tables).unwrap();
    writer.finish().unwrap();
}

fn read(path: &Path) -> Tables {
    dataset::read_as_traces();
    Trace::open(path).unwrap().read(&Select::everything()).unwrap()
}

/// Reads and writes a native file piece by piece.
fn streamed(path: &Path, copy: &Path) {
    let mut writer = NativeWriter::create(copy).unwrap();
    let mut incoming = TraceImport::default();
    let last = Trace::open(path).unwrap();
    let last = last.stream(&Select::everything(), |piece| incoming.push(&mut writer, piece)).unwrap();
    incoming.finish(&mut writer, &last).unwrap();
    writer.finish().unwrap();
}

fn merged(path: &Path, output: &Path) {
    merged_with(path, output, ClockOptions::default());
}

fn merged_with(path: &Path, output: &Path, clock: ClockOptions) {
    let options = rtl_merge::args::Options {
        traces: vec![path.to_owned()],
        output: Some(output.to_owned()),
        clock,
        ..Default::default()
    };
    let mut out = cli::Output::new("rtl-merge", Box::new(std::io::sink()), Box::new(std::io::sink()));
    rtl_merge::merge(&options, &mut out).unwrap();
}

/// Converts a trace; the result is the file that readers open.
fn converted(path: &Path, format: &str, output: &Path) -> PathBuf {
    let format = formats::FORMATS.iter().find(|known| known.name == format).unwrap();
    let converted = rtl_convert::convert(&rtl_convert::Options::new(path, format, output)).unwrap();
    converted.outputs[0].paths[0].clone()
}

/// Native files keep every column, and merging them all but these, which it numbers anew for the merged trace.
const LOST_BY_MERGING: [Column; 3] = [("agents", "node"), ("agents", "process"), ("processes", "node")];

/// The columns that files of other tools keep as they are. One that is added to a format belongs here too.
const KEPT: [(&str, &str, Claims); 3] = [
    (
        "rpd",
        "out.rpd",
        &[
            ("api_calls", "args category correlation domain duration name process start tid"),
            ("api_launches", "addresses bytes call devices direction extent kernel pinned stream sync"),
            ("barriers", "correlation duration name start"),
            ("copies", "correlation direction duration name start tid"),
            ("counters", "dispatch name process value"),
            ("dispatches", "correlation duration graph name start tid"),
            ("monitors", "device device_kind end name start value"),
            ("processes", "pid space"),
            ("ranges", "category duration id name process start tid"),
            ("stack_frames", "call depth name"),
        ],
    ),
    (
        "rocpd",
        "out_results.db",
        &[
            (
                "allocations",
                "address agent bytes correlation duration flags kind level process queue start stream tid",
            ),
            ("api_arguments", "call kind name position value"),
            ("api_calls", "correlation duration name process result start tid"),
            (
                "copies",
                "bytes correlation destination destination_address direction duration source source_address start tid",
            ),
            ("dispatches", "correlation duration name shape start tid"),
            ("processes", "command end host machine_id pid ppid rank space start world"),
            ("ranges", "correlation duration id kind name process start tid"),
            ("threads", "name process tid"),
        ],
    ),
    (
        "rocprofv3-json",
        "out_results.json",
        &[
            ("allocations", "address agent bytes correlation duration kind level process start stream tid"),
            ("api_arguments", "call kind name value"),
            ("api_calls", "correlation duration name parent process result start stream tid"),
            ("copies", "bytes correlation destination direction duration source start tid"),
            ("dispatches", "correlation duration graph name shape start tid"),
            ("processes", "command end host machine_id pid ppid rank space start world"),
            ("ranges", "correlation duration id kind name process start tid"),
        ],
    ),
];

/// Data sets keep every column but these.
const LOST_BY_DATA_SETS: Claims = &[
    ("allocations", "flags"),
    ("api_arguments", "call kind name position value"),
    ("api_calls", "category"),
    ("api_launches", "addresses bytes call devices direction extent kernel pinned shape stream sync"),
    ("barriers", "track"),
    ("copies", "track"),
    ("dispatches", "symbol track"),
    ("monitors", "device device_kind end id name start value"),
    ("operators", "strides values"),
    ("processes", "environment"),
    ("spans", "agent duration id kind name process start stream"),
    ("stack_frames", "call depth name"),
    (
        "symbols",
        "address agprs code_object entry_offset id kernarg kernarg_alignment kernel_object lds mangled name process scratch sgprs vgprs",
    ),
];

/// The columns whose values differ.
fn lost(before: &Columns, after: &Columns) -> BTreeSet<Column> {
    before
        .iter()
        .filter(|(column, values)| after.get(column) != Some(values))
        .map(|(&column, _)| column)
        .collect()
}

#[test]
fn native_files_keep_every_column_and_merges_all_but_those_that_they_number() {
    let folder = tempfile::tempdir().unwrap();
    for values in [Values::Distinct, Values::Equal] {
        let tables = Fill { processes: 2, values, ..Fill::default() }.tables();
        let before = columns(&tables);
        let [source, copy, merge] =
            ["in", "streamed", "merged"].map(|name| folder.path().join(format!("{name}-{values:?}.db")));
        written(&tables, &source);
        streamed(&source, &copy);
        merged(&source, &merge);
        let none = BTreeSet::new();
        assert_eq!(lost(&before, &columns(&read(&source))), none, "{values:?} values in a native file");
        assert_eq!(lost(&before, &columns(&read(&copy))), none, "{values:?} values written in pieces");
        assert_eq!(
            lost(&before, &columns(&read(&merge))),
            LOST_BY_MERGING.into(),
            "{values:?} values merged"
        );
    }
}

#[test]
fn an_offset_of_clocks_moves_every_moment_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let [source, merge] = ["in.db", "merged.db"].map(|name| folder.path().join(name));
    let usual = Fill::default();
    written(&usual.tables(), &source);
    let later = 7_000_000;
    merged_with(&source, &merge, ClockOptions { offset: vec![format!("1={later}")], ..Default::default() });
    let expected = columns(&Fill { later, ..usual }.tables());
    assert_eq!(lost(&expected, &columns(&read(&merge))), LOST_BY_MERGING.into());
}

#[test]
fn other_formats_keep_the_columns_that_they_claim() {
    let folder = tempfile::tempdir().unwrap();
    for values in [Values::Distinct, Values::Equal] {
        // Several processes have a file each in some formats.
        let tables = Fill { values, ..Fill::default() }.tables();
        let before = columns(&tables);
        let source = folder.path().join(format!("{values:?}.db"));
        written(&tables, &source);
        for (format, name, claims) in KEPT {
            let path = converted(&source, format, &folder.path().join(format!("{values:?}-{name}")));
            let lost = lost(&before, &columns(&read(&path)));
            let broken: Vec<Column> = claimed(claims)
                .filter(|column| lost.contains(column) || !before.contains_key(column))
                .collect();
            assert_eq!(broken, [], "{values:?} values in {format}");
        }
        let set = converted(&source, "dataset", &folder.path().join(format!("{values:?}-set")));
        let lost = lost(&before, &columns(&read(&set)));
        assert_eq!(lost, claimed(LOST_BY_DATA_SETS).collect(), "{values:?} values in a data set");
    }
}

/// Tables of which engines show nothing.
const NO_TABLES_OF_ENGINES: [&str; 8] = [
    "api_arguments",
    "api_launches",
    "memory_events",
    "monitors",
    "python_frames",
    "spans",
    "stack_frames",
    "threads",
];

/// Columns of other tables that engines do not show.
const NO_COLUMNS_OF_ENGINES: Claims = &[
    ("agents", "absolute_index details kind logical_index process type_index"),
    ("allocations", "flags id"),
    ("api_calls", "category"),
    ("operators", "id strides values"),
    ("processes", "boot_id environment guid machine_id space"),
    (
        "symbols",
        "address code_object entry_offset id kernarg kernarg_alignment kernel_object lds mangled name process scratch",
    ),
];

/// Columns that CSV and Parquet files do not show.
const NO_COLUMNS_OF_FILES: Claims = &[
    ("agents", "kind"),
    ("allocations", "id"),
    ("dispatches", "collective"),
    ("memory_events", "id"),
    ("monitors", "id"),
    ("operators", "id"),
    ("python_frames", "id"),
    ("spans", "id"),
];

/// The columns of claims.
fn claimed(claims: Claims) -> impl Iterator<Item = Column> {
    claims.iter().flat_map(|&(table, names)| names.split(' ').map(move |name| (table, name)))
}

/// The columns whose values `printed` does not depend on.
fn hidden<T: PartialEq>(printed: impl Fn(Tables) -> T) -> BTreeSet<Column> {
    let fill = Fill { rows: 60, processes: 4, ..Fill::default() };
    let usual = printed(fill.tables());
    let all = columns(&fill.tables()).into_keys();
    all.filter(|&column| printed(Fill { changed: Some(column), ..fill }.tables()) == usual).collect()
}

#[test]
fn engines_show_every_column_but_these() {
    let mut hidden = hidden(engine::printed);
    hidden.retain(|(table, _)| !NO_TABLES_OF_ENGINES.contains(table));
    assert_eq!(hidden, claimed(NO_COLUMNS_OF_ENGINES).collect());
}

#[test]
fn column_files_show_every_column_but_these() {
    let folder = tempfile::tempdir().unwrap();
    let count = std::cell::Cell::new(0);
    let hidden = hidden(|tables| {
        count.set(count.get() + 1);
        let [source, output] =
            ["db", "csv"].map(|kind| folder.path().join(format!("{}.{kind}", count.get())));
        written(&tables, &source);
        converted(&source, "csv", &output);
        let mut files: Vec<_> =
            std::fs::read_dir(&output).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|file| std::fs::read(file).unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(hidden, claimed(NO_COLUMNS_OF_FILES).collect());
}
