//! Permissions of owner, group and others, as the bits of Unix. Windows has access lists, which a new file inherits from its
//! folder: the bits have no effect there.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::Path;

pub fn of(file: &Metadata) -> u32 {
    cfg_select! {
        unix => std::os::unix::fs::MetadataExt::mode(file),
        windows => {
            let _ = file;
            0o666
        }
    }
}

/// Makes `builder` create temporaries with these permissions, before the umask.
pub fn set(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    cfg_select! {
        unix => {
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
        }
        windows => {
            let _ = (builder, mode);
        }
    }
}

/// Takes from a file or folder the permissions that `mode` lacks.
pub fn limit(path: &Path, mode: u32) -> io::Result<()> {
    cfg_select! {
        unix => {
            use std::os::unix::fs::PermissionsExt;
            let now = fs::symlink_metadata(path)?.permissions().mode();
            if now & 0o777 & !mode == 0 {
                return Ok(());
            }
            fs::set_permissions(path, fs::Permissions::from_mode(now & (mode | !0o777)))
        }
        windows => {
            let _ = (path, mode);
            Ok(())
        }
    }
}

/// Creates a folder with these permissions, before the umask.
pub fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
    cfg_select! {
        unix => std::os::unix::fs::DirBuilderExt::mode(&mut fs::DirBuilder::new(), mode).create(path),
        windows => {
            let _ = mode;
            fs::create_dir(path)
        }
    }
}

/// Creates a file that only its owner can read.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    cfg_select! {
        unix => {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        windows => {}
    }
    options.open(path)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_private_file_is_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = create_private(&path).unwrap();
        assert_eq!(of(&file.metadata().unwrap()) & 0o777, 0o600);
        assert!(create_private(&path).is_err(), "the name is taken");
        create_folder(&folder.path().join("folder"), 0o700).unwrap();
        let found = fs::metadata(folder.path().join("folder")).unwrap();
        assert_eq!(of(&found) & 0o777, 0o700);
    }
}
