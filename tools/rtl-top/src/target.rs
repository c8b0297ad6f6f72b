//! Finds the recordings of the processes, files and folders that the user names.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use cli::Failure;

use crate::recorders;

/// The recordings of the targets, each once, in the order of the targets. A target without one is a failure.
pub(crate) fn recordings(targets: &[OsString]) -> Result<Vec<PathBuf>, Failure> {
    if targets.is_empty() {
        let found = recorders::all();
        if found.is_empty() {
            return Err(Failure::input(anyhow::anyhow!("no process of this user is being recorded"))
                .with_hint(
                    "`rtl trace COMMAND` records one; name the recording or the folder of a job elsewhere",
                ));
        }
        return Ok(found.into_iter().map(|recorder| recorder.path).collect());
    }
    let mut recordings = Vec::new();
    for target in targets {
        for path in of_target(target)? {
            if !recordings.contains(&path) {
                recordings.push(path);
            }
        }
    }
    Ok(recordings)
}

fn of_target(target: &OsStr) -> Result<Vec<PathBuf>, Failure> {
    let path = Path::new(target);
    if let Some(pid) = target.to_str().and_then(|text| text.parse::<u32>().ok()).filter(|_| !path.exists()) {
        return of_process(pid);
    }
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let found = in_folder(path);
    if found.is_empty() {
        return Err(Failure::input(anyhow::anyhow!("no recordings in the folder: {}", path.display()))
            .with_hint("recordings are named *.db; a process gets one with its first kernel or range"));
    }
    Ok(found)
}

/// The databases in a folder, by name.
pub(crate) fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "db") && path.is_file()).collect();
    files.sort();
    files
}

fn of_process(pid: u32) -> Result<Vec<PathBuf>, Failure> {
    if !recorders::exists(pid) {
        return Err(Failure::input(anyhow::anyhow!("no such process: {pid}"))
            .with_hint("name its recording instead, e.g. trace_<pid>.db, if it has ended"));
    }
    let found = recorders::of_family(pid);
    if found.is_empty() {
        return Err(Failure::input(anyhow::anyhow!("process {pid} is not being recorded")).with_hint(
            "`rtl trace` records a command from its start; a process of another user needs that user or root",
        ));
    }
    Ok(found.into_iter().map(|recorder| recorder.path).collect())
}
