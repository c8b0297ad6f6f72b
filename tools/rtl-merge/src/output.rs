//! The output path, and metadata tags of merged traces.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use atomic_file::{Destination, IfExists};
use cli::Failure;
pub(crate) use rtl_analysis::align::CLOCK;
use rtl_schema::{Input, Select, Trace};
use rustc_hash::FxHashSet;

use crate::args::{Format, Options};

/// The metadata tag of a merged trace, with one row for each source.
pub(crate) const MERGED: &str = "merged";

/// Metadata tags with counts of ops, which are added up.
pub(crate) const TOTALS: [&str; 8] = [
    "seen",
    "recorded",
    "copies_seen",
    "copies_recorded",
    "barriers_seen",
    "barriers_recorded",
    "packets_seen",
    "packets_recorded",
];

/// Checks the output of a merge before anything is read.
///
/// # Errors
/// Where it is one of the traces, or a file that is not a merged trace.
pub(crate) fn check(options: &Options) -> Result<(), Failure> {
    let path = options.output();
    check_distinct(&options.traces, Some(path))?;
    if options.format() == Format::Dataset {
        // Adding the run checks the folder.
        return Ok(());
    }
    // A link under /proc, such as /dev/stdout, is a stream even where a regular file is open.
    let is_stream =
        Destination::check(path, &atomic_file::Options { if_exists: IfExists::Replace, inputs: &[] })
            .map_or(path.exists(), |destination| destination.is_stream());
    if is_stream {
        return Err(Failure::usage(format!("{} is not a regular file", path.display()))
            .with_hint("a merged trace is a database; -o names a file"));
    }
    check_replaceable(path, options.force, is_merged, "a merged trace")
}

/// Checks the output of `--summary-only` before anything is read.
///
/// # Errors
/// Where it is one of the traces, or a file that is not a report.
pub(crate) fn check_report(options: &Options, schema: &str) -> Result<(), Failure> {
    check_distinct(&options.traces, options.output.as_deref())?;
    // A device or FIFO is written through.
    let Some(path) = options.output.as_deref().filter(|path| path.is_file()) else { return Ok(()) };
    check_replaceable(path, options.force, |path| is_report(path, schema), "a report")
}

fn check_replaceable(
    path: &Path,
    force: bool,
    is_own: impl Fn(&Path) -> bool,
    what: &str,
) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() && !force && !is_own(path) {
        return Err(Failure::usage(format!("{} exists and is not {what}", path.display()))
            .with_hint("--force replaces it"));
    }
    Ok(())
}

/// Checks that no trace is named twice, and that the output is none of them.
fn check_distinct(traces: &[PathBuf], output: Option<&Path>) -> Result<(), Failure> {
    let place = output.and_then(|path| path.canonicalize().ok());
    let mut seen = FxHashSet::default();
    for trace in traces {
        // A pipe has a name of its own, which leads to no path.
        let own = trace.canonicalize().ok().or_else(|| Input::is_stream(trace).then(|| trace.clone()));
        if own.clone().is_some_and(|own| !seen.insert(own)) {
            return Err(Failure::usage(format!("{} is named twice", trace.display()))
                .with_hint("name each trace once; a link to a trace is the same trace"));
        }
        if place.is_some() && own == place {
            return Err(Failure::usage(format!("{} is one of the traces", trace.display()))
                .with_hint("an input is never overwritten; -o names another file"));
        }
    }
    Ok(())
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The size of a file in bytes; 0 if unknown.
pub(crate) fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}

fn is_merged(path: &Path) -> bool {
    let tables = Trace::open(path).and_then(|trace| trace.read(&Select::ops()));
    tables.is_ok_and(|tables| tables.info.metadata.iter().any(|(tag, _)| tag == MERGED))
}

fn is_report(path: &Path, schema: &str) -> bool {
    // The name of the schema is among the first fields.
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    read.is_ok() && String::from_utf8_lossy(&start).contains(&format!("\"{schema}\""))
}
