//! The folder of inputs, and the readers and writers that several targets call.
//!
//! Inputs lie in one folder, which `scripts/fuzz` puts into memory. Reading costs microseconds, a report or a file in another
//! format much more, so only a share of the inputs comes to them. The bytes of an input alone decide, so that a finding
//! can be repeated.

mod count;
mod program;

// The checks of tests of other crates, and the private files that they check.
#[path = "../../../tools/rtl-report/tests/it/any_page.rs"]
mod any_page;
#[cfg(feature = "columns")]
#[allow(dead_code, reason = "the suite writes the seeds")]
#[path = "../../../tools/rtl-convert/tests/it/any_run.rs"]
mod any_run;
#[cfg(feature = "columns")]
#[path = "../../../tools/rtl-sql/src/any_sql.rs"]
mod any_sql;
#[allow(dead_code, reason = "the suite writes all formats")]
#[path = "../../../tools/rtl-convert/tests/it/any_trace.rs"]
mod any_trace;
#[cfg(feature = "columns")]
#[allow(dead_code, reason = "the program needs more")]
#[path = "../../../tools/rtl-sql/src/failure.rs"]
mod failure;
#[cfg(feature = "columns")]
#[path = "../../../tools/rtl-sql/src/needed.rs"]
mod needed;
#[cfg(feature = "columns")]
#[path = "../../../tools/rtl-sql/src/refused.rs"]
mod refused;

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rtl_convert::formats::FORMATS;
use rtl_schema::{Select, Trace};
use tempfile::TempDir;

pub use self::count::count;
pub use self::program::Program;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a temporary folder"));

/// Writes the input of one execution over that of the last one.
pub fn input(name: &str, bytes: &[u8]) -> PathBuf {
    let path = FOLDER.path().join(name);
    fs::write(&path, bytes).expect("room for an input");
    path
}

/// Calls `check` with an input alone in a folder, which is removed: for programs that write beside it.
pub fn alone(bytes: &[u8], check: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir_in(FOLDER.path()).expect("a temporary folder");
    let path = folder.path().join("trace");
    fs::write(&path, bytes).expect("room for an input");
    check(&path);
}

/// A number below `bound` that the input determines.
pub fn choice(bytes: &[u8], bound: u64) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish() % bound
}

/// Reads a trace; reports on one in 64, and writes one in 256 in one of the formats.
pub fn trace(bytes: &[u8]) {
    read(&input("trace", bytes), bytes);
}

/// Reads the export of nsys that bytes choose, as [`trace`].
pub fn nsys(bytes: &[u8]) {
    let path = FOLDER.path().join("trace.sqlite");
    let _ = fs::remove_file(&path);
    support::choices::nsys(bytes, &path).expect("room for a database");
    read(&path, bytes);
}

fn read(path: &Path, bytes: &[u8]) {
    let tables = Trace::open(path).and_then(|trace| trace.read(&Select::everything()));
    count(tables.is_ok());
    if tables.is_err() {
        return;
    }
    let choice = choice(bytes, 1 << 20) as usize;
    if choice % 64 == 0 {
        let report = |options, out: &mut cli::Output| rtl_summary::report(&options, &[path.to_owned()], out);
        let mut options = rtl_summary::Options::default();
        options.display.console.quiet = true;
        options.display.format =
            if choice % 128 == 0 { cli::args::Format::Json } else { cli::args::Format::Text };
        let _ = report(options, &mut program::silent());
    }
    if choice % 256 == 1 {
        let content = fs::read(path).expect("the input");
        convert(&content, choice / 256);
    }
}

/// Writes a trace in one of the formats, and reads what was written.
pub fn convert(bytes: &[u8], choice: usize) -> bool {
    let format = FORMATS[choice % FORMATS.len()];
    let mut is_written = false;
    alone(bytes, |path| is_written = any_trace::assert_converts_to(path, format));
    is_written
}

/// Checks a text of SQL, and the condition that its bytes choose.
#[cfg(feature = "columns")]
pub fn sql(bytes: &[u8]) {
    let is_refused = any_sql::assert_text(&String::from_utf8_lossy(bytes));
    count(any_sql::assert_condition(bytes) || is_refused);
}

/// Draws names, one a line; a page around them of one in 16, and a report of a trace with them of one in 256.
pub fn page(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let names: Vec<&str> = text.split('\n').take(12).collect();
    any_page::assert_drawings(&names);
    let choice = choice(bytes, 256);
    if choice % 16 == 1 {
        any_page::assert_page(&names);
    }
    count(choice == 0 && any_page::assert_report(FOLDER.path(), &names));
}

#[cfg(feature = "columns")]
thread_local! {
    static RUN: any_run::AnyRun = any_run::AnyRun::new();
}

/// Replaces the manifest or the facts of a run of a data set.
#[cfg(feature = "columns")]
pub fn manifest(bytes: &[u8]) {
    count(RUN.with(|run| run.assert_text(bytes)));
}

/// Replaces the file of a table of a data set.
#[cfg(feature = "columns")]
pub fn parquet(bytes: &[u8]) {
    count(RUN.with(|run| run.assert_table(bytes)));
}
