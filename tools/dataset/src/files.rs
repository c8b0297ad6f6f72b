//! The files of a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rtl_schema::{Error, Result};

use crate::manifest::TableManifest;

/// What the user can do about a run with a damaged file.
const AGAIN: &str = "add the run again: rtl-convert TRACE --to dataset -o DIR --force";

/// The error for a file of a run.
pub(crate) fn damaged(path: &Path, why: impl std::fmt::Display) -> Error {
    let found = format!("damaged run of a data set ({why})");
    Error::DataSet { path: path.to_owned(), found, hint: AGAIN.to_owned() }
}

/// The files of a table of the run in the folder `run`, by rank.
///
/// # Errors
/// Where some are missing, or a folder cannot be read.
pub fn files(run: &Path, table: &str, manifest: &TableManifest) -> Result<Vec<(Option<u32>, PathBuf)>> {
    let folder = run.join(format!("kind={table}"));
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => damaged(&folder, "the folder of a table is missing"),
        _ => Error::Io { action: "read", path: folder.clone(), source },
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(rank) = name.to_str().and_then(|name| name.strip_prefix("rank=")) else { continue };
        let rank = rank.parse().ok();
        for entry in fs::read_dir(entry.path()).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            if file.extension().is_some_and(|ending| ending == "parquet") {
                files.push((rank, file));
            }
        }
    }
    if files.len() as u64 != manifest.files {
        return Err(damaged(&folder, format!("{} of {} files are there", files.len(), manifest.files)));
    }
    files.sort();
    Ok(files)
}
