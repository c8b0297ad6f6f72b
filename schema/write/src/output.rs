//! The file of a writer, and its errors.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rtl_schema::{Error, Result};

/// The file that a writer fills: it may have another name until it is complete, while errors name the final one.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// The output as messages name it.
    path: PathBuf,
    /// The path of the content while it grows.
    pub(crate) place: PathBuf,
}

impl OutputFile {
    pub(crate) fn new(place: &Path, path: &Path) -> Self {
        Self { path: path.to_owned(), place: place.to_owned() }
    }

    /// Opens the empty file, which the caller has made and gives its name.
    pub(crate) fn open(&self) -> Result<File> {
        OpenOptions::new().write(true).open(&self.place).map_err(|source| self.io(source))
    }

    pub(crate) fn io(&self, source: io::Error) -> Error {
        Error::Io { action: "write", path: self.path.clone(), source }
    }

    pub(crate) fn full(&self, limit: u64) -> Error {
        Error::Full { path: self.path.clone(), limit }
    }

    pub(crate) fn no_room(&self, source: io::Error) -> Error {
        Error::NoRoom { path: self.path.clone(), source }
    }

    pub(crate) fn sqlite(&self, source: rusqlite::Error) -> Error {
        Error::Sqlite { path: self.path.clone(), source }
    }
}
