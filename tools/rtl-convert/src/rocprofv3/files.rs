//! Several files that appear together or not at all.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cli::Failure;
use tempfile::NamedTempFile;

use crate::format::Job;
use crate::output_file::check_free;

/// Where files will be, and whether they may replace others.
pub(super) struct Files {
    folder: PathBuf,
    force: bool,
    input: Option<PathBuf>,
}

impl Files {
    /// Files beside `output`, or in it if it ends with a slash; none of them may be `input`.
    pub(super) fn beside(output: &Path, job: &Job<'_>) -> Result<Self, Failure> {
        let folder = match output.as_os_str().as_encoded_bytes().ends_with(b"/") {
            true => Some(output),
            false => output.parent(),
        };
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).to_owned();
        if !folder.is_dir() {
            return Err(Failure::usage(format!("{} is no folder", folder.display()))
                .with_hint("create it, or write elsewhere"));
        }
        Ok(Self { folder, force: job.force, input: job.trace.canonicalize().ok() })
    }

    /// Where there is room for the files, and so for temporary ones.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether a file of this name may be written.
    pub(super) fn check(&self, path: &Path) -> Result<(), Failure> {
        if self.input.is_some() && path.canonicalize().ok() == self.input {
            return Err(Failure::usage(format!("{} is the input", path.display()))
                .with_hint("an input is never overwritten; write to another file"));
        }
        check_free(path, self.force)
    }

    /// Gives complete files their names. Where one cannot get its name, those that just did lose it again.
    pub(super) fn publish(&self, named: Vec<(PathBuf, NamedTempFile)>) -> Result<Vec<PathBuf>, Failure> {
        for (path, _) in &named {
            self.check(path)?;
        }
        let mut published = Vec::with_capacity(named.len());
        for (path, file) in named {
            let done = if self.force { file.persist(&path) } else { file.persist_noclobber(&path) };
            if let Err(failed) = done {
                for path in published.iter().filter(|_| !self.force) {
                    // Whatever hinders this is no worse than what is reported.
                    let _ = std::fs::remove_file(path);
                }
                return Err(unwritten(failed.error, &path));
            }
            published.push(path);
        }
        Ok(published)
    }
}

/// A file in the making. Such a file is its owner's alone; this one becomes a file like any other.
pub(super) fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let everybody = std::fs::Permissions::from_mode(0o666);
    tempfile::Builder::new().prefix(".rtl-convert-").permissions(everybody).tempfile_in(folder)
}

/// The failure of a file that cannot be written.
pub(super) fn unwritten(error: io::Error, path: &Path) -> Failure {
    Failure::input(error)
        .context(format!("cannot write {}", path.display()))
        .with_hint("check that its folder can be written and has room")
}
