//! The folder of a table format.

use std::fs;
use std::path::{Path, PathBuf};

use atomic_file::AtomicDir;
use cli::Failure;

use crate::format::Job;

/// Starts the output folder of a job.
///
/// # Errors
/// The folder exists and may not be replaced, contains the input or files of other programs, or cannot be written.
pub fn create(job: &Job<'_>) -> Result<AtomicDir, Failure> {
    let folder = AtomicDir::create(job.output, &job.rules())?;
    match foreign(job.output) {
        None => Ok(folder),
        Some(other) => Err(Failure::usage(format!("{} is not of rtl-convert", other.display()))
            .with_hint("--force replaces only folders that rtl-convert wrote; write to another one")),
    }
}

/// A file or folder at or below `path` that this program does not write.
fn foreign(path: &Path) -> Option<PathBuf> {
    let kind = path.symlink_metadata().ok()?;
    if !kind.is_dir() {
        return Some(path.to_owned());
    }
    let entries = fs::read_dir(path).ok()?.filter_map(Result::ok);
    entries.map(|entry| entry.path()).find_map(|path| {
        let name = path.file_name()?.to_string_lossy().into_owned();
        let is_table = [".csv", ".parquet"].iter().any(|end| name.ends_with(end));
        match path.symlink_metadata().is_ok_and(|kind| kind.is_dir()) {
            true if name.contains('=') => foreign(&path),
            false if is_table => None,
            _ => Some(path),
        }
    })
}
