//! Gzip as the program of that name reads it: members one after the other, and bytes behind them are ignored. A file that
//! ends early is read up to there.

use std::io::{BufRead, ErrorKind, Read, Result};

use flate2::bufread::GzDecoder;

/// The first byte of a gzip member.
const MAGIC: u8 = 0x1f;

/// Reads the content of all members of a gzip file.
#[derive(Debug)]
pub(crate) struct Gzip<R> {
    /// The member that is read; none behind the last one.
    member: Option<GzDecoder<R>>,
    has_trailing_bytes: bool,
    is_cut_off: bool,
}

impl<R: BufRead> Gzip<R> {
    /// Reads a file from its first member on.
    pub(crate) fn new(file: R) -> Self {
        Self { member: Some(GzDecoder::new(file)), has_trailing_bytes: false, is_cut_off: false }
    }

    /// True where bytes that are no member, and no zeros, were found behind the last member.
    pub(crate) fn has_trailing_bytes(&self) -> bool {
        self.has_trailing_bytes
    }

    /// True where the file has ended before its last member did.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }
}

impl<R: BufRead> Read for Gzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while let Some(member) = &mut self.member {
            let count = match member.read(buffer) {
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                    (self.is_cut_off, self.member) = (true, None);
                    return Ok(0);
                }
                other => other?,
            };
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let next = member.get_mut().fill_buf()?.first().copied();
            let rest = self.member.take().map(GzDecoder::into_inner);
            match next {
                Some(MAGIC) => self.member = rest.map(GzDecoder::new),
                Some(other) => self.has_trailing_bytes = other != 0,
                None => {}
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn member(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: &[u8]) -> (Result<String>, bool) {
        let mut gzip = Gzip::new(bytes);
        let mut text = String::new();
        (gzip.read_to_string(&mut text).map(|_| text), gzip.has_trailing_bytes())
    }

    #[test]
    fn members_follow_each_other_and_what_is_behind_them_is_ignored() {
        let members = [member("one "), member(""), member("two")].concat();
        for (behind, is_trailing) in [(&b""[..], false), (b"\0\0\0\0", false), (b"signature", true)] {
            let (text, has_trailing_bytes) = read(&[&members, behind].concat());
            assert_eq!((text.unwrap().as_str(), has_trailing_bytes), ("one two", is_trailing));
        }
    }

    #[test]
    fn a_file_that_is_cut_off_is_read_up_to_there() {
        let whole = member("one");
        for (bytes, is_cut_off) in [
            (whole[..whole.len() - 3].to_vec(), true),
            ([&whole[..], &[MAGIC, 0x8b, 8]].concat(), true),
            (whole.clone(), false),
        ] {
            let mut gzip = Gzip::new(bytes.as_slice());
            let mut text = String::new();
            gzip.read_to_string(&mut text).unwrap();
            assert_eq!((text.as_str(), gzip.is_cut_off()), ("one", is_cut_off));
        }
    }

    #[test]
    fn damaged_bytes_are_an_error() {
        let mut damaged = member(&"one two three".repeat(100));
        damaged[12..20].fill(0xff);
        assert!(read(&damaged).0.is_err());
    }
}
