//! Records, decoded column by column. Few shapes of records occur in a table, so they are remembered.

use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::ValueRef;

use super::layout::{Layout, Place};
use super::pages::{Leaf, Pages};
use super::varint::varint;

/// SQLite's own limits: longer values and record headers do not exist.
const MAX_PAYLOAD: u64 = 1_000_000_000;
const MAX_HEADER: usize = 98_307;
/// Bytes before a record, so that a number of any width can be loaded as eight bytes that end with it.
/// In a page that room is there already: its header and one cell pointer precede every cell.
const MARGIN: usize = 8;

/// Stored bytes per serial type of one byte.
pub(super) const WIDTH: [u8; 128] = {
    let mut widths = [0; 128];
    let numbers = [0, 1, 2, 3, 4, 6, 8, 8];
    let mut serial = 0;
    while serial < widths.len() {
        widths[serial] = match serial {
            0..8 => numbers[serial],
            8..12 => 0,
            _ => (serial as u8 - 12) / 2,
        };
        serial += 1;
    }
    widths
};

/// A value of the row: its serial type, where it ends in the record, and for a number how many bits of the
/// eight bytes that end there belong to something else.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    serial: u32,
    end: u32,
    unused: u32,
}

/// A serial type that the file format reserves: here it stands for the rowid.
const ROWID: u32 = 10;

/// The selected columns of one row, not decoded yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) id: i64,
    bytes: &'a [u8],
    start: usize,
    slots: &'a [Slot],
    /// Where its header is remembered, with a number that no other header has.
    pub(super) header: Option<(usize, u64)>,
}

impl<'a> Record<'a> {
    /// Column `at` if it is an integer or NULL: the common case, short enough to be inlined everywhere.
    #[inline]
    pub(super) fn integer(&self, at: usize) -> Option<Option<i64>> {
        let Some(slot) = self.slots.get(at) else { return Some(None) };
        // Comparisons rather than a jump table: each column keeps to few types, which branches learn.
        let serial = slot.serial;
        if serial.wrapping_sub(1) < 6 {
            return Some(Some(self.number(*slot)));
        }
        match serial {
            0 => Some(None),
            8 | 9 => Some(Some(i64::from(serial - 8))),
            ROWID => Some(Some(self.id)),
            _ => None,
        }
    }

    /// The serial type of column `at`.
    #[inline]
    pub(super) fn serial(&self, at: usize) -> u32 {
        self.slots.get(at).map_or(0, |slot| slot.serial)
    }

    /// Where the bytes of column `at` begin and end in the record.
    pub(super) fn bytes_of(&self, at: usize) -> (usize, usize) {
        let Slot { serial, end, unused: _ } = self.slots.get(at).copied().unwrap_or_default();
        let end = end as usize;
        (end.saturating_sub(width(serial)), end)
    }

    /// The eight bytes that end there in the record.
    #[inline]
    pub(super) fn word(&self, end: usize) -> u64 {
        let bytes = self.bytes[..self.start + end].last_chunk::<8>().copied().unwrap_or_default();
        u64::from_be_bytes(bytes)
    }

    /// Column `at`. A whole number in a REAL column is stored, and comes, as an integer.
    pub(super) fn value(&self, at: usize) -> ValueRef<'a> {
        match self.integer(at) {
            Some(Some(value)) => return ValueRef::Integer(value),
            Some(None) => return ValueRef::Null,
            None => {}
        }
        let Some(slot) = self.slots.get(at) else { return ValueRef::Null };
        match slot.serial {
            7 => match f64::from_bits(self.number(*slot) as u64) {
                value if value.is_nan() => ValueRef::Null,
                value => ValueRef::Real(value),
            },
            serial @ 12.. => {
                let end = self.start + slot.end as usize;
                let bytes = self.bytes.get(end - width(serial)..end).unwrap_or_default();
                if serial % 2 == 0 { ValueRef::Blob(bytes) } else { ValueRef::Text(bytes) }
            }
            _ => ValueRef::Null,
        }
    }

    #[inline]
    fn number(&self, slot: Slot) -> i64 {
        ((self.word(slot.end as usize) as i64) << slot.unused) >> slot.unused
    }
}

