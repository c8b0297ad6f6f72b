//! Closes a file with a check that everything arrived: a file system on a network may write only then, and find no room.

use std::io;

pub(super) trait Close {
    /// # Errors
    /// Not all written bytes have arrived.
    fn close(self) -> io::Result<()>;
}
