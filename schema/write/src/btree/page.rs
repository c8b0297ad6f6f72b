//! The two kinds of pages of a table's tree (file format, "B-tree Pages").

use serde::{Deserialize, Serialize};

use super::encode::short_varint;
pub(crate) use super::encode::varint;
use super::pattern::{Pattern, ROOM};

/// Bytes of a page. Larger ones would save 0.7 %, but a kernel hands a page of this size to the file as a whole.
pub(crate) const SIZE: usize = 4096;
pub(crate) type Page = [u8; SIZE];

/// The bytes of a record on its leaf, at most; the rest of a longer one is on overflow pages.
const MOST_LOCAL: usize = SIZE - 35;
const LEAST_LOCAL: usize = (SIZE - 12) * 32 / 255 - 23;
/// The payload of an overflow page, after the number of the next one.
pub(crate) const OVERFLOW: usize = SIZE - 4;

/// A page of rows.
pub(crate) const LEAF: u8 = 0x0d;
/// A page of an inner node.
const INTERIOR: u8 = 0x05;
/// Beyond its header, each cell of an inner node has 2 bytes of pointer, 4 of page and a rowid, at most 6 of them up to
/// 2^42 rows, and more do not fit into a file.
pub(crate) const MOST_CHILDREN: usize = (SIZE - 100 - 12) / 12;

/// A page of rows, the last of its table, that is filled from both ends.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "Vec<u8>", try_from = "Vec<u8>")]
pub(crate) struct Leaf {
    page: Box<Page>,
    cells: usize,
    /// Where the newest cell starts.
    content: usize,
}

impl Leaf {
    const HEADER: usize = 8;

    pub(crate) fn new() -> Self {
        let mut page = Box::new([0; SIZE]);
        page[0] = LEAF;
        Self { page, cells: 0, content: SIZE }
    }

