//! Integer columns of usual rows, for a quarter of the cost of a [`Row`]: the first types of a record header, looked at as one
//! number, say where the values are.

use super::layout::{Layout, Place};
use super::pages::Leaf;
use super::record::{Decoder, WIDTH, width};
use super::row::Row;

const WORD: usize = size_of::<u64>();
/// The bytes of a header that may be looked at, `W` words of them: its length, and types of one byte each.
const WINDOW: usize = 2 * WORD;
/// The longest rowid in bytes.
const ROWID: usize = 9;
/// How many usual rows come at once, at most.
pub(crate) const RUN: usize = 256;
/// How many headers are remembered. Two that are remembered in one place displace each other.
const REMEMBERED: usize = 1024;
/// How many columns a scan has at most, besides the first one.
const MOST: usize = 4;
/// What is looked at of a record: eight bytes from wherever a byte can point to.
const RECORD: usize = u8::MAX as usize + WORD;
/// What is looked at of a cell.
const CELL: usize = 1 + ROWID + RECORD;

/// What the rows of a scan are added to, in order.
pub trait AddRows<const N: usize> {
    /// Adds usual rows, at most 256, of which all columns are integers, and the one before is not negative. It takes them all.
    fn add_usual(&mut self, rows: impl Iterator<Item = [i64; N]>);

    /// Adds another row, with all columns.
    fn add(&mut self, row: &Row<'_>);
}

/// Reads integer columns of a table, and of the one before them whether it is negative.
#[derive(Debug)]
pub(super) struct Integers {
    /// The bytes of a header up to the type of the last column, set.
    mask: Key,
    known: Box<[Header; REMEMBERED]>,
}

/// The length of a header and types, of which a number `W` of words matters.
type Key = [u64; WINDOW / WORD];

/// What follows from the first types of a row.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Header {
    /// No header is 0.
    key: Key,
    /// The least length that such a record can have.
    least: u8,
    /// How many lengths it can have from there on: none where a column is no integer.
    lengths: u8,
    /// Where the sign of the column before the first one is.
    sign: u8,
    values: [Value; MOST],
}

/// An integer: some of the bits of the eight bytes that begin there, and `added` to them.
#[derive(Debug, Clone, Copy)]
struct Value {
    begin: u8,
    /// The bits before it.
    before: u8,
    /// The bits before and behind it.
    unused: u8,
    added: i8,
}

/// Usual rows, one after the other.
#[derive(Debug)]
struct IntegerRows<'a, const N: usize, const W: usize> {
    /// The page from where its first cell can start, and bytes behind the page.
    cells: &'a [u8],
    /// Where its first cell can start.
    first: usize,
    /// The length of the page from there on.
    length: usize,
    pointers: std::slice::Iter<'a, [u8; 2]>,
    rowids: RowidLength,
    /// How long all further rows can be together.
    room: usize,
    mask: Key,
    known: &'a [Header; REMEMBERED],
    /// The row before which they end.
    end: Option<usize>,
}

impl<const N: usize, const W: usize> Iterator for IntegerRows<'_, N, W> {
    type Item = [i64; N];

    /// Ends before a row that is no usual one, or whose header is not known.
    #[inline(always)]
    fn next(&mut self) -> Option<[i64; N]> {
        let at = usize::from(u16::from_be_bytes(*self.pointers.next()?));
        let row = self.of_cell(at);
        if row.is_none() {
            self.end = Some(at);
        }
        row
    }
}

