//! Integer columns of usual rows, for a quarter of the cost of a [`Row`]: the first types of a record header, looked at as a few
//! numbers, say where the values are.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::layout::{Layout, Place, Stored};
use super::pages::{Leaf, LeafBuffer, Pages, REACH};
use super::record::{Decoder, Record, WIDTH, width};
use super::row::Row;
use super::varint::varint;

const WORD: usize = size_of::<u64>();
/// The bytes of a header that may be looked at, `W` words of them: its length, and types of one byte each.
const WINDOW: usize = 4 * WORD;
/// The longest rowid in bytes.
const ROWID: usize = 9;
/// How many usual rows come at once, at most.
pub(crate) const RUN: usize = 256;
/// How many headers are remembered, two in each place, of which the first one is found at once.
const REMEMBERED: usize = 2 * PLACES;
const PLACES: usize = 1024;
/// What is looked at of a record: eight bytes from wherever a byte can point to.
const RECORD: usize = u8::MAX as usize + WORD;
/// What is looked at of a cell.
const CELL: usize = 1 + ROWID + RECORD;

/// What the rows of a scan are added to, in order.
pub trait AddRows<const N: usize> {
    /// What usual rows with the same header have in common.
    type Facts: Copy + Default;

    /// What a row has in common with others of its header. `None` where these are to come as other rows do.
    fn facts(&self, row: &Row<'_>) -> Option<Self::Facts>;

    /// Adds usual rows, at most 256: their columns are integers, and the sign column is not negative. False where it did not take the
    /// last row that it looked at: that one comes as others do.
    fn add_usual<'a>(&mut self, rows: impl Iterator<Item = UsualRow<'a, N, Self::Facts>>) -> bool
    where
        Self::Facts: 'a;

    /// Adds another row, with all columns of the scan.
    fn add(&mut self, row: &Row<'_>);
}

/// A row of which some columns are integers.
#[derive(Debug, Clone, Copy)]
pub struct UsualRow<'a, const N: usize, F> {
    header: &'a Header<N, F>,
    record: &'a [u8; RECORD],
    /// Its cell behind the length.
    rowid: &'a [u8],
}

impl<'a, const N: usize, F> UsualRow<'a, N, F> {
    /// The integer of that one of [`UsualColumns::integers`].
    #[inline(always)]
    pub fn int(&self, at: usize) -> i64 {
        let Value { begin, unused } = self.header.values[at];
        let bytes = self.record[usize::from(begin)..].first_chunk();
        let word = u64::from_be_bytes(bytes.copied().unwrap_or_default()).cast_signed();
        word >> unused
    }

    /// What it has in common with others of its header.
    #[inline(always)]
    pub fn facts(&self) -> &'a F {
        &self.header.facts
    }

    /// The rowid.
    #[inline]
    pub fn id(&self) -> i64 {
        varint(self.rowid, &mut 0).unwrap_or_default() as i64
    }

    /// The eight bytes that end there in the record.
    #[inline(always)]
    pub(super) fn word(&self, end: usize) -> u64 {
        let bytes = self.record.get(end.wrapping_sub(WORD)..).and_then(<[u8]>::first_chunk);
        u64::from_be_bytes(bytes.copied().unwrap_or_default())
    }

    /// Bytes of the record.
    #[inline(always)]
    pub(super) fn bytes(&self, begin: usize, end: usize) -> &'a [u8] {
        self.record.get(begin..end).unwrap_or_default()
    }
}

/// The columns of usual rows, by their positions in the scan.
#[derive(Debug, Clone, Copy)]
pub struct UsualColumns<const N: usize> {
    /// Usual rows have a value here that is not negative.
    pub sign: usize,
    /// The integers of a row.
    pub integers: [IntegerColumn; N],
}

/// A column of usual rows.
#[derive(Debug, Clone, Copy)]
pub enum IntegerColumn {
    /// All of them have an integer here.
    Integer(usize),
    /// They have an integer or NULL, which reads as 0.
    OrZero(usize),
    /// 0 in all rows.
    Zero,
}

