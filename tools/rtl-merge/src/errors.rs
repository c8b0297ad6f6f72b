//! The reasons why a merge ends, of which some leave out one trace.

use std::path::PathBuf;

use cli::Failure;
use rtl_schema::Error;

use crate::read::Input;

#[derive(Debug)]
pub(crate) enum MergeError {
    /// The trace at this path cannot be read to its end any more.
    Input(PathBuf, Failure),
    Other(Failure),
}

impl MergeError {
    pub(crate) fn input(input: &Input, error: impl Into<Failure>) -> Self {
        Self::Input(input.path.clone(), error.into())
    }
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
