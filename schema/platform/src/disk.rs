//! Disks: their free space, and bytes that must be on them.

use std::fs::File;
use std::io;
use std::path::Path;

/// The bytes that this user may still write to the file system of `folder`.
pub fn free_space(folder: &Path) -> io::Result<u64> {
    cfg_select! {
        unix => {
            let disk = rustix::fs::statvfs(folder)?;
            Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
        }
        windows => fs4::available_space(folder),
    }
}

/// Waits until a file, or the names in a folder, are on the disk. Windows has no such call for a folder.
pub fn sync(path: &Path) -> io::Result<()> {
    cfg_select! {
        unix => File::open(path)?.sync_all(),
        // Only a file that is open for writing can be flushed.
        windows => if path.is_dir() { Ok(()) } else { File::options().write(true).open(path)?.sync_all() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_its_folder_are_synced_and_their_disk_has_a_size() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "content").unwrap();
        sync(&file).unwrap();
        sync(folder.path()).unwrap();
        assert!(sync(&folder.path().join("missing")).is_err());
        assert!(free_space(folder.path()).unwrap() > 0);
        assert!(free_space(&folder.path().join("missing")).is_err());
    }
}
