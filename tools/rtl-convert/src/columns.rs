//! A trace as columns: a folder with a CSV or Parquet file for each table, partitioned where the trace is split.

use std::io;
use std::path::Path;

use cli::Failure;
use frames::PolarsError;
use frames::files::{Files, Kind};
use frames::table::Table;
use rtl_schema::Tables;

use crate::args::Arguments;
use crate::database;
use crate::folder::OutputFolder;
use crate::rows::RowCounts;
use crate::source::Source;
use crate::split::{self, Partition, SplitBy};

/// What belongs to a GPU; calls, ranges and the rest belong to none.
const OF_GPU: [Table; 2] = [Table::Ops, Table::Counters];

/// Writes the folder.
///
/// # Errors
/// Where the trace cannot be read or split, the folder exists and may not be replaced, or a file cannot grow; nothing
/// appears then.
pub fn write(source: &Source, arguments: &Arguments, kind: Kind) -> Result<RowCounts, Failure> {
    let folder = OutputFolder::create(&arguments.output(), arguments.force, &arguments.trace)?;
    let mut rows = RowCounts::default();
    match arguments.split {
        None => rows.all = table_files(source, arguments, kind, &folder.path(), &Table::ALL, None)?,
        Some(by) => {
            let mut parts = split::parts(source, by)?;
            let host: Vec<Table> = Table::ALL.into_iter().filter(|table| !OF_GPU.contains(table)).collect();
            if by == SplitBy::Gpu {
                let rest = Partition::without(by);
                let path = partition(&folder, &rest)?;
                rows.all += table_files(source, arguments, kind, &path, &host, Some("gpu"))?;
                parts.retain(|part| part != &rest);
            }
            let tables = if by == SplitBy::Gpu { OF_GPU.as_slice() } else { &Table::ALL };
            for part in parts {
                let path = partition(&folder, &part)?;
                let column = part.column();
                rows.all += table_files(&source.part(part), arguments, kind, &path, tables, Some(column))?;
            }
        }
    }
    folder.finish()?;
    Ok(rows)
}

/// Writes the files of one folder and returns how many ops, calls and ranges they have.
fn table_files(
    source: &Source,
    arguments: &Arguments,
    kind: Kind,
    path: &Path,
    tables: &[Table],
    partition: Option<&str>,
) -> Result<u64, Failure> {
    let mut files = Files::new(path, kind, tables, partition);
    let mut rows = 0;
    let (last, _) = database::stream(source, arguments, |piece| {
        rows += counted(piece, tables);
        files.piece(piece).map_err(unwritten)
    })?;
    files.finish(&last).map_err(|error| {
        Failure::input(unwritten(error)).context(format!("cannot write {}", arguments.output().display()))
    })?;
    Ok(rows)
}

fn counted(piece: &Tables, tables: &[Table]) -> u64 {
    let counted = [Table::Ops, Table::ApiCalls, Table::Ranges];
    counted.iter().filter(|table| tables.contains(table)).map(|table| table.rows(piece) as u64).sum()
}

/// The folder of a part, as Hive names it.
fn partition(folder: &OutputFolder, part: &Partition) -> Result<std::path::PathBuf, Failure> {
    let path = folder.path().join(part.partition());
    std::fs::create_dir(&path).map_err(Failure::input)?;
    Ok(path)
}

fn unwritten(error: PolarsError) -> io::Error {
    io::Error::other(error)
}
