//! `--recover`: makes the trace of the recordings that a killed rtl-trace has left.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use cli::{Failure, ResultExt};
use rustix::fs::OFlags;
use tempfile::TempDir;

use crate::target::{Target, left_output};
use crate::{recordings, status};

/// The number of times that a folder is created if others remove it.
const ATTEMPTS: usize = 100;

/// Recordings without an rtl-trace, and the outputs that they were made for.
#[derive(Debug)]
pub struct Left {
    pub folder: PathBuf,
    pub files: Vec<PathBuf>,
    /// None of the outputs exists.
    pub target: Target,
    /// The open file keeps others from recovering the same folder.
    _held: File,
}

/// Marks the folder as used by this process, as long as the file is open. Fails with `WouldBlock` where another process
/// uses it.
pub fn hold(folder: &Path) -> io::Result<File> {
    // A FIFO of the name of a folder would wait for a writer.
    let flags = OFlags::DIRECTORY.bits().cast_signed();
    let held = File::options().read(true).custom_flags(flags).open(folder)?;
    match held.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
        // Some network file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(held),
    }
}

/// Creates the folder of the recordings, and marks it as used by this process.
pub fn create(target: &Target) -> Result<(TempDir, File), Failure> {
    // Another rtl-trace takes the folder for an orphan until it is marked, and may remove it.
    for _ in 0..ATTEMPTS {
        let folder = target.folder()?;
        match hold(folder.path()) {
            Ok(held) if is_at(&held, folder.path()) => return Ok((folder, held)),
            Err(error) if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound) => {
                return Err(Failure::new(status::OWN, error));
            }
            _ => {}
        }
    }
    Err(status::failure(format!(
        "the folder of the recordings of {} was removed at once",
        target.trace.display()
    )))
}

fn is_at(file: &File, path: &Path) -> bool {
    let found = path.metadata().and_then(|found| Ok((found, file.metadata()?)));
    found.is_ok_and(|(named, open)| (named.dev(), named.ino()) == (open.dev(), open.ino()))
}

/// Removes the folders in `parent` that a killed rtl-trace has left without recordings, unless a process of this machine may
/// still record into one.
pub fn remove_empty(parent: &Path) {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    for folder in entries.map(|entry| entry.path()).filter(|path| left_output(path).is_some()) {
        let Ok(folder) = folder.canonicalize() else { continue };
        let Ok(_held) = hold(&folder) else { continue };
        let is_empty =
            recordings::list(&folder).is_ok_and(|files| recordings::with_content(files).is_empty());
        if is_empty && !is_named_by_a_process(&folder) {
            for note in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let _ = std::fs::remove_file(note.path());
            }
            // A folder with other things in it stays.
            let _ = std::fs::remove_dir(&folder);
        }
    }
}

/// Returns true if a process was started to record into the folder.
fn is_named_by_a_process(folder: &Path) -> bool {
    let variable = [b"RTL_NOTES=", folder.as_os_str().as_bytes()].concat();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
    environments.any(|variables| variables.split(|&byte| byte == 0).any(|set| set == variable))
}

/// The folders in `parent` with recordings that no process uses, of the trace of this name or of any.
#[must_use]
pub fn left_in(parent: &Path, name: Option<&Path>) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    let is_left = |folder: &PathBuf| {
        let output = left_output(folder);
        let is_named =
            output.is_some_and(|output| name.is_none_or(|name| output.file_name() == name.file_name()));
        is_named && folder.is_dir() && hold(folder).is_ok() && has_only_ended(folder)
    };
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_left).collect();
    folders.sort();
    folders
}

fn has_only_ended(folder: &Path) -> bool {
    let folder = folder.canonicalize().and_then(|folder| recordings::list(&folder));
    folder.is_ok_and(|files| {
        !files.iter().any(|file| recordings::is_recording(file))
            && !recordings::with_content(files).is_empty()
    })
}

/// Finds the recordings in the folder that is `named`, in the only such folder within it, or beside the default output. The
/// trace is `output`, else the one for which the recordings were made. Fails where there are none or several, where a
/// process still writes them, and where one of the outputs exists.
pub fn find(named: Option<&Path>, output: Option<&Path>, perfetto: bool) -> Result<Left, Failure> {
    let named = named.filter(|named| !named.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = named.canonicalize().with_exit(status::OWN);
    let folder = folder.with_context(|| format!("cannot read {}", named.display()))?;
    let folder = if left_output(&folder).is_some() { folder } else { only_in(&folder, named)? };
    let held = hold(&folder).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => status::failure(format!("an rtl-trace still uses {}", folder.display()))
            .with_hint("it makes the trace when its command has ended"),
        _ => Failure::new(status::OWN, error).context(format!("cannot read {}", folder.display())),
    })?;
    let files = recordings::with_content(recordings::list(&folder).with_exit(status::OWN)?);
    if files.is_empty() {
        return Err(
            status::failure(format!("no recordings in {}", folder.display())).with_hint("remove the folder")
        );
    }
    if let Some(file) = files.iter().find(|file| recordings::is_recording(file)) {
        let what = format!("a process still records {}", file.display());
        return Err(status::failure(what).with_hint("try again when it has ended"));
    }
    let output = output.map(Path::to_owned).or_else(|| left_output(&folder)).unwrap_or_default();
    let target = Target::for_trace(&output);
    let outputs = [Some(&target.trace), Some(&target.summary), perfetto.then_some(&target.perfetto)];
    if let Some(existing) = outputs.into_iter().flatten().find(|path| path.symlink_metadata().is_ok()) {
        let what = format!("{} exists and is not replaced", existing.display());
        return Err(status::failure(what).with_hint("name another trace with -o"));
    }
    Ok(Left { folder, files, target, _held: held })
}

