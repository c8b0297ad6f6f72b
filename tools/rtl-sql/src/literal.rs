//! Values as text of SQL.

use std::path::Path;

/// A path as the text of a string of SQL.
pub(crate) fn quoted(path: &Path) -> String {
    path.display().to_string().replace('\'', "''")
}
