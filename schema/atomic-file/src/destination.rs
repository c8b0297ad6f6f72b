//! Checks of an output before the first byte is written.

use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use platform::identity::FileId;
use platform::{permissions, streams};

use crate::Error;

/// Symbolic links that are followed; Linux has the same limit.
const MAX_LINKS: usize = 40;

/// Decides about an output that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IfExists {
    /// The output stays and writing fails.
    #[default]
    Fail,
    /// The new output replaces it in one step when it is complete.
    Replace,
}

impl IfExists {
    /// [`Self::Replace`] with `--force`, else [`Self::Fail`].
    pub fn forced(force: bool) -> Self {
        if force { Self::Replace } else { Self::Fail }
    }
}

/// The rules for one output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options<'a> {
    pub if_exists: IfExists,
    /// Files that the output must not overwrite, and whose permissions limit those of the output.
    pub inputs: &'a [&'a Path],
}

impl Options<'_> {
    /// The permissions of a new file, before the umask.
    pub fn file_mode(&self) -> u32 {
        let inputs = self.inputs.iter().filter_map(|input| fs::metadata(input).ok());
        0o600 | inputs.filter(Metadata::is_file).fold(0o066, |mode, input| mode & permissions::of(&input))
    }

    /// The permissions of a new folder, before the umask: readers of its files may also list it.
    pub fn folder_mode(&self) -> u32 {
        let mode = self.file_mode();
        0o700 | (mode & 0o044) | (mode & 0o044) >> 2 | (mode & 0o022)
    }
}

/// A path that may be written.
#[derive(Debug, Clone)]
pub struct Destination {
    path: PathBuf,
    /// A regular file or nothing, at the end of all symbolic links; `None` for a stream: a device, FIFO, socket, or an open
    /// file under `/proc`.
    pub(crate) real: Option<PathBuf>,
    pub(crate) if_exists: IfExists,
    pub(crate) mode: u32,
    /// A stream gets its content only at the end.
    pub(crate) is_deferred: bool,
}

impl Destination {
    /// Checks that a file may be written at `path`.
    pub fn check(path: &Path, options: &Options<'_>) -> Result<Self, Error> {
        let found = fs::metadata(path);
        let is_input = |input: &&Path| match (FileId::of(input), FileId::of(path)) {
            (Ok(input), Ok(found)) => input == found,
            _ => false,
        };
        let real = match &found {
            Ok(found) if found.is_dir() => return Err(Error::IsFolder { path: path.to_owned() }),
            Ok(found) if !found.is_file() => None,
            _ if options.inputs.iter().any(is_input) => return Err(Error::IsInput { path: path.to_owned() }),
            _ => follow(path).map_err(|source| Error::io(path, source))?,
        };
        let mode = options.file_mode();
        let destination =
            Self { path: path.to_owned(), real, if_exists: options.if_exists, mode, is_deferred: false };
        destination.check_again()?;
        Ok(destination)
    }

    /// The path as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A device, FIFO, socket or open file is written through.
    pub fn is_stream(&self) -> bool {
        self.real.is_none()
    }

    /// The output is the standard output of this program, under any name.
    pub fn is_standard_output(&self) -> bool {
        self.is_stream() && streams::stdout_at(&self.path).is_some()
    }

    /// Gives a stream its content when that is complete.
    pub fn deferred(self) -> Self {
        Self { is_deferred: true, ..self }
    }

    /// Checks that nothing but a regular file is going to be replaced, and that only where it may be.
    pub(crate) fn check_again(&self) -> Result<(), Error> {
        let exists = || Err(Error::Exists { path: self.path.clone() });
        match self.real.as_ref().map(fs::symlink_metadata) {
            Some(Ok(_)) if self.if_exists == IfExists::Fail => exists(),
            Some(Ok(found)) if !found.is_file() => exists(),
            _ => Ok(()),
        }
    }

    /// Opens the device, FIFO or socket. Standard output keeps its position, because others write to it before and after;
    /// another open file with content is appended to.
    pub(crate) fn open_stream(&self) -> io::Result<fs::File> {
        match streams::stdout_at(&self.path) {
            Some(file) => Ok(file),
            None => OpenOptions::new().append(true).open(&self.path),
        }
    }
}

/// Follows symbolic links to a regular file or to a name that is free; `None` for an open file.
fn follow(path: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
            return Ok(Some(path));
        }
        // Links under /proc name open files, such as /dev/stdout.
        if path
            .parent()
            .and_then(|folder| folder.canonicalize().ok())
            .is_some_and(|at| at.starts_with("/proc"))
        {
            return Ok(None);
        }
        let target = fs::read_link(&path)?;
        path = folder(&path).join(target);
    }
    Err(io::Error::other("too many symbolic links"))
}

pub(crate) fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
