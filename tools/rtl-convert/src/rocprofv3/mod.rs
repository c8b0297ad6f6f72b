//! rocprofv3's output formats.
//!
//! [`visitor`] turns rows into records; `json`, `csv` and `database` write them. Memory does not grow with the ops.

pub mod csv;
pub mod database;
pub mod devices;
pub mod environment;
pub mod identity;
pub mod json;
pub mod kernels;
pub mod kinds;
pub mod per_process;
pub mod spill_buffer;
pub mod visitor;

use std::io;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, Destination, IfExists};
use cli::Failure;
use rtl_schema::{ProcessId, Select, Tables};
use rtl_write::RocpdWriter;

use crate::format::{Format, Job, Written};
use crate::rows::RowCounts;

use self::csv::Csv;
use self::database::Database;
use self::json::Json;
use self::visitor::{RecordSink, RecordVisitor};

/// One JSON file per process.
pub const JSON: Format = Format {
    name: "rocprofv3-json",
    aliases: &["rocprofv3", "rocprofiler-json"],
    help: "rocprofv3's JSON, one file per process",
    endings: &["_results.json", "_results.json.gz"],
    default_ending: "_results.json",
    partitioned: false,
    write: json,
};

/// A set of CSV files per process.
pub const CSV: Format = Format {
    name: "rocprofv3-csv",
    aliases: &[],
    help: "rocprofv3's CSV files (NAME_kernel_trace.csv, NAME_kernel_stats.csv, ...), one set per process",
    endings: &[],
    default_ending: "",
    partitioned: false,
    write: csv,
};

/// One database for all processes.
pub const ROCPD: Format = Format {
    name: "rocpd",
    aliases: &["rocprofv3-db"],
    help: "rocprofv3's rocpd database, schema 3.0.0",
    endings: &["_results.db"],
    default_ending: "_results.db",
    partitioned: false,
    write: database,
};

fn database(job: &Job<'_>) -> Result<Written, Failure> {
    let output = AtomicFile::create(job.output, &job.rules())?;
    let mut database = Database::new(RocpdWriter::within(output.place(), job.output)?);
    let (visitor, tables) = visit(job, &mut database)?;
    database.finish(&visitor, &tables)?;
    output.commit()?;
    Ok(Written::one(job, visitor.rows))
}

fn json(job: &Job<'_>) -> Result<Written, Failure> {
    let mut json = Json::new(destination(job.output, &job.rules())?);
    let (visitor, tables) = visit(job, &mut json)?;
    let files = json.finish(&visitor, &tables).map_err(|error| unwritten(error, job.output))?;
    publish(job, per_process(files, job.output, &tables), visitor.rows)
}

/// `-o RUN` writes `RUN_kernel_trace.csv` and the others, as rocprofv3's `-o` does; `-o FOLDER/` names files after the
/// pid, as rocprofv3 does without `-o`.
fn csv(job: &Job<'_>) -> Result<Written, Failure> {
    let output = job.output;
    let into_folder = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    let prefix = if into_folder { output.join("") } else { without_end(output) };
    // In a folder every name holds a pid, so this first name is never the final one.
    let rules = match into_folder {
        true => atomic_file::Options { if_exists: IfExists::Replace, ..job.rules() },
        false => job.rules(),
    };
    let mut csv = Csv::new(destination(&named(&prefix, "", "agent_info"), &rules)?, job.render.names);
    let (visitor, tables) = visit(job, &mut csv)?;
    let sets = csv.finish(&visitor, &tables).map_err(|error| unwritten(error, job.output))?;
    let mut words = words(sets.iter().map(|(id, _)| *id), &tables);
    if let [only] = words.as_mut_slice()
        && !into_folder
    {
        only.clear();
    }
    let all = words.iter().zip(sets).flat_map(|(word, (_, files))| {
        let path = |what: &str| named(&prefix, word, what);
        files.into_iter().map(move |(what, file)| (path(&what), file)).collect::<Vec<_>>()
    });
    publish(job, all.collect(), visitor.rows)
}

/// The output without the ending `.csv`.
fn without_end(output: &Path) -> PathBuf {
    match output.extension() {
        Some(end) if end.eq_ignore_ascii_case("csv") => output.with_extension(""),
        _ => output.to_owned(),
    }
}

/// The path of a file: `RUN_4243_kernel_trace.csv`; `prefix` may be a folder.
fn named(prefix: &Path, process: &str, what: &str) -> PathBuf {
    let name = match prefix.as_os_str().as_encoded_bytes().ends_with(b"/") {
        true => String::new(),
        false => prefix.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    };
    let words: Vec<&str> =
        [name.as_str(), process, what].into_iter().filter(|word| !word.is_empty()).collect();
    let file = format!("{}.csv", words.join("_"));
    match name.is_empty() {
        true => prefix.join(file),
        false => prefix.with_file_name(file),
    }
}

/// Passes every record of the trace to `sink`.
fn visit(job: &Job<'_>, sink: &mut impl RecordSink) -> Result<(RecordVisitor, Tables), Failure> {
    let mut visitor = RecordVisitor::new(job.render.names);
    let select = Select { args: !job.render.no_args, ..Select::everything() };
    let failed = |error| unwritten(error, job.output);
    let tables = job.source.stream(&select, |batch| visitor.batch(batch, sink).map_err(failed))?;
    visitor.finish(&tables);
    Ok((visitor, tables))
}

/// The paths of the files of processes: the output for a single process, otherwise names with pids.
fn per_process(
    made: Vec<(ProcessId, AtomicFile)>,
    output: &Path,
    tables: &Tables,
) -> Vec<(PathBuf, AtomicFile)> {
    if made.len() < 2 {
        return made.into_iter().map(|(_, file)| (output.to_owned(), file)).collect();
    }
    let words = words(made.iter().map(|(id, _)| *id), tables);
    words.into_iter().zip(made).map(|(word, (_, file))| (json::path_of(output, &word), file)).collect()
}

/// The part of a file name for each process: its pid if unique, otherwise its number in the trace.
fn words(ids: impl Iterator<Item = ProcessId>, tables: &Tables) -> Vec<String> {
    let pids: Vec<(ProcessId, Option<i64>)> = ids.map(|id| (id, tables.process(id).pid)).collect();
    let alone = |pid: i64| pids.iter().filter(|(_, other)| *other == Some(pid)).count() == 1;
    pids.iter()
        .map(|(id, pid)| match pid {
            Some(pid) if alone(*pid) => pid.to_string(),
            _ => format!("process{}", id.0),
        })
        .collect()
}

/// The first of several outputs, in a folder that exists.
fn destination(path: &Path, rules: &atomic_file::Options<'_>) -> Result<Destination, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is no folder", folder.display()))
            .with_hint("create it, or write elsewhere"));
    }
    Ok(Destination::check(path, rules)?)
}

/// Gives complete files their names.
fn publish(job: &Job<'_>, named: Vec<(PathBuf, AtomicFile)>, rows: RowCounts) -> Result<Written, Failure> {
    let redirect =
        |(path, file): (PathBuf, AtomicFile)| Ok(file.redirect(Destination::check(&path, &job.rules())?));
    let files: Result<Vec<_>, atomic_file::Error> = named.into_iter().map(redirect).collect();
    Ok(Written { paths: AtomicFile::commit_all(files?)?, rows, warnings: Vec::new() })
}

fn unwritten(error: io::Error, path: &Path) -> Failure {
    Failure::input(error)
        .context(format!("cannot write {}", path.display()))
        .with_hint("check that its folder can be written and has room")
}
