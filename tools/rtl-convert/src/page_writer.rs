//! Writes pages while the next ones are made: several are rendered and compressed at the same time.

use std::io::{self, Write};
use std::sync::mpsc;
use std::thread;

use atomic_file::{GzipBlock, Writer};

/// Queues pages for the threads that render them.
#[expect(missing_debug_implementations, reason = "a function")]
pub struct PageSender<'a, B>(&'a mut dyn FnMut(B) -> io::Result<()>);

impl<B> PageSender<'_, B> {
    /// Blocks where many pages wait to be written.
    pub fn send(&mut self, page: B) -> io::Result<()> {
        (self.0)(page)
    }
}

/// Writes the pages that `draw` sends, in their order, compressed where the file is. `render` makes their bytes, on any thread. An error of
/// the file comes before that of `draw`.
pub fn write<B: Send>(
    out: &mut Writer,
    render: impl Fn(B) -> Vec<u8> + Sync,
    draw: impl FnOnce(&mut PageSender<'_, B>) -> io::Result<()>,
) -> io::Result<()> {
    match out {
        Writer::Plain(file) => {
            // A buffer would copy pages that are shorter.
            file.flush()?;
            write_plain(file.get_mut(), render, draw)
        }
        Writer::Gzip(gzip) => {
            let compress = |batch: B| GzipBlock::compress(&render(batch));
            in_order(compress, |block: io::Result<GzipBlock>| gzip.add(&block?), draw)
        }
    }
}

/// Does `work` on each page that `draw` sends, on several threads, and calls `consume` for the results in their order.
fn in_order<B: Send, T: Send>(
    work: impl Fn(B) -> T + Sync,
    mut consume: impl FnMut(T) -> io::Result<()>,
    draw: impl FnOnce(&mut PageSender<'_, B>) -> io::Result<()>,
) -> io::Result<()> {
    let consume = |result| consume(result).map(|()| None::<B>);
    threads::pipeline(threads::Results::Large, work, consume, |batches| {
        draw(&mut PageSender(&mut |batch| batches.push(batch)))
    })
}

/// Writes pages on another thread, where one is free.
fn write_plain<B: Send>(
    out: &mut (impl Write + Send),
    render: impl Fn(B) -> Vec<u8> + Sync,
    draw: impl FnOnce(&mut PageSender<'_, B>) -> io::Result<()>,
) -> io::Result<()> {
    // Of two threads the other one rather renders.
    let permit = if threads::limit() < 3 { None } else { threads::permits(1).pop() };
    let Some(permit) = permit else {
        return in_order(render, |page| out.write_all(&page), draw);
    };
    let (full, pages) = mpsc::sync_channel::<Vec<u8>>(1);
    thread::scope(|scope| {
        let writer = thread::Builder::new().name("writer".to_owned()).spawn_scoped(scope, move || {
            let _permit = permit;
            pages.into_iter().try_for_each(|page| out.write_all(&page))
        })?;
        let send = |page| full.send(page).map_err(|_| io::Error::other("the writer has stopped"));
        let drawn = in_order(render, send, draw);
        drop(full);
        let written = writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and(drawn)
    })
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;

    fn with_writer() {
        threads::set_limit(NonZero::new(threads::limit().max(3)).unwrap());
    }

    #[test]
    fn pages_come_in_order() {
        with_writer();
        let mut out = Vec::new();
        let draw = |pages: &mut PageSender<'_, u8>| (0..100).try_for_each(|number| pages.send(number));
        assert!(write_plain(&mut out, |number| vec![number], draw).is_ok());
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
        with_writer();
        let endless = |pages: &mut PageSender<'_, u8>| loop {
            pages.send(0)?;
        };
        let failed = write_plain(&mut Full, |number| vec![number], endless).unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
    }
}
