//! The errors of runs that cannot be read.

use std::fmt::Display;
use std::path::Path;

use rtl_schema::Error;

use crate::buckets::FILE;

const AGAIN: &str = "add the run again: rtl-convert TRACE --to dataset -o DIR --job JOB --run RUN --force";

/// The error for a file of a run.
pub(crate) fn damaged(path: &Path, why: impl Display) -> Error {
    unread(path, format!("damaged run of a data set ({why})"), AGAIN)
}

/// The error of a run where the message of an engine quotes the path of one of its files.
pub fn damage_in(message: &str) -> Option<Error> {
    let path = message.split('\'').nth(1).filter(|path| path.ends_with(FILE))?;
    let why = message.replacen(&format!("'{path}'"), "", 1).to_lowercase();
    Some(damaged(Path::new(path), why.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// The error for a manifest of what this program does not read.
pub(crate) fn unread(path: &Path, found: impl Into<String>, hint: impl Into<String>) -> Error {
    Error::DataSet { path: path.to_owned(), found: found.into(), hint: hint.into() }
}

/// The error for a manifest whose tables do not state the width of their buckets.
pub(crate) fn older(path: &Path) -> Error {
    let found = "a run in an older layout (its tables have no width)";
    unread(path, found, format!("an older rtl has written it; {AGAIN}"))
}