/// Decodes cells, reusing buffers from row to row.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    pages: Pages<'a>,
    shapes: Shapes<'a>,
    assembled: Vec<u8>,
    /// No record is longer.
    longest: u64,
    /// Bytes of overflow pages that records may still have: no two of them share a page.
    overflow: u64,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(pages: Pages<'a>, layout: &'a Layout, leaves: usize) -> Self {
        let overflow = pages.bytes();
        let longest = overflow.min(MAX_PAYLOAD);
        Self { pages, shapes: Shapes::new(layout, leaves), assembled: Vec::new(), longest, overflow }
    }

    /// Calls `each` with the record of every cell, each of them checked before. `None` where SQLite
    /// might see anything else than we do.
    #[inline]
    pub(super) fn records(&mut self, leaf: Leaf<'_>, mut each: impl FnMut(Record<'_>)) -> Option<()> {
        // Cells that share bytes could be more text than the file.
        let mut room = leaf.page.len();
        for pointer in leaf.pointers.as_chunks::<2>().0 {
            self.record(leaf, usize::from(u16::from_be_bytes(*pointer)), &mut room, &mut each)?;
        }
        Some(())
    }

    /// Calls `each` with the record of the cell at `at`, for which the leaf has `room`.
    #[inline]
    pub(super) fn record(
        &mut self,
        leaf: Leaf<'_>,
        mut at: usize,
        room: &mut usize,
        each: impl FnOnce(Record<'_>),
    ) -> Option<()> {
        let page = leaf.page;
        // No cell is shorter than four bytes.
        let last = page.len() - 4;
        if at < leaf.first() || at > last {
            return None;
        }
        let payload = varint(page, &mut at)?;
        let id = varint(page, &mut at)? as i64;
        if payload > self.longest {
            return None;
        }
        let payload = payload as usize;
        let local = local_length(payload, page.len());
        *room = room.checked_sub(local)?;
        let record = page.get(at..at + local)?;
        if local < payload && at + local > last {
            return None;
        }
        let Found { shape, end, number } = self.shapes.of_record(record, payload)?;
        let (bytes, start): (&[u8], usize) = if end <= local {
            (page, at)
        } else if local == payload {
            return None;
        } else {
            self.overflow = self.overflow.checked_sub((end - local) as u64)?;
            assemble(self.pages, &mut self.assembled, record, page.get(at + local..at + local + 4)?, end)?;
            (&self.assembled, MARGIN)
        };
        let header = number.map(|number| (shape, number));
        each(Record { id, bytes, start, slots: self.shapes.slots(shape), header });
        Some(())
    }
}

/// Adds the first pages of the chains on which records of a leaf continue.
pub(super) fn overflow_chains(leaf: Leaf<'_>, chains: &mut Vec<u32>) -> Option<()> {
    let page = leaf.page;
    for pointer in leaf.pointers.as_chunks::<2>().0 {
        let mut at = usize::from(u16::from_be_bytes(*pointer));
        let payload = usize::try_from(varint(page, &mut at)?.min(MAX_PAYLOAD)).ok()?;
        varint(page, &mut at)?;
        let local = local_length(payload, page.len());
        if local < payload {
            chains.push(u32::from_be_bytes(*page.get(at + local..)?.first_chunk()?));
        }
    }
    Some(())
}

/// Joins a record's local part and its overflow pages, as far as `end`.
#[cold]
fn assemble(pages: Pages<'_>, whole: &mut Vec<u8>, local: &[u8], pointer: &[u8], end: usize) -> Option<()> {
    let chain = u32::from_be_bytes(pointer.try_into().ok()?);
    whole.clear();
    whole.resize(MARGIN, 0);
    whole.extend_from_slice(local);
    pages.read_overflow(chain, whole, MARGIN + end)
}

/// How many shapes are remembered of a table: this number for each leaf, and at least and at most these. Two shapes that are
/// remembered in one place displace each other.
const OF_LEAF: usize = 4;
const REMEMBERED: [usize; 2] = [16, 1 << 11];

/// How long a header may be for that.
const HEADER_WORDS: usize = 4;

/// A record header of at most 32 bytes, the rest zero. Its first byte is its length, so that no two
/// headers are the same words.
type Key = [u64; HEADER_WORDS];

/// Decoded record headers. The rows of a table have few different ones, so that most are found among
/// those remembered and need not be read byte by byte.
#[derive(Debug)]
struct Shapes<'a> {
    layout: &'a Layout,
    known: Vec<CachedHeader>,
    /// The selected columns of every cached header, and of one that is not cached.
    slots: Vec<Slot>,
    /// The stored columns of the header that is being read.
    stored: Vec<Slot>,
    /// The number of the next header that is remembered.
    next: u64,
}

/// The numbers that each decoder has for its headers: more than a table has rows.
const NUMBERS: u64 = 1 << 40;

/// The first number of the next decoder.
static NEXT: AtomicU64 = AtomicU64::new(NUMBERS);

struct Found {
    shape: usize,
    /// Where the last of its values ends.
    end: usize,
    /// The number of its header, where that is remembered.
    number: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default)]
struct CachedHeader {
    key: Key,
    end: usize,
    exhausted: bool,
    number: u64,
}

impl<'a> Shapes<'a> {
    fn new(layout: &'a Layout, leaves: usize) -> Self {
        let [least, most] = REMEMBERED;
        let remembered = (OF_LEAF * leaves).clamp(least, most).next_power_of_two();
        Self {
            layout,
            known: vec![CachedHeader::default(); remembered],
            slots: vec![Slot::default(); (remembered + 1) * layout.places.len()],
            stored: vec![Slot::default(); layout.stored.len()],
            next: NEXT.fetch_add(NUMBERS, Ordering::Relaxed),
        }
    }

    fn slots(&self, shape: usize) -> &[Slot] {
        let columns = self.layout.places.len();
        &self.slots[shape * columns..(shape + 1) * columns]
    }

