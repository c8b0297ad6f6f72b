//! Folders of this user alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Permissions of a private folder.
pub const OWNER_ONLY: u32 = 0o700;

/// A folder of this user alone. On Unix its path names the descriptor, so whatever takes its name meanwhile is not used. On
/// Windows the access lists of the folder around it say who may enter.
#[derive(Debug)]
pub struct PrivateFolder(#[cfg(unix)] fs::File, #[cfg(windows)] PathBuf);

impl PrivateFolder {
    /// Opens a folder. Refuses a link, and on Unix a folder that belongs to another user or is open to one, with
    /// [`io::ErrorKind::PermissionDenied`].
    pub fn open(path: &Path) -> io::Result<Self> {
        let (folder, is_private) = cfg_select! {
            unix => {{
                use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

                use rustix::fs::OFlags;
                let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let folder = fs::File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path)?;
                let found = folder.metadata()?;
                let is_own = found.uid() == rustix::process::geteuid().as_raw();
                (folder, is_own && found.mode() & 0o777 == OWNER_ONLY)
            }}
            windows => (path.to_owned(), fs::symlink_metadata(path)?.is_dir()),
        };
        if !is_private {
            let what = format!("{} is not a private folder of this user", path.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
        }
        Ok(Self(folder))
    }

    /// The path of the folder, valid in this process.
    pub fn path(&self) -> PathBuf {
        cfg_select! {
            unix => crate::open_files::descriptor(&self.0),
            windows => self.0.clone(),
        }
    }
}
