//! Which file it is, whatever its name.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Device and inode, or volume and index of the file, which are the same for all names of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileId(u64, u64);

impl FileId {
    /// The file at the end of all links.
    pub fn of(path: &Path) -> io::Result<Self> {
        cfg_select! {
            unix => Ok(Self::of_metadata(&fs::metadata(path)?)),
            windows => Self::of_handle(winapi_util::Handle::from_path_any(path)?),
        }
    }

    /// The file, or the link, of this name.
    pub fn of_name(path: &Path) -> io::Result<Self> {
        let found = fs::symlink_metadata(path)?;
        cfg_select! {
            unix => Ok(Self::of_metadata(&found)),
            windows => {
                if found.is_symlink() {
                    return Err(io::Error::other(format!("{} is a link", path.display())));
                }
                Self::of(path)
            }
        }
    }

    pub fn of_file(file: &File) -> io::Result<Self> {
        cfg_select! {
            unix => Ok(Self::of_metadata(&file.metadata()?)),
            windows => Self::of_handle(file),
        }
    }

    #[cfg(unix)]
    fn of_metadata(found: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self(found.dev(), found.ino())
    }

    #[cfg(windows)]
    fn of_handle(file: impl winapi_util::AsHandleRef) -> io::Result<Self> {
        let found = winapi_util::file::information(file)?;
        Ok(Self(found.volume_serial_number(), found.file_index()))
    }
}

/// The length of a file in bytes as long as it has a name; `None` when it was removed.
pub fn named_length(file: &File) -> io::Result<Option<u64>> {
    let (names, length) = cfg_select! {
        unix => {{
            let found = file.metadata()?;
            (std::os::unix::fs::MetadataExt::nlink(&found), found.len())
        }}
        windows => {{
            let found = winapi_util::file::information(file)?;
            (found.number_of_links(), found.file_size())
        }}
    };
    Ok((names > 0).then_some(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_names_of_a_file_are_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, link] = ["one", "other", "link"].map(|name| folder.path().join(name));
        fs::write(&one, "content").unwrap();
        fs::write(&other, "content").unwrap();
        fs::hard_link(&one, &link).unwrap();
        let id = FileId::of(&one).unwrap();
        assert_eq!(FileId::of(&link).unwrap(), id);
        assert_eq!(FileId::of_name(&link).unwrap(), id);
        assert_eq!(FileId::of_file(&File::open(&link).unwrap()).unwrap(), id);
        assert_ne!(FileId::of(&other).unwrap(), id);
    }

    #[test]
    #[cfg(unix)]
    fn a_link_is_another_file_than_the_one_that_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "content").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(FileId::of(&link).unwrap(), FileId::of(&file).unwrap());
        assert_ne!(FileId::of_name(&link).unwrap(), FileId::of(&file).unwrap());
    }

    #[test]
    fn a_file_that_was_removed_has_no_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "content").unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(named_length(&file).unwrap(), Some(7));
        fs::remove_file(&path).unwrap();
        assert_eq!(named_length(&file).unwrap(), None);
    }
}
