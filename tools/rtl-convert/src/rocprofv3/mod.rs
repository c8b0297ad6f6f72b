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
pub mod page_file;
pub mod spill_buffer;
pub mod visitor;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, Destination, IfExists};
use cli::Failure;
use platform::permissions;
use rtl_schema::{ProcessId, Select, Tables};
use rtl_write::{ProcessInfo, RocpdWriter};

use crate::format::{Format, Job, Written};
use crate::rows::RowCounts;

use self::csv::Csv;
use self::database::Database;
use self::json::Json;
use self::kinds::Operations;
use self::visitor::{ProcessState, RecordSink, RecordVisitor};

/// One JSON file per process.
pub const JSON: Format = Format {
    name: "rocprofv3-json",
    aliases: &["rocprofv3", "rocprofiler-json"],
    help: "rocprofv3's JSON, one file per process",
    endings: &["_results.json", "_results.json.gz"],
    default_ending: "_results.json",
    partitioned: false,
    has_operators: false,
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
    has_operators: false,
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
    has_operators: false,
    write: database,
};

fn database(job: &Job<'_>) -> Result<Written, Failure> {
    let output = AtomicFile::create(job.output, &job.rules())?;
    let file = RefCell::new(RocpdWriter::within(&output.place(), job.output)?);
    let Visited { processes, tables, rows, .. } =
        visit(job, |id, tables| Ok(Database::new(&file, id, tables)))?;
    let infos = processes.iter().map(|(id, state, set)| set.info(*id, state, job.render.names, &tables));
    // In the order of the sets.
    let infos: Vec<ProcessInfo<'_>> = infos.collect::<BTreeMap<_, _>>().into_values().collect();
    file.into_inner().finish(&infos)?;
    output.commit()?;
    Ok(Written::one(job, rows))
}

fn json(job: &Job<'_>) -> Result<Written, Failure> {
    let destination = destination(job.output, &job.rules())?;
    let Visited { processes, tables, operations, rows } = visit(job, |_, _| Json::create(&destination))?;
    let words = words(&processes, &tables);
    if destination.is_stream() && words.len() > 1 {
        return Err(Failure::usage(format!("{} takes the file of one process", job.output.display()))
            .with_hint("rocprofv3's JSON is one file for each process; write to a folder"));
    }
    let files = processes.into_iter().zip(&words).map(|((id, state, json), word)| {
        let path = if words.len() == 1 { job.output.to_owned() } else { json::path_of(job.output, word) };
        Ok((path, json.finish(id, &state, &operations, job.render.names, &tables)?))
    });
    let files: io::Result<Vec<_>> = files.collect();
    publish(job, files.map_err(|error| unwritten(error, job.output))?, rows)
}

/// `-o RUN` writes `RUN_kernel_trace.csv` and the others, as rocprofv3's `-o` does; `-o FOLDER/` names files after the
/// pid, as rocprofv3 does without `-o`.
fn csv(job: &Job<'_>) -> Result<Written, Failure> {
    let output = job.output;
    let into_folder = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    let is_csv = output.extension().is_some_and(|end| end.eq_ignore_ascii_case("csv"));
    let prefix = if is_csv { output.with_extension("") } else { output.to_owned() };
    let prefix = if into_folder { output.join("") } else { prefix };
    let _new = if into_folder { NewFolder::create(output, job.rules().folder_mode())? } else { None };
    // In a folder every name holds a pid, so this first name is never the final one.
    let rules = match into_folder {
        true => atomic_file::Options { if_exists: IfExists::Replace, ..job.rules() },
        false => job.rules(),
    };
    let destination = destination(&named(&prefix, "", "agent_info"), &rules)?;
    let Visited { processes, tables, rows, .. } =
        visit(job, |_, _| Ok(Csv::new(&destination, job.render.names)))?;
    let mut words = words(&processes, &tables);
    if let [only] = words.as_mut_slice()
        && !into_folder
    {
        only.clear();
    }
    let mut all = Vec::new();
    for ((_, state, csv), word) in processes.into_iter().zip(words) {
        let files = csv.finish(&state, &tables).map_err(|error| unwritten(error, output))?;
        all.extend(files.into_iter().map(|(what, file)| (named(&prefix, &word, &what), file)));
    }
    publish(job, all, rows)
}

