//! Any flags and any `rtl-diff.toml`: a report, a usage error or an input error, never a panic.
#![no_main]

use std::ffi::OsString;
use std::path::Path;
use std::sync::LazyLock;

use clap::Parser;
use cli::{Exit, Failure, Output};
use libfuzzer_sys::fuzz_target;

/// A small trace, which every call names.
static TRACE: LazyLock<tempfile::TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/open/lite.db");
    std::fs::copy(seed, folder.path().join("a.db")).expect("a seed");
    folder
});

/// Runs a tool where its command line is valid.
fn call<A: Parser>(words: &[OsString], tool: impl FnOnce(A, &mut Output) -> Result<Exit, Failure>) {
    let mut out = Output::new("fuzz", Box::new(std::io::sink()), Box::new(std::io::sink()));
    if let Ok(arguments) = A::try_parse_from(words) {
        let _ = tool(arguments, &mut out);
    }
}

fuzz_target!(|text: &str| {
    let (flags, settings) = text.split_once("\n\n").unwrap_or((text, ""));
    // Words that would read or write other files.
    if flags.contains(['/', '~']) || flags.split('\n').any(|word| word.starts_with("-o") || word.contains("output")) {
        return;
    }
    std::env::set_current_dir(TRACE.path()).expect("a folder");
    std::fs::write("settings.toml", settings).expect("room for settings");
    let words = |program: &str, traces: &[&str]| -> Vec<OsString> {
        let given = flags.split('\n').filter(|word| !word.is_empty());
        [program].into_iter().chain(given).chain(traces.iter().copied()).map(OsString::from).collect()
    };
    call(&words("rtl-summary", &["a.db"]), rtl_summary::run);
    call(&words("rtl-diff", &["--config", "settings.toml", "a.db", "a.db"]), rtl_diff::run);
    call(&words("rtl-convert", &["a.db"]), |arguments: rtl_convert::args::Arguments, _| {
        arguments.options().map(|_| Exit::Success)
    });
});
