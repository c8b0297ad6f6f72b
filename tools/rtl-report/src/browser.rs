//! Shows a page in the browser of the user.

use std::path::Path;
use std::process::{Command, Stdio};

/// Asks the desktop to show a file; returns whether one did.
pub(crate) fn open(path: &Path) -> bool {
    // Without a desktop xdg-open would look for browsers of text, which need the terminal.
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mut command = Command::new("xdg-open");
    command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    has_desktop && command.status().is_ok_and(|status| status.success())
}
