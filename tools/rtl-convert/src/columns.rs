//! CSV and Parquet: a folder with one file for each table, partitioned where the trace is split.

use std::fs;
use std::path::{Path, PathBuf};

use atomic_file::AtomicDir;
use cli::Failure;
use column_files::files::{Files, Kind, RowSink};
use column_files::table::Table;

use crate::databases;
use crate::format::{Format, Job, Written};
use crate::partition::{Partition, SplitBy};
use crate::rows::RowCounts;
use crate::split;

pub const CSV: Format = Format {
    name: "csv",
    aliases: &[],
    help: "A folder with a CSV file for each table",
    endings: &[".csv"],
    default_ending: ".csv",
    partitioned: true,
    has_operators: true,
    write: |job| write(job, Kind::Csv),
};

pub const PARQUET: Format = Format {
    name: "parquet",
    aliases: &[],
    help: "A folder with a Parquet file for each table, compressed by zstd",
    endings: &[".parquet"],
    default_ending: ".parquet",
    partitioned: true,
    has_operators: true,
    write: |job| write(job, Kind::Parquet),
};

/// Only these tables have rows that belong to a GPU.
const OF_GPU: [&Table; 2] = [Table::OPS, Table::COUNTERS];

/// The rows of these tables are the rows of a trace that a conversion reports.
const COUNTED: [&Table; 3] = [Table::OPS, Table::API_CALLS, Table::RANGES];

fn write(job: &Job<'_>, kind: Kind) -> Result<Written, Failure> {
    let folder = create(job)?;
    let mut rows = RowCounts::default();
    match job.split {
        None => rows.all = table_files(job, kind, [&folder.place(), job.output], Table::ALL, None)?,
        Some(by) => {
            let mut parts = split::partitions(job.source, by)?;
            let host: Vec<&Table> =
                Table::ALL.iter().copied().filter(|table| !OF_GPU.contains(table)).collect();
            if by == SplitBy::Gpu {
                let rest = Partition::without(by);
                let [path, output] = partition(&folder, job.output, &rest)?;
                rows.all += table_files(job, kind, [&path, &output], &host, Some("gpu"))?;
                parts.retain(|part| part != &rest);
            }
            let tables = if by == SplitBy::Gpu { OF_GPU.as_slice() } else { Table::ALL };
            for part in parts {
                let [path, output] = partition(&folder, job.output, &part)?;
                let column = part.column();
                let job = Job { source: &job.source.part(part), ..*job };
                rows.all += table_files(&job, kind, [&path, &output], tables, Some(column))?;
            }
        }
    }
    folder.commit()?;
    Ok(Written::one(job, rows))
}

/// Writes the files of one folder, given by where it grows and where it will be; returns the number of their ops, calls and ranges.
fn table_files(
    job: &Job<'_>,
    kind: Kind,
    [folder, output]: [&Path; 2],
    tables: &[&'static Table],
    partition: Option<&str>,
) -> Result<u64, Failure> {
    let files = Files { folder, output, kind, tables, partition };
    let rows =
        files.write(|sink: &mut RowSink<'_, Failure>| job.source.stream_to(&databases::select(job), sink))?;
    let counted = |(table, rows)| if COUNTED.contains(table) { rows } else { 0 };
    Ok(tables.iter().zip(rows).map(counted).sum())
}

/// Creates the folder of a part, with a Hive name; returns where it grows and where it will be.
fn partition(folder: &AtomicDir, output: &Path, part: &Partition) -> Result<[PathBuf; 2], Failure> {
    let path = folder.place().join(part.partition());
    fs::create_dir(&path).map_err(Failure::input)?;
    Ok([path, output.join(part.partition())])
}

/// Only what this program wrote is replaced.
fn create(job: &Job<'_>) -> Result<AtomicDir, Failure> {
    let folder = AtomicDir::create(job.output, &job.rules())?;
    match foreign(job.output) {
        None => Ok(folder),
        Some(other) => Err(Failure::usage(format!("{} is not of rtl-convert", other.display()))
            .with_hint("--force replaces only folders that rtl-convert wrote; write to another one")),
    }
}

/// A file or folder at or below `path` that this program does not write.
fn foreign(path: &Path) -> Option<PathBuf> {
    let kind = path.symlink_metadata().ok()?;
    if !kind.is_dir() {
        return Some(path.to_owned());
    }
    let entries = fs::read_dir(path).ok()?.filter_map(Result::ok);
    entries.map(|entry| entry.path()).find_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let is_table = [".csv", ".parquet"].iter().any(|end| name.ends_with(end));
        match path.symlink_metadata().is_ok_and(|kind| kind.is_dir()) {
            true if name.contains('=') => foreign(&path),
            false if is_table => None,
            _ => Some(path),
        }
    })
}
