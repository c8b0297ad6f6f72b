//! Paths of open files.

use std::fs::File;
use std::path::{Path, PathBuf};

/// The path of an open file, valid in this process. On Unix nothing that takes its `name` meanwhile is behind it; on Windows it
/// is the name.
pub fn path(file: &File, name: &Path) -> PathBuf {
    cfg_select! {
        unix => {
            let _ = name;
            descriptor(file)
        }
        windows => {
            let _ = file;
            name.to_owned()
        }
    }
}

#[cfg(unix)]
pub(crate) fn descriptor(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file)))
}
