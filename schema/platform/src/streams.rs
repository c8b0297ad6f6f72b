//! Standard input and output as files.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::identity::FileId;

/// The path of standard input, where the system has one.
pub const STDIN: Option<&str> = cfg_select! {
    unix => Some("/dev/stdin"),
    windows => None,
};

/// Duplicates the descriptor, so that closing the file leaves the stream open.
pub fn stdin() -> io::Result<File> {
    cfg_select! {
        unix => std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().map(File::from),
        windows => std::os::windows::io::AsHandle::as_handle(&io::stdin()).try_clone_to_owned().map(File::from),
    }
}

/// Duplicates the descriptor, so that closing the file leaves the stream open.
pub fn stdout() -> io::Result<File> {
    cfg_select! {
        unix => std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned().map(File::from),
        windows => std::os::windows::io::AsHandle::as_handle(&io::stdout()).try_clone_to_owned().map(File::from),
    }
}

/// Standard output, where `path` is one of its names.
pub fn stdout_at(path: &Path) -> Option<File> {
    let file = stdout().ok()?;
    (FileId::of(path).ok()? == FileId::of_file(&file).ok()?).then_some(file)
}
