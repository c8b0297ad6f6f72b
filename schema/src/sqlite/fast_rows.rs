//! The fast path of a scan. Headers repeat from row to row, so the places of integers are found once for each header; a row then costs
//! a quarter of a [`Row`].

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fast_header::{
    FastColumns, Header, Key, Masks, PLACES, RECORD, Value, WORD, key, looked_at, masks, place,
};
use super::layout::Layout;
use super::pages::{Leaf, LeafBuffer, Pages, REACH};
use super::record::{Decoder, Record};
use super::row::Row;
use super::varint::varint;

/// The longest rowid in bytes.
const ROWID: usize = 9;
/// How many fast rows come at once, at most.
const RUN: usize = 256;
/// How many headers are remembered, two in each place, of which the first one is found at once.
const REMEMBERED: usize = 2 * PLACES;
/// The bytes of a cell that may be loaded.
const CELL: usize = 1 + ROWID + RECORD;

/// A receiver of the rows of a scan, in their order.
pub trait AddRows<const N: usize> {
    /// The facts that fast rows with one header have in common.
    type Facts: Copy + Default;

    /// The facts that follow from the header of a row. `None` where rows with it are to come by [`Self::add`].
    fn facts(&self, row: &Row<'_>) -> Option<Self::Facts>;

    /// Adds fast rows, at most 256: their columns are integers, of which the first one is not negative. False where it did not take the
    /// last row that it looked at: that one comes by [`Self::add`].
    fn add_fast<'a>(&mut self, rows: impl Iterator<Item = FastRow<'a, N, Self::Facts>>) -> bool
    where
        Self::Facts: 'a;

    /// Adds another row, with all columns of the scan.
    fn add(&mut self, row: &Row<'_>);
}

/// A row of which some columns are integers.
#[derive(Debug, Clone, Copy)]
pub struct FastRow<'a, const N: usize, F> {
    header: &'a Header<N, F>,
    record: &'a [u8; RECORD],
    /// The cell behind the length of its record.
    rowid: &'a [u8],
}

impl<'a, const N: usize, F> FastRow<'a, N, F> {
    /// The integer of the column at that position in [`FastColumns::integers`].
    #[inline(always)]
    pub fn int(&self, at: usize) -> i64 {
        let value = self.header.values[at];
        self.word(value).cast_signed() >> value.unused
    }

    /// The facts that it has in common with others of its header.
    #[inline(always)]
    pub fn facts(&self) -> &'a F {
        &self.header.facts
    }

    /// The rowid. It is decoded at each call: scans that select no ids do without.
    #[inline]
    pub fn id(&self) -> i64 {
        varint(self.rowid, &mut 0).unwrap_or_default() as i64
    }

    /// The bits of a value as it is stored, without its sign.
    #[inline(always)]
    pub(super) fn bits(&self, value: Value) -> u64 {
        self.word(value) >> value.unused
    }

    /// The eight bytes that begin with a value.
    #[inline(always)]
    fn word(&self, value: Value) -> u64 {
        let bytes = self.record[usize::from(value.begin)..].first_chunk();
        u64::from_be_bytes(bytes.copied().unwrap_or_default())
    }

    #[inline(always)]
    pub(super) fn bytes(&self, begin: usize, end: usize) -> &'a [u8] {
        self.record.get(begin..end).unwrap_or_default()
    }
}

/// Readers of fast rows of one table, with the headers that they have seen: as many as threads read at once.
#[derive(Debug)]
pub struct Readers<const N: usize, F> {
    columns: FastColumns<N>,
    unused: Mutex<Vec<(Reader<N, F>, LeafBuffer)>>,
}

impl<const N: usize, F: Copy + Default> Readers<N, F> {
    /// The bytes of a header that is remembered.
    pub(crate) const HEADER: usize = size_of::<Header<N, F>>();

    /// Starts without headers: each thread adds those that it sees.
    pub fn of(columns: FastColumns<N>) -> Self {
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
        let (mut reader, mut buffer) =
            unused.unwrap_or_else(|| (Reader::new(layout, self.columns), LeafBuffer::default()));
        let read = reader.leaves((pages, layout), leaves, whole, &mut buffer, part);
        self.unused().push((reader, buffer));
        read
    }

