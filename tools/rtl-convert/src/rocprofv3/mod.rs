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

use crate::args::Arguments;
use crate::rows::RowCounts;
use crate::source::{Source, StreamError, read_failure};
use crate::target::{Format, OutputFile};

use self::csv::Csv;
use self::database::Database;
use self::files::Files;
use self::json::Json;
use self::visitor::RecordVisitor;

/// Which files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON file per process.
    Json,
    /// A set of CSV files per process.
    Csv,
}

impl Form {
    /// The form of a format of rocprofv3.
    #[must_use]
    pub fn of(format: Format) -> Option<Self> {
        match format {
            Format::Rocprofv3Json => Some(Self::Json),
            Format::Rocprofv3Csv => Some(Self::Csv),
            _ => None,
        }
    }
}

/// Writes the files that the name of the output stands for; with what became of the rows, their names in one line.
///
/// # Errors
/// Where the trace cannot be read, a file exists and may not be replaced, or one cannot be written; no file then
/// appears.
pub fn write(source: &Source, arguments: &Arguments, form: Form) -> Result<(RowCounts, PathBuf), Failure> {
    let mut visitor = RecordVisitor::new(arguments.names);
    let paths = match form {
        Form::Json => json(source, arguments, &mut visitor)?,
        Form::Csv => csv(source, arguments, &mut visitor)?,
    };
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    Ok((visitor.rows, names.join(", ").into()))
}

/// Writes the database, one file whatever the number of processes.
///
/// # Errors
/// Where the trace cannot be read, or the file cannot grow.
pub fn database(source: &Source, arguments: &Arguments, target: &OutputFile) -> Result<RowCounts, Failure> {
    let mut visitor = RecordVisitor::new(arguments.names);
    let file = RocpdWriter::within(target.path(), &arguments.output()).map_err(read_failure)?;
    let mut database = Database::new(file);
    let tables = read(source, arguments, |tables| visitor.piece(tables, &mut database))?;
    visitor.finish(&tables);
    database.finish(&visitor, &tables).map_err(read_failure)?;
    Ok(visitor.rows)
}

fn json(
    source: &Source,
    arguments: &Arguments,
    visitor: &mut RecordVisitor,
) -> Result<Vec<PathBuf>, Failure> {
    let output = &arguments.output();
    let files = Files::beside(output, arguments.force, &arguments.trace)?;
    files.check(output)?;
    let compressed = output.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let mut json = Json::new(files.folder(), compressed);
    let tables = read(source, arguments, |tables| visitor.piece(tables, &mut json))?;
    visitor.finish(&tables);
    let made = json.finish(visitor, &tables).map_err(|error| files::unwritten(error, output))?;
    files.publish(per_process(made, output, &tables))
}

/// `-o RUN` writes `RUN_kernel_trace.csv` and the others, as rocprofv3's `-o` does; in a folder the pid is the name, as it
/// is without `-o` there.
fn csv(source: &Source, arguments: &Arguments, visitor: &mut RecordVisitor) -> Result<Vec<PathBuf>, Failure> {
    let output = &arguments.output();
    let into_folder = output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/");
    let prefix = if into_folder { output.join("") } else { without_end(output) };
    let files = Files::beside(&prefix, arguments.force, &arguments.trace)?;
    if !into_folder {
        files.check(&named(&prefix, "", "agent_info"))?;
    }
    let mut csv = Csv::new(files.folder(), arguments.names);
    let tables = read(source, arguments, |tables| visitor.piece(tables, &mut csv))?;
    visitor.finish(&tables);
    let sets = csv.finish(visitor, &tables).map_err(|error| files::unwritten(error, output))?;
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
    files.publish(all.collect())
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

fn read(
    source: &Source,
    arguments: &Arguments,
    each: impl FnMut(&Tables) -> std::io::Result<()>,
) -> Result<Tables, Failure> {
    let select = Select { args: !arguments.no_args, ..Select::everything() };
    source.stream(&select, each).map_err(|stopped| match stopped {
        StreamError::Read(error) => read_failure(error),
        StreamError::Filter(error) => Failure::input(error),
        StreamError::Write(error) => files::unwritten(error, &arguments.output()),
    })
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
