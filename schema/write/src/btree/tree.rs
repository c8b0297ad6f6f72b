//! A table that only grows at its end.

use std::io;

use serde::{Deserialize, Serialize};

use super::block::Block;
use super::page::{self, Child, Leaf, MOST_CHILDREN, OVERFLOW, SIZE};
use super::pattern::{Pattern, ROOM};
use super::store::{ReadOrder, Store, Target};

/// A table: its finished pages lie in the file for good, its newest leaf and the inner nodes above it are here and
/// get a new place in the file each time they are published.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tree {
    leaf: Leaf,
    /// The rowid of the newest row; rows count from 1.
    last: i64,
    /// From the leaf up: the finished children of each inner node that is still open. None of them is empty, so that
    /// every node has at least two children.
    levels: Vec<Vec<Child>>,
    /// The pages of its last publication, the root at the end.
    published: Vec<u32>,
    changed: bool,
    #[serde(skip)]
    lifetime: Lifetime,
}

/// How long finished pages stay as they are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) enum Lifetime {
    /// As long as the file.
    #[default]
    File,
    /// Until the next publication.
    Publication,
}

impl Tree {
    pub(crate) fn new(lifetime: Lifetime) -> Self {
        let leaf = Leaf::new();
        Self { leaf, last: 0, levels: Vec::new(), published: Vec::new(), changed: true, lifetime }
    }

    /// The rowid of the newest row, 0 without rows.
    pub(crate) fn rows(&self) -> i64 {
        self.last
    }

    /// Where it starts in the file as last published.
    pub(crate) fn root(&self) -> u32 {
        self.published.last().copied().unwrap_or_default()
    }

    /// How many pages are at most written to publish it.
    pub(crate) fn open_pages(&self) -> usize {
        self.levels.len() + 2
    }

    /// How many pages at most a record would finish; most finish none.
    #[inline]
    pub(crate) fn pages_for(&self, record: usize) -> usize {
        if self.leaf.fits(record + 18) {
            return 0;
        }
        1 + self.levels.len() + record / OVERFLOW + usize::from(record > OVERFLOW)
    }

    /// Adds a row and returns its rowid.
    #[inline]
    pub(crate) fn push(&mut self, record: &[u8], store: &mut Store<impl Target>) -> io::Result<i64> {
        let row = self.last + 1;
        self.push_at(row, record, store)?;
        Ok(row)
    }