/// Readers of usual rows of one table, with the headers that they have met: as many as threads read at once.
#[derive(Debug)]
pub struct Readers<const N: usize, F> {
    columns: UsualColumns<N>,
    unused: Mutex<Vec<(Integers<N, F>, LeafBuffer)>>,
}

impl<const N: usize, F: Copy + Default> Readers<N, F> {
    /// Readers of these columns.
    pub fn of(columns: UsualColumns<N>) -> Self {
        Self { columns, unused: Mutex::default() }
    }

    /// Adds the rows of leaves, which may be empty only where they are the `whole` table, and returns their number. `Err` has the number of
    /// rows before the first one that only the library can read.
    pub(super) fn read(
        &self,
        (pages, layout): (Pages<'_>, &Layout),
        leaves: &[u32],
        whole: bool,
        part: &mut impl AddRows<N, Facts = F>,
    ) -> Result<u64, u64> {
        let unused = self.unused().pop();
        let (mut integers, mut buffer) =
            unused.unwrap_or_else(|| (Integers::of(layout, self.columns), LeafBuffer::default()));
        let read = integers.leaves((pages, layout), leaves, whole, &mut buffer, part);
        self.unused().push((integers, buffer));
        read
    }

    fn unused(&self) -> MutexGuard<'_, Vec<(Integers<N, F>, LeafBuffer)>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads `N` integer columns of a table.
#[derive(Debug)]
struct Integers<const N: usize, F> {
    columns: UsualColumns<N>,
    masks: Masks,
    known: Box<[Header<N, F>; REMEMBERED]>,
}

/// The length of a header and types, of which a number `W` of words matters.
type Key = [u64; WINDOW / WORD];

/// By the first byte of a header, which is its length or has the upper bit set: its bytes up to the type of the last column of the scan.
type Masks = Box<[Key; 0x100]>;

/// What follows from the first types of a row.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Header<const N: usize, F> {
    /// No header is 0.
    key: Key,
    /// The least length that such a record can have.
    least: u8,
    /// How many lengths it can have from there on: none where a column is no integer.
    lengths: u8,
    /// Where the sign is.
    sign: u8,
    values: [Value; N],
    facts: F,
}

/// An integer: the first bits of the eight bytes that begin there.
#[derive(Debug, Clone, Copy)]
struct Value {
    begin: u8,
    /// The bits behind it.
    unused: u8,
}

/// 0: the first bit of the length of a header.
const ZERO: Value = Value { begin: 0, unused: 63 };

/// Usual rows, one after the other.
#[derive(Debug)]
struct IntegerRows<'a, const N: usize, const W: usize, F> {
    /// The page, and bytes behind it.
    reach: &'a [u8; REACH],
    /// Where its cells can be.
    cells: Range<usize>,
    pointers: std::slice::Iter<'a, [u8; 2]>,
    rowids: RowidLength,
    masks: &'a Masks,
    known: &'a [Header<N, F>; REMEMBERED],
    /// Whether they ended before a row that is no usual one, or whose header is not known.
    is_at_other: bool,
}

impl<'a, const N: usize, const W: usize, F> Iterator for IntegerRows<'a, N, W, F> {
    type Item = UsualRow<'a, N, F>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let at = u16::from_be_bytes(*self.pointers.next()?);
        let row = self.of_cell(at);
        self.is_at_other = row.is_none();
        row
    }
}

impl<'a, const N: usize, const W: usize, F> IntegerRows<'a, N, W, F> {
    /// The row of a cell of which all checks of [`Decoder::record`] hold but one: short rows may share bytes.
    #[inline(always)]
    fn of_cell(&self, at: u16) -> Option<UsualRow<'a, N, F>> {
        let at = usize::from(at);
        let cell: &[u8; CELL] = self.reach[at..].first_chunk()?;
        // A length of several bytes begins with more than a usual one.
        let (payload, record) = (cell[0], self.rowids.record(cell)?);
        let key: [u64; W] = key(record, self.masks);
        let header = &self.known[place(key)];
        let fits = payload.wrapping_sub(header.least) < header.lengths;
        let end = at + 1 + self.rowids.length + usize::from(payload);
        if header.key[..W] != key
            || !fits
            || record[usize::from(header.sign)] >= 0x80
            || at < self.cells.start
            || end > self.cells.end
        {
            return None;
        }
        Some(UsualRow { header, record, rowid: &cell[1..] })
    }
}

