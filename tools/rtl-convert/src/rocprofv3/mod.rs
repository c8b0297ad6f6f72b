//! A trace as rocprofv3 would have written it.
//!
//! [`walk`] turns rows into records, one process after the other in what they refer to; `json` and `csv` write them.
//! Memory does not grow with the ops.

pub mod devices;
mod files;
pub mod json;
pub mod kernels;
pub mod kinds;
pub mod spill;
pub mod text;
pub mod walk;

use std::path::{Path, PathBuf};

use cli::Failure;
use schema::{ProcessId, Select, Tables};
use tempfile::NamedTempFile;

use crate::args::Arguments;
use crate::rows::Rows;
use crate::source::{Source, Stopped, unreadable};

use self::files::Files;
use self::json::Json;
use self::walk::Walk;

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// What became of the rows.
    pub rows: Rows,
    /// The files.
    pub paths: Vec<PathBuf>,
}

impl Written {
    /// The files in one line.
    #[must_use]
    pub fn named(&self) -> PathBuf {
        let names: Vec<String> = self.paths.iter().map(|path| path.display().to_string()).collect();
        names.join(", ").into()
    }
}

/// Writes the files that the name of the output stands for.
///
/// # Errors
/// Where the trace cannot be read, a file exists and may not be replaced, or one cannot be written; no file then
/// appears.
pub fn write(source: &Source, arguments: &Arguments) -> Result<Written, Failure> {
    let files = Files::new(&arguments.output, arguments.force, &arguments.trace)?;
    let mut walk = Walk::default();
    let named = json(source, arguments, &files, &mut walk)?;
    let paths = files.publish(named)?;
    Ok(Written { rows: walk.rows, paths })
}

fn json(
    source: &Source,
    arguments: &Arguments,
    files: &Files,
    walk: &mut Walk,
) -> Result<Vec<(PathBuf, NamedTempFile)>, Failure> {
    let output = &arguments.output;
    files.check(output)?;
    let compressed = output.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let mut json = Json::new(files.folder(), compressed);
    let tables = read(source, arguments, |tables| walk.piece(tables, &mut json))?;
    walk.finish(&tables);
    let made = json.finish(walk, &tables).map_err(|error| files::unwritten(error, output))?;
    Ok(per_process(made, output, &tables))
}

fn read(
    source: &Source,
    arguments: &Arguments,
    each: impl FnMut(&Tables) -> std::io::Result<()>,
) -> Result<Tables, Failure> {
    let select = Select { args: !arguments.no_args, ..Select::everything() };
    source.pieces(&select, each).map_err(|stopped| match stopped {
        Stopped::Reading(error) => unreadable(error),
        Stopped::Choosing(error) => Failure::input(error),
        Stopped::Writing(error) => files::unwritten(error, &arguments.output),
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