    /// Adds a row with this rowid, which must be greater than that of every row before.
    #[inline]
    pub(crate) fn push_at(
        &mut self,
        row: i64,
        record: &[u8],
        store: &mut Store<impl Target>,
    ) -> io::Result<()> {
        if row <= self.last {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "rows are not in the order of their ids",
            ));
        }
        if record.len() < 0x80 {
            if !self.leaf.fits(Leaf::HEAD + record.len()) {
                self.finish_leaf(store)?;
            }
            self.leaf.push_short(row, record);
        } else {
            self.push_long(row, record, store)?;
        }
        self.last = row;
        self.changed = true;
        Ok(())
    }

    /// Adds a row of a pattern that its numbers fit, and returns its rowid.
    #[inline]
    pub(crate) fn push_pattern<const N: usize>(
        &mut self,
        pattern: &Pattern<N>,
        numbers: &[i64; N],
        store: &mut Store<impl Target>,
    ) -> io::Result<i64> {
        let row = self.last + 1;
        if !self.leaf.push_pattern(row, pattern, numbers) {
            let mut place = [0; ROOM];
            pattern.write(numbers, &mut place);
            return self.push(&place[ROOM - pattern.length()..], store);
        }
        self.last = row;
        self.changed = true;
        Ok(row)
    }

    /// Adds the rows of a block, which come after all others. Few join the open leaf, others bring leaves of their own.
    pub(crate) fn append(&mut self, block: Block, store: &mut Store<impl Target>) -> io::Result<()> {
        if block.is_empty() {
            return Ok(());
        }
        let last = block.last();
        if !(block.pages.is_empty() && self.leaf.append(&block.leaf)) {
            if !self.leaf.is_empty() {
                self.finish_leaf(store)?;
            }
            let pages = store.append_all(block.pages)?;
            for (page, last) in pages.into_iter().zip(block.lasts) {
                self.finished(0, Child { page, last }, store)?;
            }
            self.leaf = block.leaf;
        }
        self.last = last;
        self.changed = true;
        Ok(())
    }

    /// Adds a row whose record may be longer than a page.
    fn push_long(&mut self, row: i64, record: &[u8], store: &mut Store<impl Target>) -> io::Result<()> {
        let (head, width) = page::head(record.len(), row);
        let head = &head[..width];
        let local = page::local_length(record.len());
        let (local, rest) = record.split_at(local);
        let tail = 4 * usize::from(!rest.is_empty());
        if !self.leaf.fits(head.len() + local.len() + tail) {
            self.finish_leaf(store)?;
        }
        if rest.is_empty() {
            self.leaf.push(head, local, &[]);
        } else {
            let first = self.overflow(rest, store)?;
            self.leaf.push(head, local, &first.to_be_bytes());
        }
        Ok(())
    }

    /// Begins a new leaf.
    // Within who adds a row it would be a page on the stack of each row.
    #[cold]
    #[inline(never)]
    pub(crate) fn finish_leaf(&mut self, store: &mut Store<impl Target>) -> io::Result<()> {
        let page = self.place(store)?;
        store.write(page, self.leaf.page())?;
        self.leaf.clear();
        let leaf = Child { page, last: self.last };
        self.finished(0, leaf, store)
    }

    /// Adds a finished child to the open node of a level.
    fn finished(&mut self, level: usize, child: Child, store: &mut Store<impl Target>) -> io::Result<()> {
        if level == self.levels.len() {
            self.levels.push(Vec::new());
        }
        let open = &mut self.levels[level];
        if open.len() <= MOST_CHILDREN {
            open.push(child);
            return Ok(());
        }
        let children = std::mem::replace(open, vec![child]);
        let Some((right, others)) = children.split_last() else { return Ok(()) };
        let page = self.place(store)?;
        let mut node = [0; SIZE];
        page::interior(&mut node, 0, others, right.page);
        store.write(page, &node)?;
        self.finished(level + 1, Child { page, last: right.last }, store)
    }

    /// Writes what does not fit onto a leaf as a chain of pages and returns the first.
    fn overflow(&mut self, rest: &[u8], store: &mut Store<impl Target>) -> io::Result<u32> {
        let parts: Vec<&[u8]> = rest.chunks(OVERFLOW).collect();
        let places = parts.iter().map(|_| self.place(store)).collect::<io::Result<Vec<u32>>>()?;
        let mut page = [0; SIZE];
        for (at, part) in parts.iter().enumerate() {
            let next = places.get(at + 1).copied().unwrap_or_default();
            page[..4].copy_from_slice(&next.to_be_bytes());
            page[4..4 + part.len()].copy_from_slice(part);
            page[4 + part.len()..].fill(0);
            store.write(places[at], &page)?;
        }
        Ok(places.first().copied().unwrap_or_default())
    }

    fn place(&mut self, store: &mut Store<impl Target>) -> io::Result<u32> {
        match self.lifetime {
            Lifetime::File => store.append(),
            Lifetime::Publication => self.place_open(store),
        }
    }

    /// The place of a page until the next publication.
    fn place_open(&mut self, store: &mut Store<impl Target>) -> io::Result<u32> {
        let page = store.borrow()?;
        self.published.push(page);
        Ok(page)
    }

    /// Writes the pages that are still open to new places, if there is anything new in them.
    pub(crate) fn publish(&mut self, store: &mut Store<impl Target>) -> io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        self.withdraw(store, ReadOrder::Last);
        self.write_open(store)
    }

    /// As [`Self::publish`], with rows at the end that are gone with the next publication. For a short table.
    pub(crate) fn publish_with(
        &mut self,
        records: impl Iterator<Item = Vec<u8>>,
        store: &mut Store<impl Target>,
    ) -> io::Result<()> {
        self.withdraw(store, ReadOrder::First);
        let mut whole = Self { lifetime: Lifetime::Publication, ..self.clone() };
        for record in records {
            whole.push(&record, store)?;
        }
        whole.write_open(store)?;
        self.published = whole.published;
        self.changed = false;
        Ok(())
    }

    /// Gives up the pages of the last publication.
    fn withdraw(&mut self, store: &mut Store<impl Target>, used: ReadOrder) {
        for page in self.published.drain(..) {
            store.give_back(page, used);
        }
    }

    fn write_open(&mut self, store: &mut Store<impl Target>) -> io::Result<()> {
        let mut root = self.place_open(store)?;
        store.write(root, self.leaf.page())?;
        let mut node = [0; SIZE];
        for level in 0..self.levels.len() {
            page::interior(&mut node, 0, &self.levels[level], root);
            root = self.place_open(store)?;
            store.write(root, &node)?;
        }
        self.changed = false;
        Ok(())
    }

    /// Hands out the children of a root that lies on the first page of the file, after everything below is written:
    /// the finished ones and the last.
    pub(crate) fn publish_below_root(
        &mut self,
        store: &mut Store<impl Target>,
    ) -> io::Result<(&[Child], u32)> {
        let right = self.place_open(store)?;
        store.write(right, self.leaf.page())?;
        Ok((self.levels.first().map_or(&[], Vec::as_slice), right))
    }

    /// The pages that a tree which is built anew each time has taken.
    pub(crate) fn into_pages(self) -> Vec<u32> {
        self.published
    }
}
