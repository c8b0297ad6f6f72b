//! Pages on their way into a file: written, and compressed where that is wanted, while the next ones are drawn.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

/// Where full pages go and empty ones come from.
#[derive(Debug)]
pub struct PageSender {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
}

impl PageSender {
    /// Hands over a page and leaves an empty one in its place; waits while the one before is not written.
    ///
    /// # Errors
    /// Where nobody writes any more, because the file cannot grow; [`write()`] says why.
    pub fn send_page(&self, page: &mut Vec<u8>) -> io::Result<()> {
        let full = std::mem::replace(page, self.empty.try_recv().unwrap_or_default());
        self.full.send(full).map_err(|_| io::Error::other("nobody takes the output"))
    }
}

/// Writes the pages that `draw` turns.
///
/// # Errors
/// What `out` fails with, else what `draw` fails with; and where the operating system gives no thread.
pub fn write(
    out: &mut (impl Write + Send),
    draw: impl FnOnce(&PageSender) -> io::Result<()>,
) -> io::Result<()> {
    let (full, pages) = mpsc::sync_channel::<Vec<u8>>(1);
    let (emptied, empty) = mpsc::channel();
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("writer".to_owned()).spawn_scoped(scope, move || {
            for mut page in pages {
                out.write_all(&page)?;
                page.clear();
                // When the last page is drawn nobody needs one more.
                let _ = emptied.send(page);
            }
            Ok(())
        })?;
        let drawn = draw(&PageSender { full, empty });
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(drawn)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_in_order_and_are_used_again() {
        let mut out = Vec::new();
        let mut page = Vec::new();
        let drawn = write(&mut out, |pages| {
            for number in 0..100_u8 {
                assert!(page.is_empty());
                page.push(number);
                pages.send_page(&mut page)?;
            }
            Ok(())
        });
        assert!(drawn.is_ok());
        assert_eq!(out, (0..100).collect::<Vec<u8>>());
    }

    #[test]
    fn what_stops_the_writer_is_what_is_told() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let endless = |pages: &PageSender| loop {
            pages.send_page(&mut vec![0])?;
        };
        let failed = write(&mut Full, endless).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
    }
}
