//! Folders that only this user can enter, used through a descriptor.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use tempfile::TempDir;

use crate::signals::Registered;
use crate::temporary::{self, LOCK};

/// The name of a lock that is not taken yet.
const NEW_LOCK: &str = "lock.new";

/// Permissions of a private folder.
const OWNER_ONLY: u32 = 0o700;

/// A folder of this user alone. Its path names the descriptor, so whatever takes its name meanwhile is not used.
#[derive(Debug)]
pub struct OwnDir(File);

impl OwnDir {
    /// Opens a folder. Refuses a link, and a folder that belongs to another user or is open to one.
    ///
    /// # Errors
    /// [`io::ErrorKind::PermissionDenied`] for a folder that is not private, and errors of the operating system.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
        let found = folder.metadata()?;
        if found.uid() != geteuid().as_raw() || found.mode() & 0o777 != OWNER_ONLY {
            let what = format!("{} is not a private folder of this user", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        Ok(Self(folder))
    }

    /// Creates a folder whose name is that of `name` with random letters.
    ///
    /// # Errors
    /// The folder around it cannot be written.
    pub(crate) fn create(
        name: &mut tempfile::Builder<'_, '_>,
        around: &Path,
    ) -> io::Result<(Self, TempDir, Registered)> {
        let create = || name.permissions(Permissions::from_mode(OWNER_ONLY)).tempdir_in(around);
        let (folder, registered) = Registered::create(create, |folder| folder.path().to_owned())?;
        // The umask may have taken permissions.
        Ok((Self::open(folder.path())?, folder, registered))
    }

    /// The path of the folder, valid in this process.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        open_path(&self.0)
    }
}

/// The path of an open file, valid in this process; nothing that takes its name meanwhile is behind it.
pub(crate) fn open_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A temporary folder of this user alone, with a random name. It is removed on drop, on signals where a program calls
/// [`crate::remove_on_signals`], and after SIGKILL by the next run that writes into the same folder.
#[derive(Debug)]
pub struct PrivateDir {
    folder: OwnDir,
    temporary: TempDir,
    _registered: Registered,
    /// Held as long as the folder is used.
    _lock: File,
}

impl PrivateDir {
    /// Creates one in the folder `around`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create_in(around: &Path) -> io::Result<Self> {
        let (folder, temporary, registered) = OwnDir::create(&mut temporary::name(), around)?;
        // Other processes take a folder for an orphan whose lock is free, so the lock has its name once it is taken.
        let (new, named) = (folder.path().join(NEW_LOCK), folder.path().join(LOCK));
        let lock = File::create(&new)?;
        temporary::lock(&lock)?;
        fs::rename(new, named)?;
        temporary::sweep_once(around, &lock.metadata()?);
        Ok(Self { folder, temporary, _registered: registered, _lock: lock })
    }

    /// Its path for this process: see [`OwnDir::path`].
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path()
    }

    /// Its name, for other programs and for libraries that resolve links.
    #[must_use]
    pub fn name(&self) -> &Path {
        self.temporary.path()
    }
}

/// A folder with a name of its own choice that other processes find again. It is removed on signals and by [`Self::remove`].
#[derive(Debug)]
pub struct NamedDir {
    folder: OwnDir,
    name: PathBuf,
    _registered: Registered,
}

impl NamedDir {
    /// Creates a folder named `prefix` and random letters in the folder `around`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create_in(around: &Path, prefix: &str) -> io::Result<Self> {
        let mut name = tempfile::Builder::new();
        name.prefix(prefix);
        let (folder, temporary, registered) = OwnDir::create(&mut name, around)?;
        Ok(Self { folder, name: temporary.keep(), _registered: registered })
    }

    /// Opens a folder that another process of this user has left.
    ///
    /// # Errors
    /// As [`OwnDir::open`].
    pub fn open(name: &Path) -> io::Result<Self> {
        let open = || OwnDir::open(name);
        let (folder, registered) = Registered::create(open, |_| name.to_owned())?;
        Ok(Self { folder, name: name.to_owned(), _registered: registered })
    }

    /// Its path for this process: see [`OwnDir::path`].
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path()
    }

    /// Its name.
    #[must_use]
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
        let (uid, is_over) = (geteuid().as_raw(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    temporary::sweep(around.path(), uid);
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
