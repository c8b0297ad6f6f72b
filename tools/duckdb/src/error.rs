use std::path::PathBuf;

/// The version that `scripts/fetch/duckdb` fetches and tests run on.
pub const VERSION: &str = "1.5.6";

/// Why something of DuckDB failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No library was found.
    #[error("{name} was not found")]
    Missing {
        /// Its file name: `libduckdb.so` on Linux.
        name: String,
    },
    /// The library cannot be opened.
    #[error("cannot open {}: {reason}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// The reason of the dynamic linker.
        reason: String,
    },
    /// The library lacks a function.
    #[error("{} has no function {function}: DuckDB {VERSION} or newer is needed", path.display())]
    Function {
        /// The file.
        path: PathBuf,
        /// The name of the function.
        function: &'static str,
    },
    /// A text for DuckDB has a NUL byte.
    #[error("a NUL byte in a text for DuckDB")]
    Nul,
    /// The message of DuckDB.
    #[error("{0}")]
    Query(String),
    /// A column of a result has a type that [`crate::Value`] has no form for.
    #[error("the column `{column}` has a type that cannot be printed")]
    Type {
        /// The name of the column.
        column: String,
    },
}

impl From<std::ffi::NulError> for Error {
    fn from(_: std::ffi::NulError) -> Self {
        Self::Nul
    }
}

/// A result with this crate's error.
pub type Result<T> = std::result::Result<T, Error>;
