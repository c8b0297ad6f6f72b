//! Writes protocol buffers: a message is a sequence of fields, each a tag and its content.

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;

/// Appends fields to the bytes of a message. Fields are numbers of its description.
#[derive(Debug)]
pub struct Message<'a>(pub &'a mut Vec<u8>);

impl Message<'_> {
    /// A number that is not negative, a flag or a value of an enumeration.
    #[inline]
    pub fn number(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    /// A number that may be negative, of type int64.
    #[inline]
    pub fn signed(&mut self, field: u32, value: i64) {
        self.number(field, value as u64);
    }

    /// A number of type fixed64.
    #[inline]
    pub fn fixed(&mut self, field: u32, value: u64) {
        self.tag(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A number of type double.
    pub fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    #[inline]
    pub fn text(&mut self, field: u32, text: &str) {
        self.content(field, text.as_bytes());
    }

    #[inline]
    pub fn content(&mut self, field: u32, content: &[u8]) {
        self.tag(field, LENGTH);
        self.varint(content.len() as u64);
        self.0.extend_from_slice(content);
    }

    #[inline]
    pub fn message(&mut self, field: u32, write: impl FnOnce(&mut Self)) {
        self.tag(field, LENGTH);
        let start = self.0.len();
        // Most messages are short and need one byte for their length.
        self.0.push(0);
        write(self);
        let length = self.0.len() - start - 1;
        match u8::try_from(length) {
            Ok(short) if short < 0x80 => self.0[start] = short,
            _ => self.make_room(start, length),
        }
    }

    fn make_room(&mut self, start: usize, length: usize) {
        let mut prefix = Vec::new();
        Message(&mut prefix).varint(length as u64);
        self.0.splice(start..=start, prefix);
    }

    #[inline]
    fn tag(&mut self, field: u32, wire: u64) {
        self.varint(u64::from(field) << 3 | wire);
    }

    /// Seven bits a byte, the lowest first; all but the last have the highest bit set.
    #[inline]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Message<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut Message(&mut bytes));
        bytes
    }

    #[test]
    fn a_number_has_seven_bits_in_each_byte() {
        assert_eq!(written(|message| message.number(1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(written(|message| message.number(16, 0)), [0x80, 0x01, 0x00]);
        assert_eq!(written(|message| message.number(1, u64::MAX)).len(), 11);
        assert_eq!(written(|message| message.signed(1, -1)), written(|message| message.number(1, u64::MAX)));
    }

    #[test]
    fn what_has_eight_bytes_is_stored_lowest_first() {
        assert_eq!(written(|message| message.fixed(1, 2)), [0x09, 2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(written(|message| message.double(1, 1.0)), [0x09, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
    }

    #[test]
    fn a_message_begins_with_its_length_however_long_it_is() {
        assert_eq!(
            written(|message| message.message(3, |inner| inner.number(1, 150))),
            [0x1a, 3, 8, 0x96, 1]
        );
        for length in [0, 127, 128, 16_383, 16_384, 3 << 20] {
            let text = "x".repeat(length);
            let nested =
                written(|message| message.message(1, |inner| inner.0.extend_from_slice(text.as_bytes())));
            assert_eq!(nested, written(|message| message.text(1, &text)), "{length}");
        }
    }
}
