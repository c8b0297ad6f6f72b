//! The files that the processes of a run record, and the processes that still record.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rtl_schema::Trace;

use crate::command::Signals;

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The recordings in a folder, sorted by name.
pub fn list(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "db") && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The recordings that have rows or may still get some. A process that is killed as it creates the file leaves one
/// without tables.
#[must_use]
pub fn with_content(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    files.retain(|file| {
        let is_blank = Trace::open(file).is_err_and(|error| error.is_without_content());
        !is_blank || is_recording(file)
    });
    files
}

/// Waits for processes that outlive the command and still record, until another signal asks for the end. Calls
/// `on_wait` once with their number.
pub fn wait(folder: &Path, signals: &Signals, on_wait: impl FnOnce(usize)) -> io::Result<()> {
    let (requests, mut on_wait) = (signals.end_requests(), Some(on_wait));
    loop {
        let count = list(folder)?.iter().filter(|file| is_recording(file)).count();
        if count == 0 || signals.end_requests() > requests {
            return Ok(());
        }
        if let Some(on_wait) = on_wait.take() {
            on_wait(count);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Returns true if a thread of the process in the file's name has the file open. All threads are looked at, because that of
/// the tracer has descriptors of its own. Processes of other hosts are invisible.
pub(crate) fn is_recording(file: &Path) -> bool {
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
    fn a_file_that_its_process_did_not_begin_to_write_is_no_recording() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: String| folder.path().canonicalize().unwrap().join(name);
        let [damaged, empty] = ["cut_1.db", "empty_2.db"].map(|name| at(name.to_owned()));
        fs::write(&damaged, "SQLite").unwrap();
        fs::write(&empty, "").unwrap();
        let open = at(format!("open_{}.db", std::process::id()));
        let _open = fs::File::create(&open).unwrap();
        let listed = list(folder.path()).unwrap();
        assert_eq!(listed, [damaged.clone(), empty, open.clone()]);
        assert_eq!(with_content(listed), [damaged, open]);
    }

    #[test]
    fn recordings_are_sorted_by_name_and_other_files_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b_2.db", "a_1.db", "note.txt"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let names: Vec<PathBuf> = ["a_1.db", "b_2.db"].iter().map(|name| folder.path().join(name)).collect();
        assert_eq!(list(folder.path()).unwrap(), names);
    }
}
