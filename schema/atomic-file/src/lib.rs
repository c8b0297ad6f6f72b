//! Output files and folders that appear whole or not at all.
//!
//! [`AtomicFile`] and [`AtomicDir`] grow under a temporary name beside the output and get its name with `commit`.
//! [`Options`] holds the rules that every output of the project obeys:
//! - only a regular file, or nothing, is replaced; a device, FIFO or socket is written through;
//! - an input is never overwritten, under whatever name or hard link;
//! - group and others get no permission on the output that they lack on an input.
//!
//! Temporaries are removed on drop, on SIGINT, SIGTERM and SIGHUP where a program calls [`remove_on_signals`], and after
//! SIGKILL by the next run that writes into the same folder. The owner of a temporary holds a lock on it, so a run removes
//! a temporary only if its owner is dead.

mod destination;
mod directory;
mod file;
mod gzip;
mod private;
mod signals;
mod temporary;

use std::io;
use std::path::{Path, PathBuf};

pub use destination::{Destination, IfExists, Options};
pub use directory::AtomicDir;
pub use file::{AtomicFile, Writer};
pub use gzip::{GzipBlock, GzipWriter};
pub use private::{NamedDir, PrivateDir};
pub use signals::{exit, keep_on_signals, remove_on_signals};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The output exists and [`IfExists::Fail`] was given.
    #[error("{} exists", path.display())]
    Exists { path: PathBuf },
    /// The output is one of the inputs.
    #[error("{} is an input", path.display())]
    IsInput { path: PathBuf },
    /// One of the inputs lies in the output folder.
    #[error("an input is in {}", path.display())]
    HoldsInput { path: PathBuf },
    /// The output is a folder where a file is expected.
    #[error("{} is a folder", path.display())]
    IsFolder { path: PathBuf },
    /// The operating system refuses to write.
    #[error("cannot write {}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl Error {
    /// The hint for the user, without the `hint:` in front.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Exists { .. } => "--force replaces it",
            Self::IsInput { .. } => "an input is never overwritten; write to another file",
            Self::IsFolder { .. } => "name a file in it",
            Self::HoldsInput { .. } => "an input is never overwritten; write to another folder",
            Self::Io { .. } => "check that the folder exists and can be written",
        }
    }

    /// The output must not be written, as opposed to: cannot.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Io { .. })
    }

    fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
