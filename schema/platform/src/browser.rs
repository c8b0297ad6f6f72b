//! The browser of the user.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

/// Asks the desktop to show a file or an address; returns whether one did.
pub fn open(target: &OsStr) -> bool {
    let mut command = cfg_select! {
        windows => Command::new("rundll32"),
        _ => Command::new("xdg-open"),
    };
    cfg_select! {
        windows => {
            command.arg("url.dll,FileProtocolHandler");
        }
        _ => {
            // Without a desktop xdg-open would look for browsers of text, which need the terminal.
            if !["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some()) {
                return false;
            }
        }
    }
    command.arg(target).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