/// The only folder of recordings within the one that the user calls `named`.
fn only_in(folder: &Path, named: &Path) -> Result<PathBuf, Failure> {
    let mut left = left_in(folder, None);
    match (left.pop(), left.len()) {
        (Some(only), 0) => Ok(only),
        (Some(last), others) => {
            let what = format!("{} has {} folders of recordings", named.display(), others + 1);
            let all: Vec<String> =
                left.iter().chain([&last]).map(|path| path.display().to_string()).collect();
            Err(status::failure(what).with_hint(format!("name one of them: {}", all.join(" "))))
        }
        (None, _) => {
            Err(status::failure(format!("no recordings of a killed rtl-trace in {}", named.display()))
                .with_hint(
                    "their folder is named .TRACE.rtl-trace-...; name it, or the folder that it is in",
                ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn left(parent: &Path, name: &str) -> PathBuf {
        let folder = parent.join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::copy(support::fixture("two-kernels"), folder.join("host_1.db")).unwrap();
        folder
    }

    fn refusal(named: &Path) -> String {
        find(Some(named), None, true).unwrap_err().lines("rtl-trace")
    }

    #[test]
    fn the_only_folder_is_found_beside_the_output_and_by_its_name() {
        let parent = tempfile::tempdir().unwrap();
        assert!(refusal(parent.path()).contains("no recordings of a killed rtl-trace in"));
        let folder = left(parent.path(), ".job.db.rtl-trace-abc").canonicalize().unwrap();
        for named in [parent.path(), &folder] {
            let found = find(Some(named), None, true).unwrap();
            assert_eq!((&found.folder, found.files.len()), (&folder, 1));
            assert_eq!(found.target.trace, folder.with_file_name("job.db"));
        }
        left(parent.path(), ".trace.db.rtl-trace-abc");
        assert!(refusal(parent.path()).contains("has 2 folders of recordings\nhint: name one of them: "));
        assert_eq!(
            left_in(parent.path(), Some(Path::new("x/job.db"))),
            [parent.path().join(".job.db.rtl-trace-abc")]
        );
    }

    #[test]
    fn a_folder_without_recordings_is_removed_unless_it_is_used() {
        let parent = tempfile::tempdir().unwrap();
        let create = |name: &str| {
            let folder = parent.path().canonicalize().unwrap().join(format!(".job.db.rtl-trace-{name}"));
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("4711.loaded"), "").unwrap();
            folder
        };
        let [empty, used, awaited] = ["empty", "used", "awaited"].map(create);
        let recorded = left(parent.path(), ".job.db.rtl-trace-recorded");
        let _held = hold(&used).unwrap();
        let mut process = std::process::Command::new("sleep");
        let mut process = process.arg("60").env("RTL_NOTES", &awaited).spawn().unwrap();
        // The system starts a program before it shows its environment.
        let environment = format!("/proc/{}/environ", process.id());
        while std::fs::read(&environment).unwrap().is_empty() {
            std::thread::yield_now();
        }
        remove_empty(parent.path());
        assert_eq!(
            [&empty, &used, &awaited, &recorded].map(|folder| folder.exists()),
            [false, true, true, true]
        );
        process.kill().unwrap();
        process.wait().unwrap();
        remove_empty(parent.path());
        assert!(!awaited.exists() && recorded.exists());
    }

    #[test]
    fn a_file_without_tables_is_left_out_of_the_trace_and_goes_with_its_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = left(parent.path(), ".job.db.rtl-trace-abc").canonicalize().unwrap();
        let recording = folder.join("host_1.db");
        std::fs::write(folder.join("host_2.db"), "").unwrap();
        assert_eq!(find(Some(&folder), None, true).unwrap().files, std::slice::from_ref(&recording));
        std::fs::remove_file(recording).unwrap();
        assert!(refusal(&folder).contains("no recordings in"));
        assert!(left_in(parent.path(), None).is_empty());
        remove_empty(parent.path());
        assert!(!folder.exists());
    }

    #[test]
    fn a_folder_that_is_being_created_is_not_removed_as_an_orphan() {
        let parent = tempfile::tempdir().unwrap();
        let (target, is_over) = (Target::for_trace(&parent.path().join("job.db")), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    remove_empty(parent.path());
                }
            });
            let created = (0..500).map(|_| create(&target).map(|(folder, _held)| folder.path().is_dir()));
            let created: Vec<_> = created.collect();
            is_over.store(true, Ordering::Relaxed);
            assert!(created.iter().all(|created| matches!(created, Ok(true))), "{created:?}");
        });
    }

    #[test]
    fn a_folder_that_is_used_is_not_taken_and_no_output_is_replaced() {
        let parent = tempfile::tempdir().unwrap();
        let folder = left(parent.path(), ".job.db.rtl-trace-abc");
        let held = hold(&folder).unwrap();
        assert!(refusal(&folder).contains("an rtl-trace still uses"));
        assert!(left_in(parent.path(), None).is_empty());
        drop(held);
        let path = folder.canonicalize().unwrap().join(format!("host_{}.db", std::process::id()));
        let recording = File::create(&path).unwrap();
        assert!(refusal(&folder).contains("a process still records"));
        assert!(left_in(parent.path(), None).is_empty());
        drop(recording);
        for existing in ["job.db", "job_summary.txt", "job.json.gz"] {
            std::fs::write(parent.path().join(existing), "mine").unwrap();
            assert!(refusal(&folder).contains(&format!("{existing} exists and is not replaced\nhint:")));
            std::fs::remove_file(parent.path().join(existing)).unwrap();
        }
        assert!(find(Some(&folder), None, true).is_ok());
    }
}
