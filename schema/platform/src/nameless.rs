//! Temporary files without a name, of which nothing remains however the process ends.

use std::fs::File;
use std::io;
use std::path::Path;

/// A temporary file that can be opened again. On Windows it has a name, which is removed on drop only.
#[derive(Debug)]
pub struct Nameless(#[cfg(unix)] File, #[cfg(windows)] tempfile::NamedTempFile);

impl Nameless {
    /// Creates an empty file in the folder of temporary files.
    pub fn create() -> io::Result<Self> {
        cfg_select! {
            unix => tempfile::tempfile().map(Self),
            windows => tempfile::NamedTempFile::new().map(Self),
        }
    }

    pub fn file(&mut self) -> &mut File {
        cfg_select! {
            unix => &mut self.0,
            windows => self.0.as_file_mut(),
        }
    }

    /// Opens the content from its start.
    pub fn reader(&self) -> io::Result<File> {
        cfg_select! {
            unix => File::open(crate::open_files::descriptor(&self.0)),
            windows => self.0.reopen(),
        }
    }

    /// Gives the file another name; some file systems cannot name a file that has no name.
    pub fn link(&self, name: &Path) -> io::Result<()> {
        cfg_select! {
            unix => {
                use rustix::fs::{AtFlags, CWD, linkat};
                let place = crate::open_files::descriptor(&self.0);
                Ok(linkat(CWD, place, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
            }
            windows => std::fs::hard_link(self.0.path(), name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn a_file_without_a_name_is_read_again_from_its_start() {
        let mut nameless = Nameless::create().unwrap();
        nameless.file().write_all(b"content").unwrap();
        for _ in 0..2 {
            let mut content = String::new();
            nameless.reader().unwrap().read_to_string(&mut content).unwrap();
            assert_eq!(content, "content");
        }
    }
}
