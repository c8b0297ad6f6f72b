//! A page of rtl-report in a headless Chromium, used by keyboard (`tests/browser/page.mjs`). `None`, and one line, where the
//! browser or node is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use crate::stack::cache;
use crate::{Need, skip};

/// The version that `scripts/fetch/axe-core` pins.
const AXE: &str = "axe-core/axe-4.14.1.js";

const BROWSERS: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// Opens a page, uses it by keyboard, and returns what it showed.
///
/// # Panics
/// If the page does not react within a minute.
pub fn visit(page: &Path) -> Option<Value> {
    visited(page, None)
}

/// As [`visit`], with what axe-core says of its accessibility as `axe`.
///
/// # Panics
/// As [`visit`].
pub fn examine(page: &Path) -> Option<Value> {
    let axe = cache().join(AXE);
    if !axe.is_file() {
        skip(Need::Perfetto, "no axe-core (scripts/fetch/axe-core)");
        return None;
    }
    visited(page, Some(axe))
}

/// A drawing of a page, as `tests/browser/drawings.mjs` reduces it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Drawing {
    pub label: String,
    /// A letter for the colour of each part.
    pub rows: Vec<String>,
}

/// The drawings of each of these pages, in order.
///
/// # Panics
/// If a page does not appear within a minute.
pub fn drawings(pages: &[PathBuf]) -> Option<Vec<Vec<Drawing>>> {
    let output = output("drawings.mjs", |command| command.args(pages))?;
    Some(serde_json::from_slice(&output).expect("drawings"))
}

fn visited(page: &Path, axe: Option<PathBuf>) -> Option<Value> {
    let output = output("page.mjs", |command| command.arg(page).args(axe))?;
    Some(serde_json::from_slice(&output).expect("what was seen"))
}

/// Runs a program of `tests/browser`; its standard output.
fn output(program: &str, with: impl FnOnce(&mut Command) -> &mut Command) -> Option<Vec<u8>> {
    let Some(browser) = BROWSERS.iter().find(|path| Path::new(path).exists()) else {
        skip(Need::Perfetto, "no Chromium (apt-get install chromium)");
        return None;
    };
    let mut command = Command::new("node");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../browser").join(program)).arg(browser);
    let Ok(output) = with(&mut command).output() else {
        skip(Need::Perfetto, "no node");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}
