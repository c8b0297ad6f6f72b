//! Why a run cannot be added.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The data set has a run of this name.
    #[error("{} has the run {run} of the job {job}", folder.display())]
    Exists { folder: PathBuf, job: String, run: String },
    /// The data set has the same rows as another run.
    #[error("{} has the same rows as the run {run} of the job {job}", folder.display())]
    Same { folder: PathBuf, job: String, run: String },
    /// A name of a job or a run that no folder can have.
    #[error("{name:?} is no name of a {of}")]
    Name {
        name: String,
        /// `job` or `run`.
        of: &'static str,
    },
    /// The folder has other things than runs.
    #[error("{} is no data set: it has {}", folder.display(), other.display())]
    Foreign {
        folder: PathBuf,
        /// The first thing that is no run.
        other: PathBuf,
    },
    /// The run cannot get its name.
    #[error(transparent)]
    Output(#[from] atomic_file::Error),
    #[error("cannot write {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Parquet { path: PathBuf, source: columnar::Error },
}

impl Error {
    /// The hint for the user, without the `hint:` in front.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Exists { .. } => "--run NAME gives another name; --force replaces the run",
            Self::Same { .. } => "a run is added once; --force adds it under this name too",
            Self::Name { .. } => "letters, digits, dots, dashes, underscores; no dot at the start",
            Self::Foreign { .. } => "name a new folder, or one that rtl-convert --to dataset has written",
            Self::Output(error) => error.hint(),
            Self::Io { .. } | Self::Parquet { .. } => return None,
        })
    }

    /// The run must not be written, as opposed to: cannot.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Output(error) => error.is_refusal(),
            Self::Io { .. } | Self::Parquet { .. } => false,
            _ => true,
        }
    }
}
