//! Helpers of tests and benches: the folder of foreign traces, fixtures, the synthetic generator, and programs on the
//! ROCm runtimes of this machine with simulated GPUs.

pub mod browser;
pub mod choices;
pub mod code_object;
pub mod cut_off;
mod fixture;
mod generate;
pub mod json_schema;
pub mod layouts;
mod mutations;
pub mod perfetto;
mod program;
pub mod real;
mod rerun;
pub mod rocprofiler;
mod skip;
mod stack;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use fixture::{CALLS, database, fixture, fixture_in, fixture_names, recorded};
pub use generate::{Job, Layout, Options, generate};
pub use mutations::{mutations, seeds};
pub use program::{code_object, library, program, program_with};
pub use rerun::until_whole;
/// SQLite as an independent judge of a trace, for tests of crates that must not name it themselves.
pub use rusqlite;
pub use skip::{Need, skip, skipped};
pub use stack::{Stack, every_stack, roctx, simulator, stack, stacks};

/// The folder of the cache that a program of `scripts/fetch` fills. `None`, and one line that names the program, where it is
/// missing.
pub fn fetched(folder: &str, program: &str) -> Option<PathBuf> {
    let folder = stack::cache().join(folder);
    if folder.is_dir() {
        Some(folder)
    } else {
        skipped(Need::Programs, format_args!("no {} ({program})", folder.display()))
    }
}

/// True under `./test --long`: tests whose cases are many take all of them there, and some in CI.
pub fn is_long() -> bool {
    std::env::var_os("RTL_LONG").is_some_and(|value| value == "1")
}

/// Cases of a property test that takes long: this many, and forty times as many under `./test --long`.
pub fn cases(short: u32) -> u32 {
    if is_long() { 40 * short } else { short }
}

/// The ranks of a job of many small files: enough that work for each pair of them shows, and more under `./test --long`.
pub fn many() -> u32 {
    if is_long() { 1_000 } else { 200 }
}

/// The calls and the total in ns of each kernel, as SQLite sums them up over native files.
pub fn kernel_sums(files: &[PathBuf]) -> rusqlite::Result<BTreeMap<String, (i64, i64)>> {
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for file in files {
        let database = rusqlite::Connection::open(file)?;
        let mut rows = database.prepare("SELECT Name, Calls, TotalNs FROM top")?;
        let mut rows = rows.query([])?;
        while let Some(row) = rows.next()? {
            let (calls, total_ns) = sums.entry(row.get(0)?).or_default();
            *calls += row.get::<_, i64>(1)?;
            *total_ns += row.get::<_, i64>(2)?;
        }
    }
    Ok(sums)
}

/// The folder of foreign traces and golden files beside the checkout. `None`, and one line, where there is none.
pub fn shared() -> Option<PathBuf> {
    let folder = std::env::var_os("RTL_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    if folder.is_dir() { Some(folder) } else { skipped(Need::Shared, "no ../shared") }
}
