//! The bytes of a document in a buffer that holds one event whole, however large the file is.

use std::io::{self, Read};

/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// The largest value that is held: a larger one is no event.
const LARGEST: usize = 64 << 20;

/// A reader with the bytes that are not consumed yet.
pub(super) struct Input<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The position of `start` in the document.
    offset: u64,
}

impl<R: Read> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self { reader, buffer: vec![0; BUFFER], start: 0, end: 0, offset: 0 }
    }

    /// The bytes that are here and not consumed.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// The position of the first byte of [`Self::rest`] in the document.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn consume(&mut self, count: usize) {
        self.start += count;
        self.offset += count as u64;
    }

    /// Reads more bytes behind those that are here; false where there are none, or where a value is too large.
    pub(super) fn refill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            if self.end >= LARGEST {
                return Ok(false);
            }
            self.buffer.resize(self.end * 2, 0);
        }
        loop {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
