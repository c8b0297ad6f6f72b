//! Protocol Buffers as they are stored: fields of a number and a value.

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    /// A whole number, unsigned; a signed one keeps its bits.
    Whole(u64),
    /// Eight bytes: a double.
    Fixed([u8; 8]),
    /// A text, bytes, or another message.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(super) fn int(self) -> i64 {
        match self {
            Self::Whole(value) => value.cast_signed(),
            Self::Fixed(_) | Self::Bytes(_) => 0,
        }
    }

    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Whole(_) | Self::Fixed(_) => &[],
        }
    }
}

/// The fields of a message. They end early where the message does.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    is_cut: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Self { rest: message, is_cut: false }
    }

    /// True where the message ended within a field, or is none.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for (at, &byte) in self.rest.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte < 0x80 {
                self.rest = &self.rest[at + 1..];
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Whole(self.varint()?),
            1 => Value::Fixed(*self.take(8)?.first_chunk()?),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Bytes(self.take(4)?),
            _ => return None,
        };
        Some((key >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Value<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() || self.is_cut {
            return None;
        }
        let field = self.field();
        self.is_cut = field.is_none();
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_numbers_texts_and_doubles() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x19, 1, 2, 3, 4, 5, 6, 7, 8];
        let fields: Vec<_> = Fields::new(&bytes).collect();
        let expected =
            [(1, Value::Whole(150)), (2, Value::Bytes(b"hi")), (3, Value::Fixed([1, 2, 3, 4, 5, 6, 7, 8]))];
        assert_eq!(fields, expected);
        for end in 0..bytes.len() {
            let mut fields = Fields::new(&bytes[..end]);
            assert!(fields.by_ref().count() <= 3);
            assert_eq!(fields.is_cut(), ![0, 3, 7].contains(&end), "{end}");
        }
    }

    #[test]
    fn a_number_without_end_and_a_length_beyond_the_message_are_a_cut() {
        for bytes in [&[0xff; 12][..], &[0x12, 0xff, 0xff, 0xff, 0xff, 0x0f], &[0x0b]] {
            let mut fields = Fields::new(bytes);
            assert_eq!((fields.next(), fields.is_cut()), (None, true));
        }
    }
}
