//! A file that is written in large pieces.

use std::io::{self, Write};
use std::path::Path;

use atomic_file::{AtomicFile, Destination, Writer};

/// A file while it is written. Its newest bytes are rendered in place, so that no further buffer copies them.
pub struct PageFile {
    file: AtomicFile,
    out: Writer,
    /// Not written yet.
    pub bytes: Vec<u8>,
}

impl PageFile {
    const SIZE: usize = 256 << 10;

    pub fn create(destination: &Destination) -> io::Result<Self> {
        let file = AtomicFile::start(destination.clone()).map_err(io::Error::other)?;
        Ok(Self { out: file.writer()?, file, bytes: Vec::with_capacity(Self::SIZE + (8 << 10)) })
    }

    pub fn folder(&self) -> &Path {
        self.file.folder()
    }

    #[inline]
    pub fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bytes.len() < Self::SIZE {
            return Ok(());
        }
        self.flush().map(drop)
    }

    /// Writes the bytes; returns the place of the bytes that follow them.
    pub fn flush(&mut self) -> io::Result<&mut Writer> {
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(&mut self.out)
    }

    pub fn finish(mut self) -> io::Result<AtomicFile> {
        self.flush()?;
        self.out.finish()?;
        Ok(self.file)
    }
}