impl<const N: usize, const W: usize> IntegerRows<'_, N, W> {
    /// The columns of a cell of which all checks of [`Decoder::record`] hold.
    #[inline(always)]
    fn of_cell(&mut self, at: usize) -> Option<[i64; N]> {
        let at = at.wrapping_sub(self.first);
        let cell: &[u8; CELL] = self.cells.get(at..)?.first_chunk()?;
        // A length of several bytes begins with more than a usual one.
        let (payload, record) = (cell[0], self.rowids.record(cell)?);
        let key: [u64; W] = key(record, self.mask);
        let header = &self.known[place(key)];
        let fits = payload.wrapping_sub(header.least) < header.lengths;
        let payload = usize::from(payload);
        if header.key[..W] != key
            || !fits
            || record[usize::from(header.sign)] >= 0x80
            || at + 1 + self.rowids.length + payload > self.length
            || self.room < payload
        {
            return None;
        }
        self.room -= payload;
        Some(std::array::from_fn(|column| {
            let value = &header.values[column];
            let bytes = record[usize::from(value.begin)..].first_chunk();
            let word = u64::from_be_bytes(bytes.copied().unwrap_or_default()).cast_signed();
            match value.unused {
                0 => word,
                unused => (word << value.before >> unused) + i64::from(value.added),
            }
        }))
    }
}

/// How many words of a header tell whether the columns of a layout are integers: one or two. `None` where the table lacks one, or their types
/// may lie too far behind.
pub(super) fn words(layout: &Layout) -> Option<usize> {
    let are_stored = layout.places.iter().all(|place| matches!(place, Place::Stored(_)));
    let length = 1 + layout.stored.len();
    let are_few = layout.places.len() <= 1 + MOST && length <= WINDOW;
    (are_stored && are_few).then(|| length.div_ceil(WORD))
}

impl Integers {
    /// The columns of a layout that has [`words`].
    pub(super) fn of(layout: &Layout) -> Self {
        let mut mask = [[0; WORD]; WINDOW / WORD];
        mask.as_flattened_mut().iter_mut().take(1 + layout.stored.len()).for_each(|byte| *byte = 0xff);
        let known = vec![Header::unusual(Key::default()); REMEMBERED].into_boxed_slice().try_into();
        let Ok(known) = known else { unreachable!("made of that length") };
        Self { mask: mask.map(u64::from_le_bytes), known }
    }

    /// Adds every row of a leaf. `Err` has the number of rows before the first one of which SQLite might see anything else than we do.
    pub(super) fn rows<const N: usize, const W: usize>(
        &mut self,
        layout: &Layout,
        decoder: &mut Decoder<'_>,
        leaf: Leaf<'_>,
        part: &mut impl AddRows<N>,
    ) -> Result<(), usize> {
        let first = leaf.first();
        let (cells, length) = (&leaf.beyond[first..], leaf.page.len() - first);
        let mut room = leaf.page.len();
        let mut left = leaf.pointers.as_chunks::<2>().0;
        while !left.is_empty() {
            let run = &left[..left.len().min(RUN)];
            let mut rows = IntegerRows::<N, W> {
                cells,
                first,
                length,
                pointers: run.iter(),
                rowids: RowidLength::of(cells, usize::from(u16::from_be_bytes(run[0])).wrapping_sub(first)),
                room,
                mask: self.mask,
                known: &self.known,
                end: None,
            };
            part.add_usual(&mut rows);
            room = rows.room;
            let (behind, end) = (rows.pointers.len(), rows.end);
            let read = run.len() - behind - usize::from(end.is_some());
            left = &left[read..];
            let Some(at) = end else { continue };
            if !self.learn::<W>(layout, cells, at.wrapping_sub(first)) {
                let row = leaf.pointers.len() / 2 - left.len();
                decoder.record(leaf, at, &mut room, |record| part.add(&Row::of_record(record))).ok_or(row)?;
                left = &left[1..];
            }
        }
        Ok(())
    }

    /// Remembers the header of a cell. False where that has been done.
    #[cold]
    fn learn<const W: usize>(&mut self, layout: &Layout, cells: &[u8], at: usize) -> bool {
        let cell = cells.get(at..).and_then(<[u8]>::first_chunk);
        let Some(record) = cell.and_then(|cell| RowidLength::of(cells, at).record(cell)) else {
            return false;
        };
        let short: [u64; W] = key(record, self.mask);
        let header = &mut self.known[place(short)];
        if header.key[..W] == short {
            return false;
        }
        let mut key = Key::default();
        key[..W].copy_from_slice(&short);
        *header = Header::of(key, layout).unwrap_or(Header::unusual(key));
        true
    }
}

