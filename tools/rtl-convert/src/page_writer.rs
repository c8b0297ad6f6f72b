//! Writes pages, and compresses them where the name asks for it, while the next ones are rendered.

use std::io::{self, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;

/// Sends full pages to the writer and gets empty ones back.
#[derive(Debug)]
pub struct PageSender {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
}

impl PageSender {
    /// Sends a page and leaves an empty one in its place; blocks until the previous page is written.
    ///
    /// # Errors
    /// The writer has stopped, because the file cannot grow; [`write()`] returns the reason.
    pub fn send_page(&self, page: &mut Vec<u8>) -> io::Result<()> {
        let full = std::mem::replace(page, self.empty.try_recv().unwrap_or_default());
        self.full.send(full).map_err(|_| io::Error::other("the writer has stopped"))
    }
}

/// Writes the pages that `draw` sends.
///
/// # Errors
/// The error of `out`, else that of `draw`; and a thread that the operating system cannot start.
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
                // After the last page the receiver is gone.
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
