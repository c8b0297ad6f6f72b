use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, IfExists, Options};

use rtl_schema::{Error, Result};

/// The file that a writer fills.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// The output as messages name it.
    path: PathBuf,
    /// The path of the content while it grows.
    pub(crate) place: PathBuf,
    /// Names the complete file, unless the caller does.
    atomic: Option<AtomicFile>,
}

impl OutputFile {
    /// Starts the file at `path`.
    pub(crate) fn create(path: &Path, if_exists: IfExists) -> Result<(Self, File)> {
        let file = AtomicFile::create(path, &Options { if_exists, inputs: &[] }).map_err(error)?;
        let handle = file.file().try_clone().map_err(|source| io_error("create", path, source))?;
        Ok((Self { path: path.to_owned(), place: file.place().to_owned(), atomic: Some(file) }, handle))
    }

    /// Fills the empty file at `place`, which the caller gives the name `path`.
    pub(crate) fn given(place: &Path, path: &Path) -> Result<(Self, File)> {
        let file = OpenOptions::new().write(true).open(place);
        let file = file.map_err(|source| io_error("write", path, source))?;
        Ok((Self { path: path.to_owned(), place: place.to_owned(), atomic: None }, file))
    }

    /// A file that the caller creates and names.
    pub(crate) fn named(path: &Path) -> Self {
        Self { path: path.to_owned(), place: path.to_owned(), atomic: None }
    }

    /// Gives the complete file its name.
    pub(crate) fn finish(self) -> Result<()> {
        self.atomic.map_or(Ok(()), |file| file.commit().map_err(error))
    }

    pub(crate) fn io(&self, source: io::Error) -> Error {
        io_error("write", &self.path, source)
    }

    pub(crate) fn full(&self, limit: u64) -> Error {
        Error::Full { path: self.path.clone(), limit }
    }

    pub(crate) fn sqlite(&self, source: rusqlite::Error) -> Error {
        Error::Sqlite { path: self.path.clone(), source }
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Io { action, path: path.to_owned(), source }
}

fn error(error: atomic_file::Error) -> Error {
    let refused = |path, detail: &str| Error::Refused { path, detail: detail.to_owned() };
    match error {
        atomic_file::Error::Exists { path } => refused(path, "the file exists already"),
        atomic_file::Error::IsInput { path } | atomic_file::Error::HoldsInput { path } => {
            refused(path, "an input is never overwritten")
        }
        atomic_file::Error::IsFolder { path } => Error::Folder { path },
        atomic_file::Error::Io { path, source } => Error::Io { action: "create", path, source },
    }
}
