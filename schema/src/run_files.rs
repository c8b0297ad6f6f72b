//! The files of a run of which each holds one kind of record: those of a folder, and those that a user names together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::content::io as io_error;
use crate::dialect::run_of;
use crate::{Error, Input, Result};

/// The largest number of files of a folder and its folders that are looked at.
const LARGEST: usize = 10_000;

/// The files that were named together, by the first of them.
static TOGETHER: Mutex<BTreeMap<PathBuf, Vec<PathBuf>>> = Mutex::new(BTreeMap::new());

/// Takes files of one run as one trace: rocprofv3's CSV files of one process. Of each run the first path stays, and
/// [`crate::Trace::open`] of this path reads all of them from now on. Other paths stay as they are.
pub fn join_files_of_runs(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut together = TOGETHER.lock().unwrap_or_else(PoisonError::into_inner);
    let mut firsts: BTreeMap<(PathBuf, String), PathBuf> = BTreeMap::new();
    let mut kept = Vec::with_capacity(paths.len());
    for path in paths {
        let first = run_of(path).filter(|_| !Input::is_stream(path)).and_then(|run| match firsts.get(&run) {
            Some(first) => Some(first.clone()),
            None => {
                together.insert(path.clone(), vec![path.clone()]);
                firsts.insert(run, path.clone());
                None
            }
        });
        match first.and_then(|first| together.get_mut(&first)) {
            Some(files) if files.contains(path) => {}
            Some(files) => files.push(path.clone()),
            None => kept.push(path.clone()),
        }
    }
    kept
}

/// The files that `path` stands for: those that were named together with it, those of a folder, else `path` alone. The
/// files are all in one folder: those of another machine have another clock, and `pmc_1` and `pmc_2` are runs of their own.
pub(crate) fn files_of(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_dir() {
        let mut files = Vec::new();
        let mut left = LARGEST;
        list(path, 1, &mut left, &mut files)?;
        files.sort();
        let mut folders: Vec<_> = files.iter().filter_map(|file| file.parent()).collect();
        folders.dedup();
        if let [first, second, ..] = folders[..] {
            let found =
                format!("files of runs in several folders ({} and {})", first.display(), second.display());
            return Err(Error::Ambiguous { path: path.to_owned(), found });
        }
        return if files.is_empty() { Err(no_run(path)) } else { Ok(files) };
    }
    let together = TOGETHER.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(together.get(path).cloned().unwrap_or_else(|| vec![path.to_owned()]))
}

/// The error for a folder without files of a run.
fn no_run(folder: &Path) -> Error {
    let path = folder.to_owned();
    if ["ops.csv", "ops.parquet"].iter().any(|name| folder.join(name).is_file()) {
        let found = "a folder of tables that rtl-convert has written";
        return Error::Unread { path, found, hint: "name the trace that they were made from" };
    }
    Error::Folder { path }
}

/// Adds the files of a folder, and of its folders down to `depth`, whose names are those of files of a run.
fn list(folder: &Path, depth: u32, left: &mut usize, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(io_error("read", folder))? {
        *left = left.checked_sub(1).ok_or_else(|| {
            let found = format!("more than {LARGEST} files, which is no run");
            Error::Ambiguous { path: folder.to_owned(), found }
        })?;
        let path = entry.map_err(io_error("read", folder))?.path();
        if run_of(&path).is_some() && path.is_file() {
            files.push(path);
        } else if depth > 0 && path.is_dir() {
            list(&path, depth - 1, left, files)?;
        }
    }
    Ok(())
}
