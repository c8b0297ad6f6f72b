//! Temporary folders that only this user can enter.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use platform::folder::{OWNER_ONLY, PrivateFolder};
use platform::{liveness, permissions};
use tempfile::TempDir;

use crate::signals::Registered;
use crate::temporary::{self, LOCK};

/// The name of a lock that is not taken yet.
const NEW_LOCK: &str = "lock.new";

fn create(
    name: &mut tempfile::Builder<'_, '_>,
    around: &Path,
) -> io::Result<(PrivateFolder, TempDir, Registered)> {
    permissions::set(name, OWNER_ONLY);
    let (folder, registered) =
        Registered::create(|| name.tempdir_in(around), |folder| folder.path().to_owned())?;
    // The umask may have taken permissions.
    Ok((PrivateFolder::open(folder.path())?, folder, registered))
}

/// A temporary folder of this user alone, with a random name. It is removed on drop, on signals where a program calls
/// [`crate::remove_on_signals`], and after SIGKILL by the next run that writes into the same folder.
#[derive(Debug)]
pub struct PrivateDir {
    folder: PrivateFolder,
    temporary: TempDir,
    _registered: Registered,
    /// Held as long as the folder is used.
    _lock: File,
}

impl PrivateDir {
    /// Creates one in the folder `around`.
    pub fn create_in(around: &Path) -> io::Result<Self> {
        let (folder, temporary, registered) = create(&mut temporary::name(), around)?;
        // Other processes take a folder for an orphan whose lock is free, so the lock has its name once it is taken.
        let (new, named) = (folder.path().join(NEW_LOCK), folder.path().join(LOCK));
        let lock = File::create(&new)?;
        let _ = liveness::mark(&lock);
        fs::rename(new, named)?;
        temporary::sweep_once(around, &lock.metadata()?);
        Ok(Self { folder, temporary, _registered: registered, _lock: lock })
    }

    /// The path for this process: see [`PrivateFolder::path`].
    pub fn path(&self) -> PathBuf {
        self.folder.path()
    }

    /// The name, for other programs and for libraries that resolve links.
    pub fn name(&self) -> &Path {
        self.temporary.path()
    }
}

/// A folder with a name of its own choice that other processes find again. It is removed on signals and by [`Self::remove`].
#[derive(Debug)]
pub struct NamedDir {
    folder: PrivateFolder,
    name: PathBuf,
    _registered: Registered,
}

impl NamedDir {
    /// Creates a folder named `prefix` and random letters in the folder `around`.
    pub fn create_in(around: &Path, prefix: &str) -> io::Result<Self> {
        let mut name = tempfile::Builder::new();
        name.prefix(prefix);
        let (folder, temporary, registered) = create(&mut name, around)?;
        Ok(Self { folder, name: temporary.keep(), _registered: registered })
    }

    /// Opens a folder that another process of this user has left.
    pub fn open(name: &Path) -> io::Result<Self> {
        let open = || PrivateFolder::open(name);
        let (folder, registered) = Registered::create(open, |_| name.to_owned())?;
        Ok(Self { folder, name: name.to_owned(), _registered: registered })
    }

    /// The path for this process: see [`PrivateFolder::path`].
    pub fn path(&self) -> PathBuf {
        self.folder.path()
    }

    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Removes the folder with its files; folders in it stay, and the folder with them.
    pub fn remove(&self) {
        for entry in fs::read_dir(self.path()).into_iter().flatten().flatten() {
            let _ = fs::remove_file(entry.path());
        }
        // An empty folder that stays is used again. Does not follow a link.
        let _ = fs::remove_dir(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_folder_that_is_being_created_is_not_removed_as_an_orphan() {
        let around = tempfile::tempdir().unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    temporary::sweep(around.path(), |_| true);
                }
            });
            let used = || {
                let folder = PrivateDir::create_in(around.path())?;
                fs::write(folder.name().join("trace"), "content")
            };
            let results: Vec<_> = (0..1_000).map(|_| used()).filter_map(Result::err).collect();
            is_over.store(true, Ordering::Relaxed);
            assert!(results.is_empty(), "{} of 1000: {:?}", results.len(), results[0]);
        });
    }
}
