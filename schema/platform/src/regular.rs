//! Small files that are read by their names: settings, manifests. A FIFO or a device that is planted there gives an error instead
//! of a program that waits or fills the memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a whole file of at most `limit` bytes.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for anything but a regular file, [`io::ErrorKind::FileTooLarge`] above the limit, and those of
/// the system.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut options = File::options();
    options.read(true);
    cfg_select! {
        unix => {
            use rustix::fs::OFlags;
            // To open a FIFO waits for its writer, and to open a device may have effects.
            let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
            std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
        }
        windows => {}
    }
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut content = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        let what = format!("larger than {} MiB", limit >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(content)
}

/// As [`read`], of a text in UTF-8.
///
/// # Errors
/// As [`read`], and [`io::ErrorKind::InvalidData`] where it is no such text.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let not_utf8 = |_| io::Error::new(io::ErrorKind::InvalidData, "not a text in UTF-8");
    String::from_utf8(read(path, limit)?).map_err(not_utf8)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("text"), "ab").unwrap();
        symlink(path("text"), path("link")).unwrap();
        assert_eq!(read_text(&path("link"), 2).unwrap(), "ab");
        assert_eq!(read(&path("text"), 1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        mknodat(CWD, path("fifo"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        symlink("/dev/zero", path("zero")).unwrap();
        for refused in [path("fifo"), path("zero"), folder.path().to_owned()] {
            let error = read(&refused, 1 << 20).unwrap_err();
            assert_eq!(error.to_string(), "not a regular file", "{}", refused.display());
        }
        std::fs::write(path("text"), [0xff]).unwrap();
        assert_eq!(read_text(&path("text"), 2).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
