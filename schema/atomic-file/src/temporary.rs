//! Temporary files with a recognisable name and a lock that shows whether their owner lives.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use platform::identity::FileId;
use platform::owner::Owner;
use platform::{liveness, permissions};
use tempfile::TempPath;

use crate::signals::Registered;

const PREFIX: &str = ".rtl-";
const SUFFIX: &str = ".part";
const RANDOM: usize = 10;
/// The file in a temporary folder that carries the lock.
pub(crate) const LOCK: &str = "lock";
/// How long a new folder may be without its lock.
const NAMING: Duration = Duration::from_secs(60);
/// How often another name is tried when another process takes the new file for an orphan.
const ATTEMPTS: usize = 5;

/// Folders from which this process has removed orphans.
static SWEPT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A temporary file; removed on drop.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) path: TempPath,
    pub(crate) file: File,
    _registered: Registered,
}

impl Temporary {
    /// Creates a file in `folder` with these permissions, before the umask.
    pub(crate) fn create(folder: &Path, mode: u32) -> io::Result<Self> {
        for _ in 0..ATTEMPTS {
            let mut name = name();
            permissions::set(&mut name, mode);
            let create = || name.tempfile_in(folder);
            let (created, registered) = Registered::create(create, |file| file.path().to_owned())?;
            let (file, path) = created.into_parts();
            let temporary = Self { path, file, _registered: registered };
            if liveness::mark(&temporary.file) && is_at(&temporary.file, &temporary.path)? {
                sweep_once(folder, &temporary.file.metadata()?);
                return Ok(temporary);
            }
        }
        Err(removed_at_once())
    }

    /// Gives the file another name; with `replace` also one that is taken.
    pub(crate) fn rename(self, path: &Path, replace: bool) -> io::Result<()> {
        let Self { path: temporary, .. } = self;
        let renamed = if replace { temporary.persist(path) } else { temporary.persist_noclobber(path) };
        renamed.map_err(|failed| failed.error)
    }
}

/// Other processes took each of [`ATTEMPTS`] new files for an orphan.
fn removed_at_once() -> io::Error {
    io::Error::other("temporary files are removed as soon as they are created")
}

pub(crate) fn name() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(RANDOM);
    builder
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let file = FileId::of_file(file)?;
    Ok(FileId::of_name(path).is_ok_and(|found| found == file))
}

/// Removes the orphans of a folder, once in a process. `own` is a file that this process has made there.
pub(crate) fn sweep_once(folder: &Path, own: &Metadata) {
    let mut swept = SWEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if !swept.iter().any(|known| known == folder) {
        swept.push(folder.to_owned());
        let owner = Owner::of(own);
        sweep(folder, |found| Owner::of(found) == owner);
    }
}

/// Removes temporaries whose owners are dead, those that are this user's by `is_own`.
pub(crate) fn sweep(folder: &Path, is_own: impl Fn(&Metadata) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_temporary(&entry.file_name().to_string_lossy()) {
            // An orphan that cannot be removed is harmless.
            let _ = remove_orphan(&entry.path(), &is_own);
        }
    }
}

fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

fn remove_orphan(path: &Path, is_own: impl Fn(&Metadata) -> bool) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    if !is_own(&found) || !(found.is_file() || found.is_dir()) {
        return Ok(());
    }
    let locked = if found.is_dir() { path.join(LOCK) } else { path.to_owned() };
    match fs::symlink_metadata(&locked) {
        Ok(lock) if lock.is_file() => {}
        // Its owner is about to name the lock, or died before that.
        Err(error) if error.kind() == io::ErrorKind::NotFound && found.is_dir() => {
            let is_old = found.modified()?.elapsed().is_ok_and(|age| age > NAMING);
            return if is_old { fs::remove_dir_all(path) } else { Ok(()) };
        }
        other => return other.map(|_| ()),
    }
    let _claimed = liveness::claim(&locked)?;
    if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_names_of_temporaries_are_taken_for_orphans() {
        assert!(is_temporary(".rtl-a1B2c3D4e5.part"));
        for name in ["a1B2c3D4e5", ".rtl-short.part", ".rtl-a1B2c3D4e5", ".rtl-a1B2c3D4e/.part", "trace.part"]
        {
            assert!(!is_temporary(name), "{name}");
        }
    }

    #[test]
    fn an_orphan_is_removed_and_a_file_that_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let living = Temporary::create(folder.path(), 0o666).unwrap();
        let [orphan, stranger] =
            [".rtl-abcdefghij.part", ".rtl-mine.part"].map(|name| folder.path().join(name));
        fs::write(&orphan, "half").unwrap();
        fs::write(&stranger, "whole").unwrap();
        let orphaned_folder = folder.path().join(".rtl-0123456789.part");
        fs::create_dir(&orphaned_folder).unwrap();
        fs::write(orphaned_folder.join(LOCK), "").unwrap();
        let [new, abandoned] = ["new0123456", "old0123456"].map(|name| {
            let path = folder.path().join(format!(".rtl-{name}.part"));
            fs::create_dir(&path).unwrap();
            path
        });
        let long_ago = SystemTime::now() - 2 * NAMING;
        File::open(&abandoned).unwrap().set_modified(long_ago).unwrap();
        sweep(folder.path(), |_| false);
        assert!(orphan.exists(), "it belongs to another user");
        sweep(folder.path(), |_| true);
        assert!(!orphan.exists() && !orphaned_folder.exists() && !abandoned.exists());
        assert!(new.exists(), "its owner has not named the lock yet");
        assert!(living.path.exists() && stranger.exists());
    }
}