    fn unused(&self) -> MutexGuard<'_, Vec<(Reader<N, F>, LeafBuffer)>> {
        self.unused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads `N` integer columns of a table.
#[derive(Debug)]
struct Reader<const N: usize, F> {
    columns: FastColumns<N>,
    masks: Masks,
    known: Box<[Header<N, F>; REMEMBERED]>,
}

#[derive(Debug)]
struct FastRows<'a, const N: usize, const W: usize, F> {
    /// The page, and bytes behind it.
    reach: &'a [u8; REACH],
    /// The bytes of the page that can be cells.
    cells: Range<usize>,
    pointers: std::slice::Iter<'a, [u8; 2]>,
    rowids: RowidLength,
    masks: &'a Masks,
    known: &'a [Header<N, F>; REMEMBERED],
    /// True if they ended before a row that is no fast one, or whose header is not known.
    is_at_other: bool,
}

impl<'a, const N: usize, const W: usize, F> Iterator for FastRows<'a, N, W, F> {
    type Item = FastRow<'a, N, F>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let at = u16::from_be_bytes(*self.pointers.next()?);
        let row = self.of_cell(at);
        self.is_at_other = row.is_none();
        row
    }
}

impl<'a, const N: usize, const W: usize, F> FastRows<'a, N, W, F> {
    /// The row of a cell of which all checks of [`Decoder::record`] hold but one: short rows may share bytes.
    #[inline(always)]
    fn of_cell(&self, at: u16) -> Option<FastRow<'a, N, F>> {
        let at = usize::from(at);
        let cell: &[u8; CELL] = self.reach[at..].first_chunk()?;
        // A length of several bytes begins with more than one of a fast row.
        let (payload, record) = (cell[0], self.rowids.record(cell)?);
        let key: [u64; W] = key(record, self.masks);
        let header = &self.known[place(key)];
        let fits = payload.wrapping_sub(header.least) < header.lengths;
        let end = at + 1 + self.rowids.length + usize::from(payload);
        let differing = header.key.iter().zip(key).fold(0, |differing, (one, other)| differing | one ^ other);
        if differing != 0
            || !fits
            || record[usize::from(header.values[0].begin)] >= 0x80
            || at < self.cells.start
            || end > self.cells.end
        {
            return None;
        }
        Some(FastRow { header, record, rowid: &cell[1..] })
    }
}

impl<const N: usize, F: Copy + Default> Reader<N, F> {
    /// The table must [have fast rows](super::fast_header::has_fast_rows) with these columns.
    fn new(layout: &Layout, columns: FastColumns<N>) -> Self {
        let known = vec![Header::unusual(Key::default()); REMEMBERED].into_boxed_slice().try_into();
        let Ok(known) = known else { unreachable!("made of that length") };
        Self { columns, masks: masks(layout), known }
    }

    /// Does the work of [`Readers::read`].
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
            let mut rows = FastRows::<N, W, F> {
                reach: leaf.reach,
                cells: leaf.first()..leaf.page.len(),
                pointers: run.iter(),
                rowids: RowidLength::of_cell(&leaf.reach[at(&run[0])..]),
                masks: &self.masks,
                known: &self.known,
                is_at_other: false,
            };
            let takes_all = part.add_fast(&mut rows);
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

    /// Moves the header of a cell to the place where it is found at once. False where it is there already.
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
        let Some(record) = cell.first_chunk().and_then(|bytes| RowidLength::of_cell(cell).record(bytes))
        else {
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
        if let Some(fast) = Header::find(key, layout, &self.columns) {
            let mut room = leaf.page.len();
            let mut found = None;
            decoder.record(leaf, at, &mut room, |record| found = part.facts(&Row::of_record(record)));
            if let Some(facts) = found {
                *header = Header { facts, ..fast };
            }
        }
        true
    }
}

/// How many bytes rowids have: those of a leaf are alike.
#[derive(Debug, Clone, Copy)]
struct RowidLength {
    length: usize,
    /// The upper bit of each of these bytes.
    mask: u64,
    /// The upper bit of each of these bytes but the last, where it is set.
    set: u64,
}

impl RowidLength {
    fn of_cell(cell: &[u8]) -> Self {
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
