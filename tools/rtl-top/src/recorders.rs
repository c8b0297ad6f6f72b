//! Finds the processes of this machine that record, by the open files of their tracers' threads in `/proc`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use platform::identity::FileId;

/// The name of the thread that writes the file, which has descriptors of its own.
const THREAD: &str = "rtl-record";

/// A file that the tracer of a process has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recorder {
    pub(crate) pid: u32,
    /// The name as the process sees it.
    pub(crate) path: PathBuf,
    file: FileId,
}

/// All processes of which the tracer's descriptors may be read.
pub(crate) fn all() -> Vec<Recorder> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).flat_map(of_process).collect()
}

/// The files that one process records.
pub(crate) fn of_process(pid: u32) -> Vec<Recorder> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let own = threads.filter(|thread| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|name| name.trim_end() == THREAD)
    });
    let descriptors =
        own.filter_map(|thread| fs::read_dir(thread.path().join("fd")).ok()).flatten().flatten();
    let files = descriptors.filter_map(|descriptor| {
        let path = fs::read_link(descriptor.path()).ok()?;
        let file = FileId::of(&descriptor.path()).ok()?;
        let is_recording = path.extension().is_some_and(|end| end == "db") && descriptor.path().is_file();
        is_recording.then_some(Recorder { pid, path, file })
    });
    files.collect()
}

/// The files that a process or those that it started record.
pub(crate) fn of_family(pid: u32) -> Vec<Recorder> {
    let mut family = BTreeSet::from([pid]);
    let mut left = vec![pid];
    while let Some(pid) = left.pop() {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
        for child in
            children.flat_map(|list| list.split_whitespace().flat_map(str::parse).collect::<Vec<u32>>())
        {
            if family.insert(child) {
                left.push(child);
            }
        }
    }
    family.into_iter().flat_map(of_process).collect()
}

/// Returns true if the process exists.
pub(crate) fn exists(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Returns true if a process records into this file: first the one that the file names, which has another number in a container.
pub(crate) fn is_recording(path: &Path, pid: Option<i64>) -> bool {
    let Ok(file) = FileId::of(path) else { return false };
    let is_open = |recorder: &Recorder| recorder.file == file;
    let named = pid.and_then(|pid| u32::try_from(pid).ok()).into_iter().flat_map(of_process);
    named.into_iter().any(|recorder| is_open(&recorder)) || all().iter().any(is_open)
}
