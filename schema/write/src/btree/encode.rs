//! Rows as SQLite's records (file format, "Record Format").

/// A value of a row, before it is encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) enum Datum<'a> {
    #[default]
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
}

impl From<i64> for Datum<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Datum<'_> {
    fn from(value: f64) -> Self {
        Self::Real(value)
    }
}

impl<'a> From<&'a str> for Datum<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<T: Into<Self>> From<Option<T>> for Datum<'_> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The most columns of a row of integers. In the header of its record each has one byte, and so has the length of the
/// header; each value has eight bytes at most.
const MOST: usize = 32;
/// No record of integers is as long. A power of two: an offset that is masked with it needs no other check.
const LONG: usize = 512;

/// How an integer is stored, by how many bits it needs beside its sign: its serial type and its bytes.
const SERIAL: [(u8, u8); 64] = {
    let mut serial = [(6, 8); 64];
    let mut bits = 0;
    while bits < 48 {
        serial[bits] = match bits / 8 {
            0 => (1, 1),
            1 => (2, 2),
            2 => (3, 3),
            3 => (4, 4),
            _ => (5, 6),
        };
        bits += 1;
    }
    serial
};

/// The serial type and the bytes of an integer other than 0 and 1.
#[inline]
pub(super) fn serial(value: i64) -> (u8, u8) {
    let bits = 64 - (value ^ (value >> 63)).leading_zeros();
    SERIAL[bits as usize & 63]
}

/// Encodes records; its buffers are kept from row to row.
#[derive(Debug)]
pub(crate) struct Record {
    // Each value is written as a whole word, over whose end the next one begins.
    fixed: [u8; LONG + 8],
    // The parts of a row of anything: serial types, values, and all together.
    types: Vec<u8>,
    body: Vec<u8>,
    long: Vec<u8>,
}

impl Record {
    pub(crate) fn new() -> Self {
        Self { fixed: [0; LONG + 8], types: Vec::new(), body: Vec::new(), long: Vec::new() }
    }

    /// A row whose first column is its id, which is not stored again, followed by these. It ends at its last known
    /// column.
    #[inline]
    pub(crate) fn integers<const N: usize>(&mut self, row: &[Option<i64>; N]) -> &[u8] {
        const { assert!(N < MOST && 1 + 9 * MOST < LONG) };
        let known = row.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let mut end = 2 + known;
        self.fixed[0] = end as u8;
        self.fixed[1] = 0;
        for (at, value) in row[..known].iter().enumerate() {
            let (serial, width) = match *value {
                None => (0, 0),
                Some(value @ 0..=1) => (8 + value as u8, 0),
                Some(value) => {
                    let (serial, width) = serial(value);
                    let place = end & (LONG - 1);
                    let bytes = (value << (64 - 8 * u32::from(width))).to_be_bytes();
                    self.fixed[place..place + 8].copy_from_slice(&bytes);
                    (serial, width)
                }
            };
            self.fixed[(2 + at) & (LONG - 1)] = serial;
            end += usize::from(width);
        }
        &self.fixed[..end]
    }

