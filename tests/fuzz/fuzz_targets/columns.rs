//! Any document of rocprofv3's structure: CSV and Parquet have the rows of its tables.
#![no_main]

use std::error::Error;
use std::fs;
use std::path::Path;

use column_files::files::{Files, Kind, RowSink};
use column_files::table::Table;
use columnar::Reader;
use libfuzzer_sys::fuzz_target;
use rtl_schema::{PieceSink, Select, Tables, Trace};
use support::choices;

/// Writes all tables in a format, and compares how many rows each has.
fn check(tables: &Tables, folder: &Path, kind: Kind, rows: fn(&Path) -> usize) {
    let files = Files { folder, output: folder, kind, tables: Table::ALL, partition: None };
    let written = files.write(|sink: &mut RowSink<'_, Box<dyn Error>>| {
        sink.take(&mut tables.clone())?;
        Ok(tables.clone())
    });
    written.unwrap_or_else(|error| panic!("{kind:?}: {error}"));
    for table in Table::ALL {
        let path = folder.join(table.name).with_extension(kind.ending());
        let found = if path.exists() { rows(&path) } else { 0 };
        assert_eq!(found, (table.rows)(tables), "{}", path.display());
    }
}

/// Records behind the header; line breaks within quotes are text.
fn csv_rows(path: &Path) -> usize {
    let text = fs::read_to_string(path).expect("UTF-8");
    let is_end = |is_quoted: &mut bool, letter| {
        *is_quoted ^= letter == '"';
        Some(letter == '\n' && !*is_quoted)
    };
    text.chars().scan(false, is_end).filter(|&is_end| is_end).count() - 1
}

fn parquet_rows(path: &Path) -> usize {
    let file = Reader::open(path).expect("a table");
    (0..file.groups()).map(|group| file.rows(group)).sum()
}

fuzz_target!(|bytes: &[u8]| {
    let path = fuzz::input("trace", choices::rocprofv3(bytes).as_bytes());
    let tables = Trace::open(&path).and_then(|trace| trace.read(&Select::everything()));
    fuzz::count(tables.is_ok());
    if let Ok(tables) = tables {
        fuzz::alone(&[], |path| {
            let folder = path.parent().expect("a folder");
            check(&tables, folder, Kind::Csv, csv_rows);
            check(&tables, folder, Kind::Parquet, parquet_rows);
        });
    }
});
