//! Rows of integers that are encoded apart from their table, before it has the rows in front of them.

use super::encode::Record;
use super::page::{self, Leaf};

/// The next rows of a table: finished leaves, and one that is open.
#[derive(Debug)]
pub(crate) struct Block {
    record: Record,
    /// The rowid of the newest row, at first of the one before the block.
    last: i64,
    pub(super) leaf: Leaf,
    /// The finished leaves, one behind the other.
    pub(super) pages: Vec<u8>,
    /// The greatest rowid of each.
    pub(super) lasts: Vec<i64>,
}

impl Block {
    /// An empty block, whose first row will be the one after `before`.
    pub(crate) fn after(before: i64) -> Self {
        Self { record: Record::new(), last: before, leaf: Leaf::new(), pages: Vec::new(), lasts: Vec::new() }
    }

    pub(crate) fn last(&self) -> i64 {
        self.last
    }

    /// An upper bound of its pages, beside inner nodes.
    pub(crate) fn pages(&self) -> usize {
        self.lasts.len() + 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.leaf.is_empty()
    }

    /// Adds a row of integers behind the id and returns the id.
    #[inline]
    pub(crate) fn push<const N: usize>(&mut self, row: &[Option<i64>; N]) -> i64 {
        self.push_at(self.last + 1, row);
        self.last
    }

    /// Adds a row with this id, which must be greater than those of all rows before.
    #[inline]
    pub(crate) fn push_at<const N: usize>(&mut self, id: i64, row: &[Option<i64>; N]) {
        let record = self.record.integers(row);
        if record.len() < 0x80 {
            if !self.leaf.fits(Leaf::HEAD + record.len()) {
                finish(&mut self.leaf, &mut self.pages);
                self.lasts.push(self.last);
            }
            self.leaf.push_short(id, record);
        } else {
            // No row of integers is too long for its leaf.
            let (head, width) = page::head(record.len(), id);
            if !self.leaf.fits(width + record.len()) {
                finish(&mut self.leaf, &mut self.pages);
                self.lasts.push(self.last);
            }
            self.leaf.push(&head[..width], record, &[]);
        }
        self.last = id;
    }
}

#[cold]
#[inline(never)]
fn finish(leaf: &mut Leaf, pages: &mut Vec<u8>) {
    pages.extend_from_slice(leaf.page());
    leaf.clear();
}
