//! The headers of rows on the fast path: the first types of a record, looked at as a few numbers, say where its integers are.

use super::layout::{Layout, Place, Stored};
use super::record::{WIDTH, width};
use crate::hash::spread;

pub(super) const WORD: usize = size_of::<u64>();
/// The bytes of a header that may be looked at, `W` words of them: its length, and types of one byte each.
const WINDOW: usize = 4 * WORD;
/// The places of headers that are remembered.
pub(super) const PLACES: usize = 1024;
/// The bytes of a record that may be loaded: eight from wherever a byte can point to.
pub(super) const RECORD: usize = u8::MAX as usize + WORD;

/// The columns of fast rows, which take the fast path, by their positions in the scan.
#[derive(Debug, Clone, Copy)]
pub struct FastColumns<const N: usize> {
    /// The integers of a row, of which the first one is not negative.
    pub integers: [IntegerColumn; N],
}

/// A column of fast rows.
#[derive(Debug, Clone, Copy)]
pub enum IntegerColumn {
    /// An integer in every fast row.
    Integer(usize),
    /// An integer or NULL, which reads as 0.
    OrZero(usize),
    /// 0 in all rows.
    Zero,
}

/// The length of a header and types, of which a number `W` of words matters.
pub(super) type Key = [u64; WINDOW / WORD];

/// The bytes of headers up to the type of the last column of the scan. The place is the first byte of a header, which is its length
/// or has the upper bit set.
pub(super) type Masks = Box<[Key; 0x100]>;

/// The places of integers in rows whose first types are these, and facts on such rows. One with eight integers, and 14 bytes of facts
/// that need no alignment, fills a cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Header<const N: usize, F> {
    /// No header is 0.
    pub(super) key: Key,
    /// The least length that such a record can have.
    pub(super) least: u8,
    /// How many lengths it can have from there on: none where a column is no integer.
    pub(super) lengths: u8,
    pub(super) values: [Value; N],
    pub(super) facts: F,
}

/// An integer: the first bits of the eight bytes that begin there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) begin: u8,
    /// The bits behind it.
    pub(super) unused: u8,
}

/// The value 0: the first bit of the length of a header, which is never set.
pub(super) const ZERO: Value = Value { begin: 0, unused: 63 };

/// True if a table can have fast rows: it stores these columns, and the window of a header reaches the types of the whole scan.
pub(super) fn has_fast_rows<const N: usize>(layout: &Layout, columns: &FastColumns<N>) -> bool {
    let is_stored = |column: usize| matches!(layout.places.get(column), Some(Place::Stored(_)));
    let are_stored = columns.integers.iter().all(|column| match *column {
        IntegerColumn::Integer(column) | IntegerColumn::OrZero(column) => is_stored(column),
        IntegerColumn::Zero => true,
    });
    are_stored && looked_at(layout) <= WINDOW
}

/// How many bytes of a header say where the columns of a scan are.
pub(super) fn looked_at(layout: &Layout) -> usize {
    1 + layout.stored.len()
}

pub(super) fn masks(layout: &Layout) -> Masks {
    let mut masks = Box::new([Key::default(); 0x100]);
    for (length, mask) in masks.iter_mut().enumerate() {
        let mut bytes = [[0; WORD]; WINDOW / WORD];
        bytes.as_flattened_mut()[..length.min(looked_at(layout))].fill(0xff);
        *mask = bytes.map(u64::from_le_bytes);
    }
    masks
}

impl<const N: usize, F: Copy + Default> Header<N, F> {
    /// A header whose rows do not take the fast path.
    pub(super) fn unusual(key: Key) -> Self {
        Self { key, least: 0, lengths: 0, values: [ZERO; N], facts: F::default() }
    }

    /// `None` where the rows of this header do not have integers in these columns.
    pub(super) fn find(key: Key, layout: &Layout, columns: &FastColumns<N>) -> Option<Self> {
        let bytes = key.map(u64::to_le_bytes);
        let (&length, types) = bytes.as_flattened().split_first()?;
        // Columns behind a shorter header are NULL, or have their default.
        let is_default = |column: &Stored| column.has_default;
        let absent = layout.stored.get(usize::from(length).checked_sub(1)?..).unwrap_or_default();
        if length >= 0x80 || absent.iter().any(is_default) {
            return None;
        }
        let mut ends = [0_usize; WINDOW];
        let mut end = usize::from(length);
        for ((to, &kind), column) in ends.iter_mut().zip(types).zip(&layout.stored) {
            // Types from 0x80 on have several bytes, 10 and 11 are reserved, and an integer of eight bytes may not be exact as a real.
            if kind >= 0x80 || matches!(kind, 10 | 11) || kind == 6 && column.is_real {
                return None;
            }
            end += width(kind.into());
            *to = end;
        }
        let least = u8::try_from(end).ok().filter(|end| *end < 0x80)?;
        let is_last = usize::from(length) <= looked_at(layout);
        let mut header =
            Self { least, lengths: if is_last { 1 } else { 0x80 - least }, ..Self::unusual(key) };
        let position = |column: usize| match layout.places.get(column) {
            Some(Place::Stored(position)) => Some(*position),
            _ => None,
        };
        let integer = |position: usize| match types[position] {
            kind @ 1..=6 => {
                let width = WIDTH[usize::from(kind)];
                let begin = u8::try_from(ends[position]).ok()? - width;
                Some(Value { begin, unused: 64 - 8 * width })
            }
            // The type states the value: 0 and 1 are the first four bits of 8 and the first five of 9.
            kind @ (8 | 9) => Some(Value { begin: 1 + position as u8, unused: 68 - kind }),
            _ => None,
        };
        for (value, column) in header.values.iter_mut().zip(columns.integers) {
            *value = match column {
                IntegerColumn::Integer(column) => integer(position(column)?)?,
                IntegerColumn::OrZero(column) => match position(column)? {
                    position if types[position] == 0 => ZERO,
                    position => integer(position)?,
                },
                IntegerColumn::Zero => ZERO,
            };
        }
        Some(header)
    }
}

/// The length and the types of a record.
#[inline(always)]
pub(super) fn key<const W: usize>(record: &[u8; RECORD], masks: &Masks) -> [u64; W] {
    let words = record.as_chunks::<WORD>().0;
    let mask = &masks[usize::from(record[0])];
    std::array::from_fn(|word| u64::from_le_bytes(words[word]) & mask[word])
}

/// Where a header is remembered.
#[inline(always)]
pub(super) fn place<const W: usize>(key: [u64; W]) -> usize {
    let mixed = key.iter().fold(0, |mixed: u64, word| mixed.rotate_left(29) ^ word);
    2 * (spread(mixed) >> (u64::BITS - PLACES.ilog2())) as usize
}
