//! Shows a page in the browser of the user.

use std::path::Path;

/// Asks the desktop to show a file; returns whether one did.
pub(crate) fn open(path: &Path) -> bool {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    platform::browser::open(path.as_os_str())
}
