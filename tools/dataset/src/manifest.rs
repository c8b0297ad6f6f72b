//! The manifest of a run. Without it, a run is not there for readers; it appears with the run, in one rename.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The name of the manifest in the folder of its run. Engines skip names that begin with an underscore.
pub use rtl_schema::MANIFEST;

/// The version of the layout. A later 1.x may add tables and columns and never removes or renames one.
pub const SCHEMA: &str = "rtl-dataset/1";

/// What a run is and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// The job.
    pub job: String,
    /// The run.
    pub run: String,
    /// What has written it.
    pub writer: Writer,
    /// The trace that it was written from.
    pub source: Source,
    /// Equal of runs with the same rows, in hexadecimal digits.
    pub fingerprint: String,
    /// Every table, by name.
    pub tables: BTreeMap<String, TableManifest>,
}

/// The program that has written a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// `rtl`.
    pub tool: String,
    /// Its version.
    pub version: String,
}

/// The trace of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name of the file, without its folder.
    pub file: String,
    /// Its size in bytes, where it is a file.
    pub bytes: Option<u64>,
    /// Its format.
    pub dialect: String,
    /// The tool that has recorded it.
    pub tool: String,
    /// The version of that tool.
    pub tool_version: Option<String>,
}

/// A table of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableManifest {
    /// Its rows, of all ranks.
    pub rows: u64,
    /// The size of its files in bytes.
    pub bytes: u64,
    /// Its files, one for each bucket.
    pub files: u64,
    /// How many ranks a bucket has, a power of two.
    pub width: u64,
}

/// The folders of the runs of a data set that are complete, with their manifests, sorted by job and run. What is no run is skipped.
pub fn runs(folder: &Path) -> Vec<(PathBuf, Manifest)> {
    runs_where(folder, |_, _| true)
}

/// Those of [`runs`] whose job and run, as their folders state them, are wanted. Nothing of the others is read.
pub fn runs_where(folder: &Path, is_wanted: impl Fn(&str, &str) -> bool) -> Vec<(PathBuf, Manifest)> {
    let mut runs: Vec<(PathBuf, Manifest)> = places(folder)
        .filter(|(job, run, _)| is_wanted(job, run))
        .filter_map(|(_, _, place)| manifest(&place).map(|manifest| (place, manifest)))
        .collect();
    runs.sort_by(|(one, _), (other, _)| one.cmp(other));
    runs
}

/// Whether a folder is a data set with a complete run.
pub fn has_runs(folder: &Path) -> bool {
    places(folder).any(|(_, _, place)| manifest(&place).is_some())
}

/// The manifest of a run.
pub(crate) fn manifest(run: &Path) -> Option<Manifest> {
    serde_json::from_slice(&fs::read(run.join(MANIFEST)).ok()?).ok()
}

/// The folders of runs, with their jobs and runs.
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