/// Whether a table can have usual rows: it has these columns, and the types of all columns of a scan are not too far behind.
pub(super) fn are_usual<const N: usize>(layout: &Layout, columns: &UsualColumns<N>) -> bool {
    let is_stored = |column: usize| matches!(layout.places.get(column), Some(Place::Stored(_)));
    let are_stored = columns.integers.iter().all(|column| match *column {
        IntegerColumn::Integer(column) | IntegerColumn::OrZero(column) => is_stored(column),
        IntegerColumn::Zero => true,
    });
    are_stored && is_stored(columns.sign) && looked_at(layout) <= WINDOW
}

/// How many bytes of a header say where the columns of a scan are.
fn looked_at(layout: &Layout) -> usize {
    1 + layout.stored.len()
}

impl<const N: usize, F: Copy + Default> Integers<N, F> {
    /// Columns that [`are_usual`] in that layout.
    fn of(layout: &Layout, columns: UsualColumns<N>) -> Self {
        let mut masks = Box::new([Key::default(); 0x100]);
        for (length, mask) in masks.iter_mut().enumerate() {
            let mut bytes = [[0; WORD]; WINDOW / WORD];
            bytes.as_flattened_mut()[..length.min(looked_at(layout))].fill(0xff);
            *mask = bytes.map(u64::from_le_bytes);
        }
        let known = vec![Header::unusual(Key::default()); REMEMBERED].into_boxed_slice().try_into();
        let Ok(known) = known else { unreachable!("made of that length") };
        Self { columns, masks, known }
    }

    /// See [`Readers::read`].
    fn leaves(
        &mut self,
        (pages, layout): (Pages<'_>, &Layout),
        leaves: &[u32],
        whole: bool,
        buffer: &mut LeafBuffer,
        part: &mut impl AddRows<N, Facts = F>,
    ) -> Result<u64, u64> {
        let mut decoder = Decoder::new(pages, layout, leaves.len());
        let words = looked_at(layout).div_ceil(WORD);
        let mut given = 0;
        let read = pages.read_leaves_into(buffer, leaves, |leaf| {
            let rows = leaf.pointers.len() / 2;
            if rows == 0 && !whole {
                return None;
            }
            let read = match words {
                1 => self.rows::<1>(layout, &mut decoder, leaf, part),
                2 => self.rows::<2>(layout, &mut decoder, leaf, part),
                _ => self.rows::<4>(layout, &mut decoder, leaf, part),
            };
            given += read.err().unwrap_or(rows) as u64;
            read.ok()
        });
        read.map(|()| given).ok_or(given)
    }

    /// Adds every row of a leaf. `Err` has the number of rows before the first one of which SQLite might see anything else than we do.
    fn rows<const W: usize>(
        &mut self,
        layout: &Layout,
        decoder: &mut Decoder<'_>,
        leaf: Leaf<'_>,
        part: &mut impl AddRows<N, Facts = F>,
    ) -> Result<(), usize> {
        let at = |pointer: &[u8; 2]| usize::from(u16::from_be_bytes(*pointer));
        let mut room = leaf.page.len();
        let mut left = leaf.pointers.as_chunks::<2>().0;
        while !left.is_empty() {
            let run = &left[..left.len().min(RUN)];
            let mut rows = IntegerRows::<N, W, F> {
                reach: leaf.reach,
                cells: leaf.first()..leaf.page.len(),
                pointers: run.iter(),
                rowids: RowidLength::of(&leaf.reach[at(&run[0])..]),
                masks: &self.masks,
                known: &self.known,
                is_at_other: false,
            };
            let takes_all = part.add_usual(&mut rows);
            let (behind, is_unknown) = (rows.pointers.len(), rows.is_at_other);
            left = &left[run.len() - behind - usize::from(is_unknown || !takes_all)..];
            let is_other = match left {
                [pointer, ..] if is_unknown => !self.learn::<W>(layout, decoder, leaf, at(pointer), part),
                _ => !takes_all,
            };
            if let [pointer, behind @ ..] = left
                && is_other
            {
                let row = leaf.pointers.len() / 2 - left.len();
                let each = |record: Record<'_>| part.add(&Row::of_record(record));
                decoder.record(leaf, at(pointer), &mut room, each).ok_or(row)?;
                left = behind;
            }
        }
        Ok(())
    }

    /// Brings the header of a cell to where it is found at once. False where it is there.
    #[cold]
    fn learn<const W: usize>(
        &mut self,
        layout: &Layout,
        decoder: &mut Decoder<'_>,
        leaf: Leaf<'_>,
        at: usize,
        part: &impl AddRows<N, Facts = F>,
    ) -> bool {
        let cell = &leaf.reach[at..];
        let Some(record) = cell.first_chunk().and_then(|bytes| RowidLength::of(cell).record(bytes)) else {
            return false;
        };
        let short: [u64; W] = key(record, &self.masks);
        let first = place(short);
        if self.known[first].key[..W] == short {
            return false;
        }
        self.known.swap(first, first + 1);
        let header = &mut self.known[first];
        if header.key[..W] == short {
            return true;
        }
        let mut key = Key::default();
        key[..W].copy_from_slice(&short);
        *header = Header::unusual(key);
        if let Some(usual) = Header::of(key, layout, &self.columns) {
            let mut room = leaf.page.len();
            let mut found = None;
            decoder.record(leaf, at, &mut room, |record| found = part.facts(&Row::of_record(record)));
            if let Some(facts) = found {
                *header = Header { facts, ..usual };
            }
        }
        true
    }
}

impl<const N: usize, F: Copy + Default> Header<N, F> {
    /// One whose rows are read in another way.
    fn unusual(key: Key) -> Self {
        Self { key, least: 0, lengths: 0, sign: 0, values: [ZERO; N], facts: F::default() }
    }

