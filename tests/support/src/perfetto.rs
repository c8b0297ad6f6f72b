//! The real Perfetto: its trace processor and its UI, which `scripts/fetch/perfetto-ui` fetches, run by node (`tests/perfetto/`).
//! `None`, and one line that says so, where something is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::stack::cache;
use crate::{Need, skip};

/// The version that `scripts/fetch/perfetto-ui` pins.
const UI: &str = "perfetto/v52.0-6b9586def";

/// The rows of an answer; NULL is `None`.
pub type Rows = Vec<Vec<Option<String>>>;

/// The trace processor's answers to queries in SQL: by trace, then by query.
///
/// # Panics
/// If it cannot load a trace, or a query is wrong.
pub fn query(traces: &[&Path], queries: &[&str]) -> Option<Vec<Vec<Rows>>> {
    let ui = ui()?;
    let answers = tempfile::NamedTempFile::new().expect("room for the answers");
    let mut command = node("trace-processor.mjs");
    command.arg(ui).arg(answers.path()).args(queries).arg("--").args(traces);
    let output = command.output().expect("node was there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(answers.path()).expect("answers");
    Some(serde_json::from_str(&text).expect("rows of texts"))
}

/// The titles of all tracks from top to bottom, as the UI shows them when there is one of each of `wanted`, and a picture
/// of it in a file.
///
/// # Panics
/// If they are not shown within minutes.
pub fn show(trace: &Path, picture: &Path, wanted: &[&str]) -> Option<Vec<String>> {
    shown(&[], trace, picture, wanted)
}

/// As [`show`], with the first slice of this name that an arrow leaves selected, and the time of what it leads to.
///
/// # Panics
/// If there is no such slice, too.
pub fn show_launch(slice: &str, trace: &Path, picture: &Path, wanted: &[&str]) -> Option<Vec<String>> {
    shown(&["--select", slice], trace, picture, wanted)
}

fn shown(options: &[&str], trace: &Path, picture: &Path, wanted: &[&str]) -> Option<Vec<String>> {
    let ui = ui()?;
    let browser =
        found(&["/usr/bin/chromium", "/usr/bin/chromium-browser"], "Chromium (apt-get install chromium)")?;
    let mut command = node("screenshot.mjs");
    command.args(options).arg(ui).arg(browser).arg(trace).arg(picture).args(wanted);
    let output = command.output().expect("node was there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let titles: Value = serde_json::from_slice(&output.stdout).expect("titles");
    Some(serde_json::from_value(titles).expect("texts"))
}

fn ui() -> Option<PathBuf> {
    let folder = cache().join(UI);
    let folder = folder.to_str().unwrap_or_default();
    found(&[folder], "Perfetto UI (scripts/fetch/perfetto-ui)").filter(|_| {
        Command::new("node").arg("--version").output().is_ok_and(|output| output.status.success())
            || missing("node")
    })
}

fn node(program: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../perfetto").join(program));
    command
}

fn found(paths: &[&str], what: &str) -> Option<PathBuf> {
    let path = paths.iter().map(PathBuf::from).find(|path| path.exists());
    path.or_else(|| {
        missing(what);
        None
    })
}

fn missing(what: &str) -> bool {
    skip(Need::Perfetto, format_args!("no {what}"));
    false
}
