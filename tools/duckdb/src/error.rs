//! Errors of opening the library and of executing SQL.

use std::path::PathBuf;

/// The version that `scripts/fetch/duckdb` fetches and tests run on.
pub const VERSION: &str = "1.5.6";

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{name} was not found")]
    Missing {
        /// `libduckdb.so` on Linux.
        name: String,
    },
    #[error("cannot open {}: {reason}", path.display())]
    Library {
        path: PathBuf,
        /// From the dynamic linker.
        reason: String,
    },
    #[error("{} has no function {function}: DuckDB {VERSION} or newer is needed", path.display())]
    Function { path: PathBuf, function: &'static str },
    /// A text for DuckDB has a NUL byte.
    #[error("a NUL byte in a text for DuckDB")]
    Nul,
    /// DuckDB refused a text or failed to execute it; the message is its own.
    #[error("{0}")]
    Query(String),
    /// A column of a result has a type that [`crate::Value`] has no form for.
    #[error("the column `{column}` has a type that cannot be printed")]
    Type { column: String },
}

impl From<std::ffi::NulError> for Error {
    fn from(_: std::ffi::NulError) -> Self {
        Self::Nul
    }
}

pub type Result<T> = std::result::Result<T, Error>;
