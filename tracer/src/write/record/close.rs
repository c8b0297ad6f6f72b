//! Closing a file so that it says whether everything arrived: a file system on a network may write only then, and find
//! no room.

use std::io;

pub(super) trait Close {
    /// Closes it.
    ///
    /// # Errors
    /// What was written has not all arrived.
    fn close(self) -> io::Result<()>;
}
