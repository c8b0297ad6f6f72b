//! The files of a run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rtl_schema::{Error, Result};

use crate::buckets::{Bucket, FILE};
use crate::damage::damaged;
use crate::manifest::TableManifest;

/// The files of a table of the run in the folder `run`, in the order of ranks: those of buckets that are wanted.
///
/// # Errors
/// Where a bucket or a wanted file is missing, or a folder cannot be read.
pub fn files(
    run: &Path,
    table: &str,
    manifest: &TableManifest,
    is_wanted: impl Fn(&Bucket) -> bool,
) -> Result<Vec<PathBuf>> {
    let folder = run.join(format!("kind={table}"));
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => damaged(&folder, "the folder of a table is missing"),
        _ => Error::Io { action: "read", path: folder.clone(), source },
    };
    let (mut files, mut unwanted) = (Vec::new(), 0);
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let bucket = name.to_str().and_then(|name| Bucket::of_folder(name, manifest.width));
        let Some(bucket) = bucket else { continue };
        let file = entry.path().join(FILE);
        if !is_wanted(&bucket) {
            unwanted += 1;
        } else if file.is_file() {
            files.push((bucket, file));
        }
    }
    let there = files.len() as u64 + unwanted;
    if there != manifest.files {
        return Err(damaged(&folder, format!("{there} of {} files are there", manifest.files)));
    }
    files.sort();
    Ok(files.into_iter().map(|(_, file)| file).collect())
}
