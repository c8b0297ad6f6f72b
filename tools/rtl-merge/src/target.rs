//! Where the merged trace goes.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cli::{Explain, Failure};
use schema::{Select, Trace};
use tempfile::NamedTempFile;

use crate::args::Arguments;

/// The metadata tag of a trace that was merged from others: one row for each of them.
pub const MERGED: &str = "merged";

/// The metadata tag of what is known of a merged trace's clock.
pub const CLOCK: &str = "clock";

/// A file in the making, beside the place where it will be.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    file: NamedTempFile,
}

impl Target {
    /// Checks that the output may be written, before anything is read.
    ///
    /// # Errors
    /// Where it is one of the traces, or something else than a merged trace stands in its place.
    pub fn check(arguments: &Arguments) -> Result<(), Failure> {
        let path = &arguments.output;
        let place = path.canonicalize().ok();
        for trace in &arguments.traces {
            if place.is_some() && trace.canonicalize().ok() == place {
                return Err(Failure::usage(format!("{} is one of the traces", path.display()))
                    .with_hint("an input is never overwritten; -o names another file"));
            }
        }
        if path.symlink_metadata().is_ok() && !arguments.force && !was_merged(path) {
            return Err(Failure::usage(format!("{} exists and is no merged trace", path.display()))
                .with_hint("--force replaces it"));
        }
        Ok(())
    }

    /// Starts the file.
    ///
    /// # Errors
    /// Where its folder cannot be written.
    pub fn create(path: &Path) -> Result<Self, Failure> {
        // A temporary file is its owner's alone; this one becomes a file like any other.
        let file = tempfile::Builder::new()
            .prefix(".rtl-merge-")
            .permissions(std::fs::Permissions::from_mode(0o666))
            .tempfile_in(folder(path))
            .while_doing(|| format!("cannot write {}", path.display()))
            .or_hint("check that the folder exists and can be written")?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// The file as it grows.
    #[must_use]
    pub fn place(&self) -> &Path {
        self.file.path()
    }

    /// The file as it will be called.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the complete file its name.
    ///
    /// # Errors
    /// Where the folder cannot be written any more.
    pub fn finish(self) -> Result<(), Failure> {
        let named = self.file.persist(&self.path);
        named.map(drop).while_doing(|| format!("cannot write {}", self.path.display()))
    }
}

/// The folder of a file.
#[must_use]
pub fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether a trace is the result of a merge.
fn was_merged(path: &Path) -> bool {
    let about = Trace::open(path).and_then(|trace| trace.read(&Select::ops())).map(|tables| tables.about);
    about.is_ok_and(|about| about.metadata.iter().any(|(tag, _)| tag == MERGED))
}
