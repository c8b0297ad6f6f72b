//! The manifest of a run. Without it, a run is not there for readers; it appears with the run, in one rename.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rtl_schema::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use platform::regular;

use crate::damage::{damaged, older, unread};

/// The name of the manifest in the folder of its run. Engines skip names that begin with an underscore.
pub use rtl_schema::MANIFEST;

/// The version of the layout. A later 1.x may add tables and columns and never removes or renames one.
pub const SCHEMA: &str = "rtl-dataset/1";

/// The bytes of the largest manifest that is read; each of some twenty tables has a hundred.
const LARGEST: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    pub job: String,
    pub run: String,
    pub writer: Writer,
    /// The trace that it was written from.
    pub source: Source,
    /// Runs with the same rows have the same fingerprint, in hexadecimal digits.
    pub fingerprint: String,
    /// By name.
    pub tables: BTreeMap<String, TableManifest>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// `rtl`.
    pub tool: String,
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name of the file, without its folder.
    pub file: String,
    /// In bytes, where it is a file.
    pub bytes: Option<u64>,
    pub dialect: String,
    pub tool: String,
    pub tool_version: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableManifest {
    /// Of all ranks.
    pub rows: u64,
    /// In bytes.
    pub bytes: u64,
    /// One for each bucket.
    pub files: u64,
    /// How many ranks a bucket has, a power of two.
    pub width: u64,
}

/// The folders of the runs of a data set that are complete, with their manifests, sorted by job and run. What is no run is skipped.
pub(crate) fn runs(folder: &Path) -> Vec<(PathBuf, Result<Manifest>)> {
    runs_where(folder, |_, _| true)
}

/// The complete runs whose job and run, as their folders state them, are wanted. Nothing of the others is read.
pub fn runs_where(folder: &Path, is_wanted: impl Fn(&str, &str) -> bool) -> Vec<(PathBuf, Result<Manifest>)> {
    let mut runs: Vec<_> = places(folder)
        .filter(|(job, run, _)| is_wanted(job, run))
        .filter_map(|(_, _, place)| manifest(&place).map(|manifest| (place, manifest)))
        .collect();
    runs.sort_by(|(one, _), (other, _)| one.cmp(other));
    runs
}

/// The names of the complete runs, as their folders state them, sorted by job and run.
pub fn names(folder: &Path) -> Vec<String> {
    let mut runs: Vec<_> = complete(folder).collect();
    runs.sort();
    runs.into_iter().map(|(_, run, _)| run).collect()
}

pub fn has_runs(folder: &Path) -> bool {
    complete(folder).next().is_some()
}

/// The manifest of a run; `None` where there is none.
pub(crate) fn manifest(run: &Path) -> Option<Result<Manifest>> {
    let path = run.join(MANIFEST);
    match regular::read(&path, LARGEST) {
        Ok(text) => Some(parse(&path, &text).and_then(|manifest| with_all_tables(run, &path, manifest))),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        Err(error) => Some(Err(unreadable(&path, error))),
    }
}

/// The error for a file of a run that is none, or that the system refuses.
pub(crate) fn unreadable(path: &Path, source: io::Error) -> Error {
    match source.kind() {
        ErrorKind::NotFound => damaged(path, "the file is missing"),
        ErrorKind::InvalidInput | ErrorKind::FileTooLarge => damaged(path, source),
        _ => Error::Io { action: "read", path: path.to_owned(), source },
    }
}

/// Refuses a manifest without a table whose files are there, or without the kernels of its statistics: the run would read as one
/// that never had them.
fn with_all_tables(run: &Path, path: &Path, manifest: Manifest) -> Result<Manifest> {
    let lacks = |table: &str| !manifest.tables.contains_key(table);
    let without_kernels = || (!lacks("kernel_stats") && lacks("dispatches")).then(|| "dispatches".to_owned());
    let lacking = partitions(run, "kind=").map(|(table, _)| table).find(|table| lacks(table));
    match lacking.or_else(without_kernels) {
        Some(table) => Err(damaged(path, format!("it lacks the table {table}"))),
        None => Ok(manifest),
    }
}

fn parse(path: &Path, text: &[u8]) -> Result<Manifest> {
    let manifest: Value = serde_json::from_slice(text).map_err(|error| damaged(path, error))?;
    match manifest["schema"].as_str() {
        Some(SCHEMA) => Manifest::deserialize(&manifest)
            .map_err(|error| if has_widths(&manifest) { damaged(path, error) } else { older(path) }),
        Some(newer) if newer.starts_with("rtl-dataset/") => {
            Err(unread(path, format!("a data set of the newer layout {newer}"), "update rtl"))
        }
        _ => {
            let hint = "`rtl-convert TRACE --to dataset -o DIR` writes data sets that rtl reads";
            Err(unread(path, "the manifest of another program's data set", hint))
        }
    }
}

/// All tables of a manifest must state how many ranks share a file.
fn has_widths(manifest: &Value) -> bool {
    let tables = manifest["tables"].as_object().into_iter().flatten();
    tables.map(|(_, table)| table).all(|table| table.get("width").is_some())
}

fn complete(folder: &Path) -> impl Iterator<Item = (String, String, PathBuf)> {
    places(folder).filter(|(_, _, place)| place.join(MANIFEST).is_file())
}

fn places(folder: &Path) -> impl Iterator<Item = (String, String, PathBuf)> {
    partitions(folder, "job=").flat_map(|(job, folder)| {
        partitions(&folder, "run=").map(move |(run, place)| (job.clone(), run, place))
    })
}

/// The folders in a folder whose names begin with a key, with what follows.
fn partitions(folder: &Path, key: &'static str) -> impl Iterator<Item = (String, PathBuf)> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let name = entry.file_name();
        Some((name.to_string_lossy().strip_prefix(key)?.to_owned(), entry.path()))
    })
}
