//! A trace as rocprofv3 would have written it.
//!
//! [`visitor`] turns rows into records, one process after the other in what they refer to; `json`, `csv` and
//! `database` write them.
//! Memory does not grow with the ops.

pub mod csv;
pub mod database;
pub mod devices;
pub mod environment;
mod files;
pub mod identity;
pub mod json;
pub mod kernels;
pub mod kinds;
pub mod spill_buffer;
pub mod text;
pub mod visitor;

use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_schema::write::RocpdWriter;
use rtl_schema::{ProcessId, Select, Tables};
use tempfile::NamedTempFile;

use crate::format::{Format, Job, Written};
use crate::output_file::OutputFile;
use crate::source::read_failure;

use self::csv::Csv;
use self::database::Database;
use self::files::Files;
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
    let output = OutputFile::create(job)?;
    let file = RocpdWriter::within(output.path(), job.output).map_err(read_failure)?;
    let mut database = Database::new(file);
    let (visitor, tables) = visit(job, &mut database)?;
    database.finish(&visitor, &tables).map_err(read_failure)?;
    output.finish()?;
    Ok(Written::one(job, visitor.rows))
}

fn json(job: &Job<'_>) -> Result<Written, Failure> {
    let output = job.output;
    let files = Files::beside(output, job)?;
    files.check(output)?;
    let compressed = output.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let mut json = Json::new(files.folder(), compressed);
    let (visitor, tables) = visit(job, &mut json)?;
    let made = json.finish(&visitor, &tables).map_err(|error| files::unwritten(error, output))?;
    let paths = files.publish(per_process(made, output, &tables))?;
    Ok(Written { paths, rows: visitor.rows, warnings: Vec::new() })
}

/// `-o RUN` writes `RUN_kernel_trace.csv` and the others, as rocprofv3's `-o` does; in a folder the pid is the name, as it
/// is without `-o` there.
fn csv(job: &Job<'_>) -> Result<Written, Failure> {
    let output = job.output;
    let into_folder = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    let prefix = if into_folder { output.join("") } else { without_end(output) };
    let files = Files::beside(&prefix, job)?;
    if !into_folder {
        files.check(&named(&prefix, "", "agent_info"))?;
    }
    let mut csv = Csv::new(files.folder(), job.render.names);
    let (visitor, tables) = visit(job, &mut csv)?;
    let sets = csv.finish(&visitor, &tables).map_err(|error| files::unwritten(error, output))?;
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
    let paths = files.publish(all.collect())?;
    Ok(Written { paths, rows: visitor.rows, warnings: Vec::new() })
}

/// The output without a `.csv` at its end.
fn without_end(output: &Path) -> PathBuf {
    match output.extension() {
        Some(end) if end.eq_ignore_ascii_case("csv") => output.with_extension(""),
        _ => output.to_owned(),
    }
}

/// `RUN_4243_kernel_trace.csv` of these words; `prefix` may be a folder.
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
    let tables = job.source.stream(&select, |batch| visitor.batch(batch, sink));
    let tables = tables.map_err(|error| error.failure(|error| files::unwritten(error, job.output)))?;
    visitor.finish(&tables);
    Ok((visitor, tables))
}

/// The files of processes under the names they get: that of the output for a single one, else with the pid.
fn per_process(
    made: Vec<(ProcessId, NamedTempFile)>,
    output: &Path,
    tables: &Tables,
) -> Vec<(PathBuf, NamedTempFile)> {
    if made.len() < 2 {
        return made.into_iter().map(|(_, file)| (output.to_owned(), file)).collect();
    }
    let words = words(made.iter().map(|(id, _)| *id), tables);
    words.into_iter().zip(made).map(|(word, (_, file))| (json::path_of(output, &word), file)).collect()
}

/// What tells processes apart in file names: the pid where no other has it, else their number in the trace.
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
