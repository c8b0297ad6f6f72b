//! A page of rtl-report in a headless Chromium, used by keyboard (`tests/browser/page.mjs`). `None`, and one line, where the
//! browser or node is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::stack::cache;
use crate::{Need, skip};

/// The version that `scripts/fetch/axe-core` pins.
const AXE: &str = "axe-core/axe-4.14.1.js";

const BROWSERS: [&str; 2] = ["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// What the browser saw of a page.
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

fn visited(page: &Path, axe: Option<PathBuf>) -> Option<Value> {
    let Some(browser) = BROWSERS.iter().find(|path| Path::new(path).exists()) else {
        skip(Need::Perfetto, "no Chromium (apt-get install chromium)");
        return None;
    };
    let mut command = Command::new("node");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../browser/page.mjs"));
    let Ok(output) = command.arg(browser).arg(page).args(axe).output() else {
        skip(Need::Perfetto, "no node");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).expect("what was seen"))
}
