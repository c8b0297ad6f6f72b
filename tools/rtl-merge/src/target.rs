//! Where the merged trace goes.

use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_schema::{Select, Trace};
use rustc_hash::FxHashSet;

use crate::args::Arguments;

/// The metadata tag of a trace that was merged from others: one row for each of them.
pub const MERGED: &str = "merged";

pub use rtl_analysis::align::CLOCK;

/// Metadata tags of counts of ops, which add up.
pub const TOTALS: [&str; 6] =
    ["seen", "recorded", "copies_seen", "copies_recorded", "barriers_seen", "barriers_recorded"];

/// Checks that the output may be written, before anything is read.
///
/// # Errors
/// Where it is one of the traces, or something else than a merged trace stands in its place.
pub fn check(arguments: &Arguments) -> Result<(), Failure> {
    let path = arguments.output();
    distinct(&arguments.traces, Some(path))?;
    if path.symlink_metadata().is_ok() && !arguments.force && !was_merged(path) {
        return Err(Failure::usage(format!("{} exists and is no merged trace", path.display()))
            .with_hint("--force replaces it"));
    }
    Ok(())
}

/// Checks that no trace is named twice, and that the output is none of them.
///
/// # Errors
/// Where one is.
pub fn distinct(traces: &[PathBuf], output: Option<&Path>) -> Result<(), Failure> {
    let place = output.and_then(|path| path.canonicalize().ok());
    let mut seen = FxHashSet::default();
    for trace in traces {
        let own = trace.canonicalize().ok();
        if trace.exists() && !own.clone().is_some_and(|own| seen.insert(own)) {
            return Err(Failure::usage(format!("{} is named twice", trace.display())));
        }
        if place.is_some() && own == place {
            return Err(Failure::usage(format!("{} is one of the traces", trace.display()))
                .with_hint("an input is never overwritten; -o names another file"));
        }
    }
    Ok(())
}

/// The folder of a file.
#[must_use]
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a trace is the result of a merge.
fn was_merged(path: &Path) -> bool {
    let about = Trace::open(path).and_then(|trace| trace.read(&Select::ops())).map(|tables| tables.info);
    about.is_ok_and(|about| about.metadata.iter().any(|(tag, _)| tag == MERGED))
}
