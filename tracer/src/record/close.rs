//! Closing a file so that it says whether everything arrived: a file system on a network may write only then, and find
//! no room.

use std::fs::File;
use std::io;
use std::os::fd::IntoRawFd;

/// What can be closed.
pub(super) trait Close {
    /// Closes it.
    ///
    /// # Errors
    /// What was written has not all arrived.
    fn close(self) -> io::Result<()>;
}

impl Close for File {
    #[expect(unsafe_code, reason = "calls libc: dropping a file does not say how that went")]
    fn close(self) -> io::Result<()> {
        // SAFETY: the descriptor was this file's alone.
        match unsafe { libc::close(self.into_raw_fd()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}
