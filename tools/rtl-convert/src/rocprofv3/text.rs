//! Numbers and texts as bytes.

use std::io::{self, Write};

/// Pairs of decimal digits, `00` to `99`.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Appends a number in decimal, two digits at a time.
#[inline]
pub fn digits(mut value: u64, bytes: &mut Vec<u8>) {
    let mut text = [0; 20];
    let mut at = text.len();
    while value >= 100 {
        at -= 2;
        text[at..at + 2].copy_from_slice(&PAIRS[(value % 100) as usize]);
        value /= 100;
    }
    let pair = PAIRS[value as usize];
    at -= 2;
    text[at..at + 2].copy_from_slice(&pair);
    at += usize::from(value < 10);
    bytes.extend_from_slice(&text[at..]);
}

/// Appends a number with its sign.
#[inline]
pub fn signed(value: i64, bytes: &mut Vec<u8>) {
    if value < 0 {
        bytes.push(b'-');
    }
    digits(value.unsigned_abs(), bytes);
}

/// Appends a text as JSON.
pub fn json(text: &str, bytes: &mut Vec<u8>) {
    // A text is always valid JSON, and memory always takes it.
    let _ = serde_json::to_writer(bytes, text);
}

/// Collects bytes and writes them in large pieces, so that nothing copies them again.
#[derive(Debug)]
pub struct WriteBuffer {
    /// What is not written yet.
    pub bytes: Vec<u8>,
}

impl WriteBuffer {
    /// What is collected before it is written.
    const SIZE: usize = 256 << 10;

    /// Nothing yet.
    pub fn new() -> Self {
        Self { bytes: Vec::with_capacity(Self::SIZE + (8 << 10)) }
    }

    /// Writes what is there if it is much.
    ///
    /// # Errors
    /// Where the output cannot grow.
    #[inline]
    pub fn flush_if_full(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.bytes.len() < Self::SIZE {
            return Ok(());
        }
        self.flush(out)
    }

    /// Writes what is there.
    ///
    /// # Errors
    /// As [`Self::flush_if_full`].
    pub fn flush(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

impl Default for WriteBuffer {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_written_as_it_is() {
        for value in [0, 1, 9, 10, 99, 100, 101, 12_345, 999_999, 1_000_000, u64::MAX] {
            let mut bytes = Vec::new();
            digits(value, &mut bytes);
            assert_eq!(String::from_utf8(bytes).expect("digits"), value.to_string());
        }
        let mut bytes = Vec::new();
        signed(i64::MIN, &mut bytes);
        assert_eq!(bytes, i64::MIN.to_string().as_bytes());
    }

    #[test]
    fn any_text_is_one_json_string() {
        for text in ["", "\"quoted\"", "back\\slash", "\u{1}\n\t", "\u{1f600}", &"x".repeat(65536)] {
            let mut bytes = Vec::new();
            json(text, &mut bytes);
            assert_eq!(serde_json::from_slice::<String>(&bytes).expect("JSON"), text);
        }
    }
}
