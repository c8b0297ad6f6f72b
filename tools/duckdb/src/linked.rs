//! The library of DuckDB where it is linked.

use std::path::Path;

use crate::error::Result;
use crate::functions;

/// Finds the functions, once a process.
///
/// # Errors
/// Where the library lacks one.
pub fn load() -> Result<()> {
    if functions::are_known() {
        Ok(())
    } else {
        functions::look_up(Path::new("libduckdb.a"), functions::linked)
    }
}

/// The version of the library: `v1.5.6`.
pub fn version() -> String {
    functions::text(functions::library_version())
}