    /// One whose columns are integers.
    fn of(key: Key, layout: &Layout, columns: &UsualColumns<N>) -> Option<Self> {
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
        // Its sign, and the value.
        let integer = |position: usize| match types[position] {
            kind @ 1..=6 => {
                let width = WIDTH[usize::from(kind)];
                let begin = u8::try_from(ends[position]).ok()? - width;
                Some((begin, Value { begin, unused: 64 - 8 * width }))
            }
            // The type states the value: 0 and 1 are the first four bits of 8 and the first five of 9.
            kind @ (8 | 9) => {
                let begin = 1 + position as u8;
                Some((begin, Value { begin, unused: 68 - kind }))
            }
            _ => None,
        };
        (header.sign, _) = integer(position(columns.sign)?)?;
        for (value, column) in header.values.iter_mut().zip(columns.integers) {
            *value = match column {
                IntegerColumn::Integer(column) => integer(position(column)?)?.1,
                IntegerColumn::OrZero(column) => match position(column)? {
                    position if types[position] == 0 => ZERO,
                    position => integer(position)?.1,
                },
                IntegerColumn::Zero => ZERO,
            };
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
    fn of(cell: &[u8]) -> Self {
        const UPPER: u64 = 0x8080_8080_8080_8080;
        let word = cell.get(1..).and_then(<[u8]>::first_chunk);
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

/// The length and the types of a record.
#[inline(always)]
fn key<const W: usize>(record: &[u8; RECORD], masks: &Masks) -> [u64; W] {
    let words = record.as_chunks::<WORD>().0;
    let mask = &masks[usize::from(record[0])];
    std::array::from_fn(|word| u64::from_le_bytes(words[word]) & mask[word])
}

/// Where a header is remembered.
#[inline(always)]
fn place<const W: usize>(key: [u64; W]) -> usize {
    // Odd and without a pattern.
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = key.iter().fold(0, |mixed: u64, word| mixed.rotate_left(29) ^ word);
    2 * (mixed.wrapping_mul(FACTOR) >> (u64::BITS - PLACES.ilog2())) as usize
}
