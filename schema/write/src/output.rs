use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use atomic_file::{AtomicFile, IfExists, Options};

use crate::btree::PushError;
use rtl_schema::{Error, Result};

/// The file that a writer fills.
#[derive(Debug)]
pub(crate) struct OutputFile {
    /// The output as messages name it.
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Gets its name when it is complete.
    Atomic(AtomicFile),
    /// The caller has created it and names it.
    Given(PathBuf),
}

impl OutputFile {
    /// Starts the file at `path`.
    pub(crate) fn create(path: &Path, if_exists: IfExists) -> Result<(Self, File)> {
        let file = AtomicFile::create(path, &Options { if_exists, inputs: &[] }).map_err(error)?;
        let handle = file.file().try_clone().map_err(|source| io_error("create", path, source))?;
        Ok((Self { path: path.to_owned(), kind: Kind::Atomic(file) }, handle))
    }

    /// Fills the empty file at `place`, which the caller gives the name `path`.
    pub(crate) fn given(place: &Path, path: &Path) -> Result<(Self, File)> {
        let file = OpenOptions::new().write(true).open(place);
        let file = file.map_err(|source| io_error("write", path, source))?;
        Ok((Self { path: path.to_owned(), kind: Kind::Given(place.to_owned()) }, file))
    }

    /// A file that the caller creates and names.
    pub(crate) fn named(path: &Path) -> Self {
        Self { path: path.to_owned(), kind: Kind::Given(path.to_owned()) }
    }

    /// The path of the content while it grows.
    pub(crate) fn place(&self) -> &Path {
        match &self.kind {
            Kind::Atomic(file) => file.place(),
            Kind::Given(place) => place,
        }
    }

    /// Gives the complete file its name.
    pub(crate) fn finish(self) -> Result<()> {
        match self.kind {
            Kind::Atomic(file) => file.commit().map_err(error),
            Kind::Given(_) => Ok(()),
        }
    }

    pub(crate) fn io(&self, source: io::Error) -> Error {
        io_error("write", &self.path, source)
    }

    pub(crate) fn full(&self, limit: u64) -> Error {
        Error::Full { path: self.path.clone(), limit }
    }

    pub(crate) fn push(&self, error: PushError) -> Error {
        match error {
            PushError::Full => self.full(u64::MAX),
            PushError::Io(source) => self.io(source),
        }
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
