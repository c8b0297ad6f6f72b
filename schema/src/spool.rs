//! Private copies of inputs that are no files which SQLite can open: pipes, and what compressed files hold.
//!
//! A copy has no name, so on Unix nothing of it remains however the process ends. SQLite needs one for the moment of opening.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use atomic_file::PrivateDir;
use platform::nameless::Nameless;
use platform::permissions::create_private;

use crate::content::io as io_error;
use crate::{Error, Result};

/// Bytes of a copy, unless [`set_input_limit`] says otherwise.
const DEFAULT_LIMIT: u64 = 8 << 30;

static LIMIT: AtomicU64 = AtomicU64::new(DEFAULT_LIMIT);

/// Sets how many bytes a temporary copy of an input may have: of a pipe, of an unpacked file, and of a database with the
/// journal of a killed writer. The limit holds for this process; 8 GiB is the default.
pub fn set_input_limit(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The bytes that a copy of `path` may still have.
#[derive(Debug)]
pub(crate) struct Room {
    left: u64,
    limit: u64,
}

impl Room {
    pub(crate) fn new() -> Self {
        let limit = LIMIT.load(Ordering::Relaxed);
        Self { left: limit, limit }
    }

    /// Copies all of `from`. Errors of reading are for `unreadable`.
    pub(crate) fn copy(
        &mut self,
        mut from: impl Read,
        to: &mut File,
        path: &Path,
        unreadable: impl Fn(io::Error) -> Error,
    ) -> Result<()> {
        let mut buffer = vec![0; 1 << 20];
        loop {
            let count = match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(error)),
            };
            let too_large = || Error::TooLarge { path: path.to_owned(), limit: self.limit };
            self.left = self.left.checked_sub(count as u64).ok_or_else(too_large)?;
            to.write_all(&buffer[..count]).map_err(io_error(COPY, path))?;
        }
    }
}

/// The action in messages.
pub(crate) const COPY: &str = "create a temporary copy of";

/// A copy without a name.
#[derive(Debug)]
pub(crate) struct Spool(Nameless);

impl Spool {
    /// Copies all of `from`, the content of `path`.
    pub(crate) fn new(from: impl Read, path: &Path, unreadable: impl Fn(io::Error) -> Error) -> Result<Self> {
        let mut file = Nameless::create().map_err(io_error(COPY, path))?;
        Room::new().copy(from, file.file(), path, unreadable)?;
        Ok(Self(file))
    }

    /// The content from its start.
    pub(crate) fn reader(&self) -> io::Result<File> {
        self.0.reader()
    }

    /// Calls `open` with a name of the copy, which is gone afterwards.
    pub(crate) fn with_name<T>(&self, open: impl FnOnce(&Path) -> T) -> io::Result<T> {
        let folder = PrivateDir::create_in(&std::env::temp_dir())?;
        let name = folder.name().join("trace");
        if self.0.link(&name).is_err() {
            // Some file systems cannot give a name to a file without one.
            io::copy(&mut self.reader()?, &mut create_private(&name)?)?;
        }
        Ok(open(&name))
    }
}
