//! The output path, and metadata tags of merged traces.

use std::path::{Path, PathBuf};

use atomic_file::{Destination, IfExists};
use cli::Failure;
use cli::destination::is_own_trace;
pub(crate) use rtl_analysis::align::CLOCK;
use rtl_schema::Input;
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

/// Checks the output before anything is read.
///
/// # Errors
/// Where it is one of the traces, or exists without `--force` and is no trace of rtl under the default name; for a merged trace, also where it is no regular file.
pub(crate) fn check(options: &Options) -> Result<(), Failure> {
    let (path, format) = (options.output(), options.format()?);
    let is_printed = format == Format::Summary && options.output.is_none();
    check_distinct(&options.traces, (!is_printed).then_some(path))?;
    // Adding a run checks the folder.
    if is_printed || format == Format::Dataset {
        return Ok(());
    }
    let replaces = options.force || (options.output.is_none() && is_own_trace(path));
    let rules = atomic_file::Options { if_exists: IfExists::forced(replaces), inputs: &[] };
    let destination = Destination::check(path, &rules);
    // A link under /proc, such as /dev/stdout, is a stream even where a regular file is open.
    let is_stream = destination.as_ref().map_or(path.is_dir(), Destination::is_stream);
    if is_stream && format != Format::Summary {
        return Err(Failure::usage(format!("{} is not a regular file", path.display()))
            .with_hint("a merged trace is a database; -o names a file"));
    }
    destination?;
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