    pub(crate) fn clear(&mut self) {
        self.cells = 0;
        self.content = SIZE;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// Completes the header and the free space, and returns the page as it is stored.
    pub(crate) fn page(&mut self) -> &Page {
        self.page[Self::HEADER + 2 * self.cells..self.content].fill(0);
        self.page[3..5].copy_from_slice(&(self.cells as u16).to_be_bytes());
        self.page[5..7].copy_from_slice(&(self.content as u16).to_be_bytes());
        &self.page
    }

    /// The most that stands before a record of less than 128 bytes: its length and its rowid.
    pub(super) const HEAD: usize = 10;

    /// True if a record with that many bytes on this page still fits.
    #[inline]
    pub(crate) fn fits(&self, cell: usize) -> bool {
        Self::HEADER + 2 * self.cells + 2 + cell <= self.content
    }

    /// Adds a cell of these parts, which must fit.
    #[inline]
    pub(crate) fn push(&mut self, head: &[u8], local: &[u8], tail: &[u8]) {
        self.content -= head.len() + local.len() + tail.len();
        let mut at = self.content;
        for part in [head, local, tail] {
            self.page[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        self.point();
    }

    /// Adds a row whose record is shorter than 128 bytes, as most are, and which must fit: its head is written as one
    /// word, over whose end the record comes.
    #[inline]
    pub(crate) fn push_short(&mut self, row: i64, record: &[u8]) {
        let (bytes, width) = varint(row as u64);
        let head = 1 + width;
        let (Some(&word), 7..0x80, ..=8) = (bytes.first_chunk::<8>(), record.len(), head) else {
            let (head, width) = self::head(record.len(), row);
            return self.push(&head[..width], record, &[]);
        };
        self.content -= head + record.len();
        let at = self.content;
        let word = (record.len() as u64) << 56 | u64::from_be_bytes(word) >> 8;
        self.page[at..at + 8].copy_from_slice(&word.to_be_bytes());
        self.page[at + head..at + head + record.len()].copy_from_slice(record);
        self.point();
    }

    /// Adds a row of a pattern that its numbers fit. False, and nothing has happened, where the page is nearly full.
    #[inline]
    pub(crate) fn push_pattern<const N: usize>(
        &mut self,
        row: i64,
        pattern: &Pattern<N>,
        numbers: &[i64; N],
    ) -> bool {
        const WORD: usize = 8;
        // Never where the same row written as a record would begin a page.
        if !self.fits(Self::HEAD + ROOM) || row as u64 >= 1 << 49 {
            return false;
        }
        let record = self.content - pattern.length();
        // From the end to the front, each over what the one before has left there.
        if let Some(place) = self.page[..self.content].last_chunk_mut() {
            pattern.write(numbers, place);
        }
        let (row, width) = short_varint(row as u64);
        if let Some(place) = self.page[..record].last_chunk_mut::<WORD>() {
            *place = ((pattern.length() as u64) << (8 * width) | row).to_be_bytes();
        }
        self.content = record - width - 1;
        self.point();
        true
    }

    /// Adds the cells of another leaf, if all of them fit.
    pub(crate) fn append(&mut self, other: &Self) -> bool {
        let (length, cells) = (SIZE - other.content, self.cells + other.cells);
        if Self::HEADER + 2 * cells + length > self.content {
            return false;
        }
        let shift = SIZE - self.content;
        self.content -= length;
        self.page[self.content..self.content + length].copy_from_slice(&other.page[other.content..]);
        for at in 0..other.cells {
            let from = Self::HEADER + 2 * at;
            let cell = u16::from_be_bytes([other.page[from], other.page[from + 1]]) - shift as u16;
            let to = Self::HEADER + 2 * (self.cells + at);
            self.page[to..to + 2].copy_from_slice(&cell.to_be_bytes());
        }
        self.cells = cells;
        true
    }

    /// Adds the pointer to the newest cell.
    #[inline]
    fn point(&mut self) {
        let pointer = Self::HEADER + 2 * self.cells;
        self.page[pointer..pointer + 2].copy_from_slice(&(self.content as u16).to_be_bytes());
        self.cells += 1;
    }
}

impl From<Leaf> for Vec<u8> {
    fn from(mut leaf: Leaf) -> Self {
        leaf.page().to_vec()
    }
}

impl TryFrom<Vec<u8>> for Leaf {
    type Error = &'static str;

    fn try_from(page: Vec<u8>) -> Result<Self, Self::Error> {
        let page: Box<Page> = page.try_into().map_err(|_| "not a page")?;
        let number = |at: usize| usize::from(u16::from_be_bytes([page[at], page[at + 1]]));
        Ok(Self { cells: number(3), content: number(5), page })
    }
}

/// The bytes before a record on its leaf (its length and its rowid), and their number.
#[inline]
pub(crate) fn head(record: usize, row: i64) -> ([u8; 18], usize) {
    let mut head = [0; 18];
    let ((record, length), (row, width)) = (varint(record as u64), varint(row as u64));
    head[..9].copy_from_slice(&record);
    head[length..length + 9].copy_from_slice(&row);
    (head, length + width)
}

/// How many bytes of a record lie on its leaf.
#[inline]
pub(crate) fn local_length(record: usize) -> usize {
    if record <= MOST_LOCAL {
        return record;
    }
    let wished = LEAST_LOCAL + (record - LEAST_LOCAL) % OVERFLOW;
    if wished <= MOST_LOCAL { wished } else { LEAST_LOCAL }
}

/// A finished part of a tree: its root and the greatest rowid in it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Child {
    pub(crate) page: u32,
    pub(crate) last: i64,
}

/// Makes an inner node of `children` followed by the one that starts at `right`. Its header stands at `start`: the
/// first page of a file has something else before.
pub(crate) fn interior(page: &mut Page, start: usize, children: &[Child], right: u32) {
    page[start..].fill(0);
    let mut content = SIZE;
    for (at, child) in children.iter().enumerate() {
        let (key, length) = varint(child.last as u64);
        content -= 4 + length;
        page[content..content + 4].copy_from_slice(&child.page.to_be_bytes());
        page[content + 4..content + 4 + length].copy_from_slice(&key[..length]);
        let pointer = start + 12 + 2 * at;
        page[pointer..pointer + 2].copy_from_slice(&(content as u16).to_be_bytes());
    }
    page[start] = INTERIOR;
    page[start + 3..start + 5].copy_from_slice(&(children.len() as u16).to_be_bytes());
    page[start + 5..start + 7].copy_from_slice(&(content as u16).to_be_bytes());
    page[start + 8..start + 12].copy_from_slice(&right.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::super::encode::Record;
    use super::super::pattern::ROOM;
    use super::*;

    #[test]
    fn a_row_of_a_pattern_goes_to_the_page_that_it_would_go_to_as_a_record() {
        let wide = Some(i64::MAX);
        // A header of 10 bytes and 54 of numbers.
        let row = [wide, wide, wide, wide, wide, wide, Some(1 << 30), Some(1_000)];
        let mut record = Record::new();
        let record = record.integers(&row);
        let pattern: Pattern<1> = Pattern::of(record, [7]).unwrap();
        assert_eq!(record.len(), ROOM);
        for filled in 0..SIZE - Leaf::HEADER {
            let mut leaf = Leaf::new();
            leaf.content -= filled;
            let would_fit = leaf.fits(Leaf::HEAD + record.len());
            assert!(!leaf.push_pattern(7, &pattern, &[999]) || would_fit, "behind {filled} bytes");
        }
    }
}
