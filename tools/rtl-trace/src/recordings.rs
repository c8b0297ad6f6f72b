//! The files that the processes of a run leave, and who still writes one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::command::Signals;

/// How long to wait between two looks at who still records.
const LOOK: Duration = Duration::from_millis(20);

/// The recordings in a folder by their names.
///
/// # Errors
/// The folder cannot be read.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "db") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Waits while processes that outlive the command still record, at most until one more signal asks for the end than the
/// command has seen. `told` is given their number, once.
///
/// # Errors
/// The folder cannot be read.
pub fn wait(folder: &Path, signals: &Signals, told: impl FnOnce(usize)) -> io::Result<()> {
    let (asked, mut told) = (signals.asked_to_end(), Some(told));
    loop {
        let count = list(folder)?.iter().filter(|file| is_recording(file)).count();
        if count == 0 || signals.asked_to_end() > asked {
            return Ok(());
        }
        if let Some(told) = told.take() {
            told(count);
        }
        std::thread::sleep(LOOK);
    }
}

/// Whether a thread of the process that the file is named after has it open: the tracer's has open files of its own.
/// Those of other hosts cannot be asked.
fn is_recording(file: &Path) -> bool {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let numbers = stem.rsplit('_').take(2).filter_map(|part| part.parse::<u32>().ok());
    let threads =
        numbers.filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten().flatten();
    let mut descriptors =
        threads.filter_map(|thread| fs::read_dir(thread.path().join("fd")).ok()).flatten().flatten();
    descriptors.any(|descriptor| fs::read_link(descriptor.path()).is_ok_and(|open| open == file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_being_recorded_while_its_process_has_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let pid = std::process::id();
        for name in [format!("host_{pid}.db"), format!("my_host_{pid}_2.db")] {
            let path = folder.path().canonicalize().unwrap().join(name);
            let file = fs::File::create(&path).unwrap();
            assert!(is_recording(&path), "{}", path.display());
            drop(file);
            assert!(!is_recording(&path), "{}", path.display());
        }
    }

    #[test]
    fn the_files_are_in_the_order_of_their_names_and_others_are_none() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b_2.db", "a_1.db", "note.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<PathBuf> = ["a_1.db", "b_2.db"].iter().map(|name| folder.path().join(name)).collect();
        assert_eq!(list(folder.path()).unwrap(), names);
    }
}
