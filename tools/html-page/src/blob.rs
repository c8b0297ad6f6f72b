//! Data of a page as compressed text, because a page may have nothing beside it.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

/// Data that the script, or another program, reads: deflate (RFC 1951) as base64.
#[derive(Debug, Clone)]
pub struct Data {
    pub(crate) id: &'static str,
    pub(crate) text: String,
}

impl Data {
    pub fn json(id: &'static str, value: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(value).expect("keys are texts and writing to memory succeeds");
        Self::bytes(id, &bytes)
    }

    pub fn bytes(id: &'static str, bytes: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
        Self { id, text: STANDARD.encode(written.expect("writing to memory succeeds")) }
    }
}

/// Numbers in few bytes: LEB128.
#[derive(Debug, Clone, Default)]
pub struct Bytes(pub Vec<u8>);

impl Bytes {
    /// Appends a number; the script reads up to 2^53.
    pub fn number(&mut self, mut number: u64) {
        while number > 0x7f {
            self.0.push((number & 0x7f) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::DeflateDecoder;

    use super::*;

    #[test]
    fn data_is_restored_and_cannot_end_its_element() {
        let data = Data::json("a", &"</script><b>");
        assert!(!data.text.contains('<'));
        let bytes = STANDARD.decode(&data.text).unwrap();
        let mut text = String::new();
        DeflateDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "\"</script><b>\"");
    }

    #[test]
    fn small_numbers_take_one_byte() {
        let mut bytes = Bytes::default();
        [0, 127, 128, 300].into_iter().for_each(|number| bytes.number(number));
        assert_eq!(bytes.0, [0, 127, 128, 1, 172, 2]);
    }
}
