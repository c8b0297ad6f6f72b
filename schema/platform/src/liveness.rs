//! Files that show whether their owner lives: on Unix it holds a lock, on Windows the file is open.

use std::fs::File;
use std::io;
use std::path::Path;

/// Marks a new file as owned until it is closed; false where another process has claimed it. File systems without locks have no owners. On
/// Windows a file that is open for writing is marked: a lock would keep the owner's other handles out.
pub fn mark(file: &File) -> bool {
    cfg_select! {
        unix => !matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)),
        windows => {
            let _ = file;
            true
        }
    }
}

/// Takes over a file until the returned file is closed; an error where its owner lives.
pub fn claim(path: &Path) -> io::Result<File> {
    cfg_select! {
        unix => {
            let file = File::options().read(true).write(true).open(path)?;
            file.try_lock().map_err(|error| match error {
                std::fs::TryLockError::Error(error) => error,
                std::fs::TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
            })?;
            Ok(file)
        }
        windows => {
            use std::os::windows::fs::OpenOptionsExt;
            /// Others may remove the file, but not have it open for reading or writing.
            const FILE_SHARE_DELETE: u32 = 4;
            File::options().read(true).share_mode(FILE_SHARE_DELETE).open(path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_claimed_only_when_its_owner_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let owner = File::create(&path).unwrap();
        assert!(mark(&owner));
        assert!(claim(&path).is_err(), "its owner lives");
        drop(owner);
        let claimed = claim(&path).unwrap();
        assert!(claim(&path).is_err(), "it is claimed");
        drop(claimed);
        assert!(claim(&path).is_ok());
    }
}