    #[inline]
    fn of_record(&mut self, record: &[u8], payload: usize) -> Option<Found> {
        let Some(key) = key(record) else {
            let shape = self.known.len();
            let (end, exhausted) = self.read(record, shape)?;
            return fits(end, exhausted, payload).then_some(Found { shape, end, number: None });
        };
        let shape = place(&key) & (self.known.len() - 1);
        if self.known[shape].key != key {
            // A shape that cannot be read must not be taken for the one that it displaced.
            self.known[shape] = CachedHeader::default();
            let (end, exhausted) = self.read(record, shape)?;
            self.known[shape] = CachedHeader { key, end, exhausted, number: self.next };
            self.next += 1;
        }
        let CachedHeader { key: _, end, exhausted, number } = self.known[shape];
        fits(end, exhausted, payload).then_some(Found { shape, end, number: Some(number) })
    }

    /// Reads a record header into the slots of `shape`: where the last of the stored columns ends, and
    /// whether it is the record's last. A header that continues on an overflow page is left to the library.
    fn read(&mut self, record: &[u8], shape: usize) -> Option<(usize, bool)> {
        let mut at = 0;
        let header = usize::try_from(varint(record, &mut at)?).ok()?;
        if header > MAX_HEADER || header < at {
            return None;
        }
        let types = record.get(..header)?;
        let mut end = header;
        for (slot, column) in self.stored.iter_mut().zip(&self.layout.stored) {
            if at >= header {
                if column.has_default {
                    return None;
                }
                *slot = Slot::default();
                continue;
            }
            let serial = u32::try_from(varint(types, &mut at)?).ok()?;
            // 10 and 11 are reserved; an integer that wide may not be exact as a real.
            if matches!(serial, 6 | 10 | 11) && (serial != 6 || column.is_real) {
                return None;
            }
            end += width(serial);
            let unused = 64 - 8 * u32::from(WIDTH[serial as usize & 7]);
            *slot = Slot { serial, end: u32::try_from(end).ok()?, unused: unused % 64 };
        }
        let columns = self.layout.places.len();
        let slots = &mut self.slots[shape * columns..(shape + 1) * columns];
        for (slot, place) in slots.iter_mut().zip(&self.layout.places) {
            *slot = match place {
                Place::Stored(position) => self.stored[*position],
                Place::Rowid => Slot { serial: ROWID, ..Slot::default() },
                Place::Absent => Slot::default(),
            };
        }
        Some((end, at == header))
    }
}

/// True if values that end there are those of a record of that length.
#[inline]
fn fits(end: usize, exhausted: bool, payload: usize) -> bool {
    if exhausted { end == payload } else { end <= payload }
}

/// The header of a record as words; `None` where it is too long to be remembered.
#[inline]
fn key(record: &[u8]) -> Option<Key> {
    let length = usize::from(*record.first()?);
    if length == 0 || length > 8 * HEADER_WORDS {
        return None;
    }
    let bytes = record.first_chunk::<{ 8 * HEADER_WORDS }>()?;
    let mut key = Key::default();
    for (word, (chunk, mask)) in key.iter_mut().zip(bytes.as_chunks::<8>().0.iter().zip(&MASKS[length])) {
        *word = u64::from_le_bytes(*chunk) & mask;
    }
    Some(key)
}

/// The bits of the words of a [`Key`] that belong to a header, by its length.
const MASKS: [Key; 8 * HEADER_WORDS + 1] = {
    let mut masks = [[0; HEADER_WORDS]; 8 * HEADER_WORDS + 1];
    let mut length = 0;
    while length < masks.len() {
        let mut byte = 0;
        while byte < length {
            masks[length][byte / 8] |= 0xff << (byte % 8 * 8);
            byte += 1;
        }
        length += 1;
    }
    masks
};

/// Where a shape is remembered, of which the lower bits count.
#[inline]
fn place(key: &Key) -> usize {
    /// Both halves of a product: every bit of both numbers counts.
    fn mixed(one: u64, other: u64) -> u64 {
        let product = u128::from(one) * u128::from(other);
        product as u64 ^ (product >> 64) as u64
    }
    // Odd and without a pattern.
    const SALT: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];
    let [first, second, third, fourth] = *key;
    (mixed(first ^ SALT[0], second ^ SALT[1]) ^ mixed(third ^ SALT[1], fourth ^ SALT[0])) as usize
}

/// How much of a payload lies in its leaf (file format, "B-tree pages").
#[inline]
fn local_length(payload: usize, usable: usize) -> usize {
    if payload <= usable - 35 {
        return payload;
    }
    let least = (usable - 12) * 32 / 255 - 23;
    let wished = least + (payload - least) % (usable - 4);
    if wished <= usable - 35 { wished } else { least }
}

#[inline]
pub(super) fn width(serial: u32) -> usize {
    match WIDTH.get(serial as usize) {
        Some(width) => usize::from(*width),
        None => (serial as usize - 12) / 2,
    }
}