/// A folder that goes again unless files come into it.
struct NewFolder(PathBuf);

impl NewFolder {
    /// Creates the folder; `None` where it exists.
    fn create(path: &Path, mode: u32) -> Result<Option<Self>, Failure> {
        match permissions::create_folder(path, mode) {
            Ok(()) => Ok(Some(Self(path.to_owned()))),
            Err(_) if path.is_dir() => Ok(None),
            Err(error) => Err(Failure::usage(format!("cannot create {}: {error}", path.display()))
                .with_hint("the folder above it must exist; create that, or write elsewhere")),
        }
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // One with files in it cannot be removed.
        _ = std::fs::remove_dir(&self.0);
    }
}

/// The path of a file: `RUN_4243_kernel_trace.csv`; `prefix` may be a folder.
fn named(prefix: &Path, process: &str, what: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    for word in [process, what].into_iter().filter(|word| !word.is_empty()) {
        if path.as_encoded_bytes().last().is_some_and(|end| *end != b'/') {
            path.push("_");
        }
        path.push(word);
    }
    path.push(".csv");
    path.into()
}

struct Visited<S> {
    processes: Vec<(ProcessId, ProcessState, S)>,
    tables: Tables,
    operations: Operations,
    rows: RowCounts,
}

/// Passes the records of each process to the sink that `sink` makes of it.
fn visit<S: RecordSink>(
    job: &Job<'_>,
    sink: impl FnMut(ProcessId, &Tables) -> io::Result<S>,
) -> Result<Visited<S>, Failure> {
    let mut visitor = RecordVisitor::new(sink);
    let select = Select { args: !job.render.no_args, ..Select::everything() };
    let failed = |error| unwritten(error, job.output);
    let tables = job.source.stream(&select, |batch| visitor.batch(batch).map_err(failed))?;
    let processes = visitor.finish(&tables).map_err(failed)?;
    Ok(Visited { processes, tables, operations: visitor.operations, rows: visitor.rows })
}

/// The part of a file name for each process: its pid if unique, otherwise its number in the trace.
fn words<S>(processes: &[(ProcessId, ProcessState, S)], tables: &Tables) -> Vec<String> {
    let pids: Vec<_> = processes.iter().map(|(id, ..)| (id, tables.process(*id).pid)).collect();
    let alone = |pid: i64| pids.iter().filter(|(_, other)| *other == Some(pid)).count() == 1;
    pids.iter()
        .map(|(id, pid)| match pid {
            Some(pid) if alone(*pid) => pid.to_string(),
            _ => format!("process{}", id.0),
        })
        .collect()
}

/// The first of several outputs, in a folder that exists.
pub(crate) fn destination(path: &Path, rules: &atomic_file::Options<'_>) -> Result<Destination, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is no folder", folder.display()))
            .with_hint("create it, or write elsewhere"));
    }
    // The files get their final names when all of them are complete.
    Ok(Destination::check(path, rules)?.deferred())
}

pub(crate) fn publish(
    job: &Job<'_>,
    named: Vec<(PathBuf, AtomicFile)>,
    rows: RowCounts,
) -> Result<Written, Failure> {
    let redirect =
        |(path, file): (PathBuf, AtomicFile)| Ok(file.redirect(Destination::check(&path, &job.rules())?));
    let files: Result<Vec<_>, atomic_file::Error> = named.into_iter().map(redirect).collect();
    Ok(Written { paths: AtomicFile::commit_all(files?)?, rows, warnings: Vec::new() })
}

pub(crate) fn unwritten(error: io::Error, path: &Path) -> Failure {
    Failure::input(error)
        .context(format!("cannot write {}", path.display()))
        .with_hint("check that its folder can be written and has room")
}