    /// A row of anything whose first column is its id, which is not stored again.
    #[inline]
    pub(crate) fn row(&mut self, row: &[Datum<'_>]) -> &[u8] {
        self.types.clear();
        self.types.push(0);
        self.store(row)
    }

    /// A row of anything, all of it stored.
    pub(crate) fn cells(&mut self, row: &[Datum<'_>]) -> &[u8] {
        self.types.clear();
        self.store(row)
    }

    fn store(&mut self, row: &[Datum<'_>]) -> &[u8] {
        let known = row.iter().rposition(|datum| !matches!(datum, Datum::Null)).map_or(0, |last| last + 1);
        // A record has at least one column.
        let known = known.max(usize::from(self.types.is_empty())).min(row.len());
        self.body.clear();
        for datum in &row[..known] {
            match *datum {
                Datum::Null => self.types.push(0),
                Datum::Int(value @ 0..=1) => self.types.push(8 + value as u8),
                Datum::Int(value) => {
                    let (serial, width) = serial(value);
                    self.types.push(serial);
                    // A whole word is copied without a call; the next value overwrites its end.
                    let end = self.body.len() + usize::from(width);
                    self.body.extend_from_slice(&(value << (64 - 8 * u32::from(width))).to_be_bytes());
                    self.body.truncate(end);
                }
                Datum::Real(value) => {
                    self.types.push(7);
                    self.body.extend_from_slice(&value.to_be_bytes());
                }
                Datum::Text(text) => {
                    push_varint(&mut self.types, 13 + 2 * text.len() as u64);
                    self.body.extend_from_slice(text.as_bytes());
                }
            }
        }
        self.long.clear();
        // The length of the header counts itself; at 127 it needs a second byte.
        let header = self.types.len() as u64 + 1;
        push_varint(&mut self.long, if header < 0x80 { header } else { header + 1 });
        self.long.extend_from_slice(&self.types);
        self.long.extend_from_slice(&self.body);
        &self.long
    }
}

/// A number in SQLite's variable length, seven bits to a byte, and how many bytes that are.
///
/// All bytes are made in one word: what is stored byte by byte and loaded as a whole right after makes the processor
/// wait, which was a third of what a row cost.
#[inline]
pub(crate) fn varint(value: u64) -> ([u8; 9], usize) {
    const MORE: u64 = 0x8080_8080_8080_8080;
    let bytes = |word: u64, last: u8| {
        let mut bytes = [last; 9];
        bytes[..8].copy_from_slice(&word.to_be_bytes());
        bytes
    };
    if value >= 1 << 56 {
        return (bytes(sevens(value >> 8) | MORE, value as u8), 9);
    }
    let length = ((70 - (value | 1).leading_zeros()) / 7) as usize;
    let word = sevens(value) | (MORE & !0xff);
    (bytes(word << (64 - 8 * length), 0), length)
}

/// A number below 2^49 in SQLite's variable length at the end of a word, and how many bytes that are.
#[inline]
pub(crate) fn short_varint(value: u64) -> (u64, usize) {
    let length = ((70 - (value | 1).leading_zeros()) / 7) as usize;
    let word = sevens(value) | 0x0080_8080_8080_8000;
    (word & (u64::MAX >> (64 - 8 * length)), length)
}

/// The lower 56 bits of a number, seven to a byte.
#[inline]
fn sevens(value: u64) -> u64 {
    let halves = (value & 0x0fff_ffff) | (value << 4 & 0x0fff_ffff_0000_0000);
    let quarters = (halves & 0x3fff_0000_3fff) | (halves << 2 & 0x3fff_0000_3fff_0000);
    (quarters & 0x007f_007f_007f_007f) | (quarters << 1 & 0x7f00_7f00_7f00_7f00)
}

#[inline]
fn push_varint(target: &mut Vec<u8>, value: u64) {
    if value < 0x80 {
        return target.push(value as u8);
    }
    let (bytes, length) = varint(value);
    target.extend_from_slice(&bytes[..length]);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_integer_takes_as_many_bytes_as_it_needs() {
        let mut record = Record::new();
        for (value, serial, body) in [
            (0, 8, &[][..]),
            (1, 9, &[]),
            (-1, 1, &[0xff]),
            (127, 1, &[0x7f]),
            (128, 2, &[0, 0x80]),
            (-128, 1, &[0x80]),
            (-129, 2, &[0xff, 0x7f]),
            (0x7f_ffff, 3, &[0x7f, 0xff, 0xff]),
            (0x80_0000, 4, &[0, 0x80, 0, 0]),
            (1 << 31, 5, &[0, 0, 0x80, 0, 0, 0]),
            (1 << 47, 6, &[0, 0, 0x80, 0, 0, 0, 0, 0]),
            (i64::MIN, 6, &[0x80, 0, 0, 0, 0, 0, 0, 0]),
        ] {
            let expected = [&[3, 0, serial], body].concat();
            assert_eq!(record.integers(&[Some(value), None]), expected, "{value}");
            assert_eq!(record.cells(&[Datum::Null, Datum::Int(value), Datum::Null]), expected, "{value}");
            assert_eq!(record.row(&[Datum::Int(value), Datum::Null]), expected, "{value}");
        }
        assert_eq!(record.integers(&[None, None]), [2, 0]);
    }

    #[test]
    fn a_varint_has_seven_bits_a_byte_and_eight_in_the_ninth() {
        let bytes = |value| {
            let (bytes, length) = varint(value);
            bytes[..length].to_vec()
        };
        assert_eq!(bytes(0), [0]);
        assert_eq!(bytes(0x7f), [0x7f]);
        assert_eq!(bytes(0x80), [0x81, 0]);
        assert_eq!(bytes(0x3fff), [0xff, 0x7f]);
        assert_eq!(bytes(0x4000), [0x81, 0x80, 0]);
        assert_eq!(bytes((1 << 56) - 1), [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(bytes(1 << 56), [0x80, 0xc0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]);
        assert_eq!(bytes(u64::MAX), [0xff; 9]);
    }

    proptest! {
        #[test]
        fn a_short_varint_is_one_at_the_end_of_a_word(value in 0..1_u64 << 49, bits in 0..49_u32) {
            let value = value >> bits;
            let ((word, length), (bytes, same)) = (short_varint(value), varint(value));
            prop_assert_eq!(length, same);
            prop_assert_eq!(&word.to_be_bytes()[8 - length..], &bytes[..length]);
            prop_assert_eq!(word.checked_shr(8 * length as u32).unwrap_or(0), 0, "nothing before it");
        }
    }
}