impl Header {
    /// One whose rows are read in another way.
    const fn unusual(key: Key) -> Self {
        let nothing = Value { begin: 0, before: 0, unused: 0, added: 0 };
        Self { key, least: 0, lengths: 0, sign: 0, values: [nothing; MOST] }
    }

    /// One whose columns are integers.
    fn of(key: Key, layout: &Layout) -> Option<Self> {
        let bytes = key.map(u64::to_le_bytes);
        let (&length, types) = bytes.as_flattened().split_first()?;
        // A shorter header lacks columns.
        if usize::from(length) <= layout.stored.len() || length >= 0x80 {
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
        let is_last = usize::from(length) == 1 + layout.stored.len();
        let mut header =
            Self { least, lengths: if is_last { 1 } else { 0x80 - least }, ..Self::unusual(key) };
        for (column, place) in layout.places.iter().enumerate() {
            let Place::Stored(position) = *place else { return None };
            let (sign, value) = match types[position] {
                kind @ 1..=6 => {
                    let width = WIDTH[usize::from(kind)];
                    let begin = u8::try_from(ends[position].checked_sub(WORD)?).ok()?;
                    let unused = 64 - 8 * width;
                    (begin + 8 - width, Value { begin, before: unused, unused, added: 0 })
                }
                // The type states the value.
                8 | 9 => {
                    let begin = 1 + position as u8;
                    (begin, Value { begin, before: 0, unused: 56, added: -8 })
                }
                _ => return None,
            };
            match column.checked_sub(1) {
                Some(column) => header.values[column] = value,
                None => header.sign = sign,
            }
        }
        Some(header)
    }
}

/// How many bytes rowids have: those of a leaf are alike.
#[derive(Debug, Clone, Copy)]
struct RowidLength {
    length: usize,
    /// The upper bit of each of these bytes.
    mask: u64,
    /// The same of all but the last one, which are set.
    set: u64,
}

impl RowidLength {
    /// That of the rowid of a cell.
    fn of(cells: &[u8], at: usize) -> Self {
        const UPPER: u64 = 0x8080_8080_8080_8080;
        let word = cells.get(at..).and_then(|cell| cell.get(1..)?.first_chunk());
        let last = !u64::from_le_bytes(word.copied().unwrap_or([0xff; WORD])) & UPPER;
        let last = last & last.wrapping_neg();
        // Of nine bytes, or where there is none, no cell has that length.
        let (mask, set) = if last == 0 { (0, 1) } else { ((last | (last - 1)) & UPPER, (last - 1) & UPPER) };
        Self { length: mask.count_ones() as usize, mask, set }
    }

    /// The record of a cell whose rowid has this length.
    #[inline(always)]
    fn record<'a>(&self, cell: &'a [u8; CELL]) -> Option<&'a [u8; RECORD]> {
        let word = u64::from_le_bytes(*cell[1..].first_chunk()?);
        if word & self.mask != self.set {
            return None;
        }
        cell.get(1 + self.length..)?.first_chunk()
    }
}

/// The bytes of a record that `mask` selects.
#[inline(always)]
fn key<const W: usize>(record: &[u8; RECORD], mask: Key) -> [u64; W] {
    let words = record.as_chunks::<WORD>().0;
    std::array::from_fn(|word| u64::from_le_bytes(words[word]) & mask[word])
}

/// Where a header is remembered.
#[inline(always)]
fn place<const W: usize>(key: [u64; W]) -> usize {
    // Odd and without a pattern.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = key.iter().fold(0, |mixed: u64, word| mixed.rotate_left(29) ^ word);
    (mixed.wrapping_mul(FACTOR) >> (u64::BITS - REMEMBERED.ilog2())) as usize
}
