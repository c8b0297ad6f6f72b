//! Where a report goes, if not to standard output.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use cli::{Failure, ResultExt};

use super::document::SCHEMA;
use crate::args::Arguments;
use crate::target;

/// Checks that the report may be written, before anything is read.
///
/// # Errors
/// Where it is one of the traces, or something else than a report stands in its place.
pub(super) fn check(arguments: &Arguments) -> Result<(), Failure> {
    target::distinct(&arguments.traces, arguments.output.as_deref())?;
    let Some(path) = &arguments.output else { return Ok(()) };
    if path.symlink_metadata().is_ok() && !arguments.force && !is_report(path) {
        return Err(Failure::usage(format!("{} exists and is no report", path.display()))
            .with_hint("--force replaces it"));
    }
    Ok(())
}

/// Writes a file that appears whole or not at all.
///
/// # Errors
/// Those of the disk.
pub(super) fn write(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let write = || -> io::Result<()> {
        let part = tempfile::Builder::new()
            .prefix(".rtl-merge.")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(target::folder(path))?;
        let mut file = BufWriter::new(part);
        content(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.persist(path)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

/// Whether a file begins as a report does.
fn is_report(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut start));
    read.is_ok() && String::from_utf8_lossy(&start).contains(&format!("\"{SCHEMA}\""))
}
