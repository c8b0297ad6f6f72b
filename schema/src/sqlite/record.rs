use rusqlite::types::ValueRef;

use super::layout::{Layout, Place};
use super::pages::{Leaf, Pages};

/// SQLite's own limits: longer values and record headers do not exist.
const MAX_PAYLOAD: u64 = 1_000_000_000;
const MAX_HEADER: usize = 98_307;
/// Bytes before a record, so that a number of any width can be loaded as eight bytes that end with it.
/// In a page that room is there already: its header and one cell pointer precede every cell.
const MARGIN: usize = 8;

/// Stored bytes per serial type of one byte.
const WIDTH: [u8; 128] = {
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

/// A stored value: its serial type and where it starts in the record.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Slot {
    serial: u32,
    start: u32,
}

/// The stored columns of one row, not decoded yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) id: i64,
    bytes: &'a [u8],
    start: usize,
    slots: &'a [Slot],
    places: &'a [Place],
}

impl<'a> Record<'a> {
    /// Column `at` if it is an integer: the common case, short enough to be inlined everywhere.
    #[inline]
    pub(super) fn integer(&self, at: usize) -> Option<i64> {
        match self.places.get(at)? {
            Place::Stored(position) => {
                let slot = self.slots.get(*position)?;
                match slot.serial {
                    1..=6 => Some(self.number(*slot)),
                    8 => Some(0),
                    9 => Some(1),
                    _ => None,
                }
            }
            Place::Rowid => Some(self.id),
            Place::Absent => None,
        }
    }

    /// Column `at`. A whole number in a REAL column is stored, and comes, as an integer.
    pub(super) fn value(&self, at: usize) -> ValueRef<'a> {
        if let Some(value) = self.integer(at) {
            return ValueRef::Integer(value);
        }
        let Some(Place::Stored(position)) = self.places.get(at) else { return ValueRef::Null };
        let Some(slot) = self.slots.get(*position) else { return ValueRef::Null };
        match slot.serial {
            7 => match f64::from_bits(self.number(*slot) as u64) {
                value if value.is_nan() => ValueRef::Null,
                value => ValueRef::Real(value),
            },
            serial @ 12.. => {
                let start = self.start + slot.start as usize;
                let bytes = self.bytes.get(start..start + width(serial)).unwrap_or_default();
                if serial % 2 == 0 { ValueRef::Blob(bytes) } else { ValueRef::Text(bytes) }
            }
            _ => ValueRef::Null,
        }
    }

    #[inline]
    fn number(&self, slot: Slot) -> i64 {
        let width = WIDTH[slot.serial as usize & 7];
        let end = self.start + slot.start as usize + usize::from(width);
        let bytes = self.bytes[..end].last_chunk::<8>().copied().unwrap_or_default();
        let unused = 64 - 8 * u32::from(width);
        (i64::from_be_bytes(bytes) << unused) >> unused
    }
}

/// Decodes cells; keeps what can be reused from row to row.
#[derive(Debug)]
pub(super) struct Decoder<'a> {
    pages: Pages<'a>,
    layout: &'a Layout,
    slots: Vec<Slot>,
    assembled: Vec<u8>,
}

impl<'a> Decoder<'a> {
    pub(super) fn new(pages: Pages<'a>, layout: &'a Layout) -> Self {
        let slots = vec![Slot::default(); layout.stored.len()];
        Self { pages, layout, slots, assembled: Vec::new() }
    }

    /// Calls `each` with the record of every cell, each of them checked before. `None` where SQLite
    /// might see anything else than we do.
    #[inline]
    pub(super) fn records(&mut self, leaf: Leaf<'_>, mut each: impl FnMut(Record<'_>)) -> Option<()> {
        let Leaf { page, pointers } = leaf;
        let first = MARGIN + pointers.len();
        for pointer in pointers.as_chunks::<2>().0 {
            let mut at = usize::from(u16::from_be_bytes(*pointer));
            if at < first {
                return None;
            }
            let payload = varint(page, &mut at)?;
            let id = varint(page, &mut at)? as i64;
            if payload > MAX_PAYLOAD {
                return None;
            }
            let payload = payload as usize;
            let local = local_length(payload, page.len());
            let record = page.get(at..at + local)?;
            let (bytes, start): (&[u8], usize) = match shape(record, payload, &mut self.slots, self.layout)? {
                end if end <= local => (page, at),
                _ if local == payload => return None,
                end => {
                    self.assemble(record, page.get(at + local..at + local + 4)?, end)?;
                    (&self.assembled, MARGIN)
                }
            };
            each(Record { id, bytes, start, slots: &self.slots, places: &self.layout.places });
        }
        Some(())
    }

    /// Joins a record's local part and its overflow pages, as far as `end`.
    #[cold]
    fn assemble(&mut self, local: &[u8], pointer: &[u8], end: usize) -> Option<()> {
        let chain = u32::from_be_bytes(pointer.try_into().ok()?);
        self.assembled.clear();
        self.assembled.resize(MARGIN, 0);
        self.assembled.extend_from_slice(local);
        self.pages.read_overflow(chain, &mut self.assembled, MARGIN + end)
    }
}

/// Reads the record header: fills `slots` and returns where the last of their values ends. A header
/// that continues on an overflow page is left to the library.
#[inline]
fn shape(record: &[u8], payload: usize, slots: &mut [Slot], layout: &Layout) -> Option<usize> {
    if slots.is_empty() {
        return Some(0);
    }
    let mut at = 0;
    let header = usize::try_from(varint(record, &mut at)?).ok()?;
    if header > MAX_HEADER || header < at {
        return None;
    }
    let types = record.get(..header)?;
    let mut end = header;
    for (position, slot) in slots.iter_mut().enumerate() {
        if at >= header {
            if layout.stored[position].has_default {
                return None;
            }
            *slot = Slot::default();
            continue;
        }
        let serial = match types[at] {
            short @ ..0x80 => {
                at += 1;
                u32::from(short)
            }
            _ => u32::try_from(varint(types, &mut at)?).ok()?,
        };
        // 10 and 11 are reserved; an integer that wide may not be exact as a real.
        if matches!(serial, 6 | 10 | 11) && (serial != 6 || layout.stored[position].is_real) {
            return None;
        }
        *slot = Slot { serial, start: end as u32 };
        end += width(serial);
    }
    let exhausted = at == header;
    (if exhausted { end == payload } else { end <= payload }).then_some(end)
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
fn width(serial: u32) -> usize {
    match WIDTH.get(serial as usize) {
        Some(width) => usize::from(*width),
        None => (serial as usize - 12) / 2,
    }
}

#[inline(always)]
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let first = *bytes.get(*at)?;
    *at += 1;
    if first < 0x80 {
        return Some(u64::from(first));
    }
    let mut value = u64::from(first & 0x7f);
    for _ in 0..7 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value << 7 | u64::from(byte & 0x7f);
        if byte < 0x80 {
            return Some(value);
        }
    }
    let last = *bytes.get(*at)?;
    *at += 1;
    Some(value << 8 | u64::from(last))
}
