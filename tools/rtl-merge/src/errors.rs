//! Errors of a merge.

use std::path::PathBuf;

use cli::Failure;
use rtl_schema::Error;

/// The reason why a merge ended.
#[derive(Debug)]
pub(crate) enum MergeError {
    /// The trace at this path cannot be read to its end any more.
    Input(PathBuf, Failure),
    Other(Failure),
}

impl From<Failure> for MergeError {
    fn from(failure: Failure) -> Self {
        Self::Other(failure)
    }
}

impl From<Error> for MergeError {
    fn from(error: Error) -> Self {
        Self::Other(error.into())
    }
}

/// An error of the trace that is read, or of the one that is written.
pub(crate) enum StreamError {
    Read(Error),
    Write(Error),
}

impl From<Error> for StreamError {
    fn from(error: Error) -> Self {
        Self::Read(error)
    }
}
