//! The user whose file it is.

use std::fs::Metadata;

/// The owner of a file. On Windows all files count as those of one user: the system refuses what a user may not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    pub fn of(file: &Metadata) -> Self {
        cfg_select! {
            unix => Self(std::os::unix::fs::MetadataExt::uid(file)),
            windows => {
                let _ = file;
                Self(0)
            }
        }
    }
}
