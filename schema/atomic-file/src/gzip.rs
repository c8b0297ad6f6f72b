//! A gzip file of one member whose blocks are compressed apart, as pigz writes it: every reader takes it, and blocks can be
//! compressed at the same time. Each ends with an empty stored block, at the border of a byte.

use std::cell::RefCell;
use std::io::{self, Write};

use flate2::{Compress, Compression, Crc, FlushCompress};

/// Repetitive text shrinks twelvefold at this level; higher ones cost twice the time for a tenth of the size.
const LEVEL: Compression = Compression::new(1);
/// Deflate, without a name or a time, by the fastest method of an unknown system.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255];
/// The last block, which is empty.
const END: [u8; 2] = [3, 0];
/// Bytes that are compressed at once.
const LENGTH: usize = 1 << 18;

/// A compressed part of the content.
#[derive(Debug)]
pub struct GzipBlock {
    bytes: Vec<u8>,
    crc: Crc,
}

/// Writes compressed blocks one after the other.
#[derive(Debug)]
pub struct GzipWriter<W> {
    out: W,
    /// Not compressed yet.
    content: Vec<u8>,
    crc: Crc,
    is_begun: bool,
}

impl GzipBlock {
    pub fn compress(content: &[u8]) -> io::Result<Self> {
        thread_local! {
            static COMPRESS: RefCell<Compress> = RefCell::new(Compress::new(LEVEL, false));
        }
        let mut crc = Crc::new();
        crc.update(content);
        let mut bytes = Vec::with_capacity(content.len() / 4 + 64);
        COMPRESS.with_borrow_mut(|compress| {
            compress.reset();
            loop {
                let left = &content[usize::try_from(compress.total_in()).unwrap_or(content.len())..];
                compress.compress_vec(left, &mut bytes, FlushCompress::Sync)?;
                // Room that is left over says that the block has ended.
                if bytes.len() < bytes.capacity() {
                    return Ok(Self { bytes, crc });
                }
                bytes.reserve(bytes.len().max(64));
            }
        })
    }
}

impl<W: Write> GzipWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, content: Vec::new(), crc: Crc::new(), is_begun: false }
    }

    pub fn add(&mut self, block: &GzipBlock) -> io::Result<()> {
        if !self.content.is_empty() {
            let content = std::mem::take(&mut self.content);
            self.add(&GzipBlock::compress(&content)?)?;
        }
        self.begin()?;
        self.crc.combine(&block.crc);
        self.out.write_all(&block.bytes)
    }

    fn begin(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.out.write_all(&HEAD)?;
        }
        Ok(())
    }

    fn compress(&mut self) -> io::Result<()> {
        if self.content.is_empty() {
            return Ok(());
        }
        let content = std::mem::take(&mut self.content);
        self.add(&GzipBlock::compress(&content)?)?;
        self.content = content;
        self.content.clear();
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.compress()?;
        self.begin()?;
        self.out.write_all(&END)?;
        self.out.write_all(&self.crc.sum().to_le_bytes())?;
        self.out.write_all(&self.crc.amount().to_le_bytes())?;
        Ok(self.out)
    }
}

impl<W: Write> Write for GzipWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(LENGTH - self.content.len());
        self.content.extend_from_slice(&bytes[..taken]);
        if self.content.len() == LENGTH {
            self.compress()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.compress()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn blocks_of_any_length_are_one_member() {
        let text: Vec<u8> = (0..2_000_000_u32).flat_map(|number| (number / 7).to_le_bytes()).collect();
        for lengths in [vec![], vec![0], vec![1], vec![0, 5, 1 << 18, 0, 3 << 20], vec![700_000; 9]] {
            let mut gzip = GzipWriter::new(Vec::new());
            let mut at = 0;
            for (number, length) in lengths.into_iter().enumerate() {
                let part = &text[at..at + length];
                at += length;
                match number % 3 {
                    2 => gzip.write_all(part).unwrap(),
                    _ => gzip.add(&GzipBlock::compress(part).unwrap()).unwrap(),
                }
            }
            let bytes = gzip.finish().unwrap();
            let mut decoder = GzDecoder::new(bytes.as_slice());
            let mut content = Vec::new();
            decoder.read_to_end(&mut content).unwrap();
            assert!(content == text[..at] && decoder.into_inner().is_empty());
        }
    }
}
