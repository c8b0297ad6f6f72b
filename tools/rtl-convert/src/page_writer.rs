//! Writes pages while the next ones are rendered: gzip compresses several at the same time.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;

use atomic_file::{GzipBlock, Writer};

/// Takes full pages and leaves empty ones.
#[expect(missing_debug_implementations, reason = "a function")]
pub struct PageSender<'a>(&'a mut dyn FnMut(Vec<u8>) -> io::Result<Vec<u8>>);

impl PageSender<'_> {
    /// Sends a page and leaves an empty one in its place; blocks where many pages wait to be written.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn send_page(&mut self, page: &mut Vec<u8>) -> io::Result<()> {
        *page = (self.0)(std::mem::take(page))?;
        Ok(())
    }
}

/// Writes the pages that `draw` sends, compressed where the file is.
///
/// # Errors
/// The error of `out`, else that of `draw`.
pub fn write(out: &mut Writer, draw: impl FnOnce(&mut PageSender<'_>) -> io::Result<()>) -> io::Result<()> {
    match out {
        Writer::Plain(file) => write_plain(file, draw),
        Writer::Gzip(gzip) => {
            let add = |block: io::Result<GzipBlock>| gzip.add(&block?).map(|()| None::<Vec<u8>>);
            let compress = |page: Vec<u8>| GzipBlock::of(&page);
            threads::pipeline(compress, add, |pages| {
                draw(&mut PageSender(&mut |page| {
                    let next = Vec::with_capacity(page.capacity());
                    pages.push(page)?;
                    Ok(next)
                }))
            })
        }
    }
}

/// Writes pages on another thread, where one is free.
fn write_plain(
    out: &mut (impl Write + Send),
    draw: impl FnOnce(&mut PageSender<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let Some(permit) = threads::permits(1).pop() else {
        return draw(&mut PageSender(&mut |mut page| {
            out.write_all(&page)?;
            page.clear();
            Ok(page)
        }));
    };
    let (full, pages) = mpsc::sync_channel::<Vec<u8>>(1);
    let (emptied, empty) = mpsc::channel();
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("writer".to_owned()).spawn_scoped(scope, move || {
            let _permit = permit;
            for mut page in pages {
                out.write_all(&page)?;
                page.clear();
                // After the last page the receiver is gone.
                let _ = emptied.send(page);
            }
            Ok(())
        })?;
        let drawn = draw(&mut PageSender(&mut |page| {
            full.send(page).map_err(|_| io::Error::other("the writer has stopped"))?;
            Ok(empty.try_recv().unwrap_or_default())
        }));
        drop(full);
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
        let drawn = write_plain(&mut out, |pages| {
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
        let endless = |pages: &mut PageSender<'_>| loop {
            pages.send_page(&mut vec![0])?;
        };
        let failed = write_plain(&mut Full, endless).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
    }
}
