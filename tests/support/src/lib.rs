//! What tests and benches share: the folder of foreign traces, fixtures and the synthetic generator.

mod fixture;
mod generate;
pub mod json_schema;
pub mod layouts;
pub mod rocprofiler;

use std::path::{Path, PathBuf};

pub use fixture::{database, fixture, fixture_in, fixture_names};
pub use generate::{Layout, Options, generate};
/// For tests outside the crates that may name it: SQLite as an independent judge of a trace.
pub use rusqlite;

/// The folder of foreign traces and golden files beside the checkout, if it is there. Tests that need it
/// call this and return early; it then says so in one line.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("RTL_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no ../shared");
    None
}
