//! The tables of a recording and what is published of them.

use std::io;

use crate::btree::{self, Entry, Keep, Pattern, SIZE, Store, Target, Tree};
use crate::write::{statement, views};

/// Pages that the metadata rows of one publication take at most, beside one for the open leaf.
const CLOSING_PAGES: usize = 3;

/// The least bytes that a file may be limited to.
pub(super) const LEAST: u64 = 256 << 10;

/// A table that rows are added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Strings,
    Metadata,
    Ops,
    Calls,
    Launches,
    Copies,
    Arguments,
}

/// All of them, in the order of [`Tables::trees`], and whether they exist without rows.
const TABLES: [(&str, bool); 7] = [
    ("rocpd_string", true),
    ("rocpd_metadata", true),
    ("rocpd_op", true),
    ("rocpd_api", false),
    ("rocpd_kernelapi", false),
    ("rocpd_copyapi", false),
    ("rocpd_arg", false),
];

/// Why a row was not added.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The file would become longer than it may be.
    Full,
    /// The file could not be written.
    Io(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Debug, Clone)]
struct Tables {
    trees: [Tree; TABLES.len()],
    catalog: Vec<u32>,
}

/// Tables that grow, in a file that holds what was last published.
#[derive(Debug)]
pub(super) struct Database<T> {
    store: Store<T>,
    tables: Tables,
    published: Tables,
    /// How many pages the file may have.
    limit: usize,
    stopped: bool,
}

impl<T: Target> Database<T> {
    /// A file of at most `limit` bytes, which must be at least [`LEAST`].
    pub(super) fn create(target: T, limit: u64) -> io::Result<Self> {
        let tables = Tables { trees: std::array::from_fn(|_| Tree::new()), catalog: Vec::new() };
        Ok(Self {
            store: Store::create(target)?,
            published: tables.clone(),
            tables,
            limit: usize::try_from(limit / SIZE as u64).unwrap_or(usize::MAX),
            stopped: false,
        })
    }

    /// Adds a row and returns its rowid.
    #[inline]
    pub(super) fn add(&mut self, table: Table, record: &[u8]) -> Result<i64, Refusal> {
        self.check_room(table, record.len())?;
        let added = self.tables.trees[table as usize].push(record, &mut self.store, Keep::Forever);
        added.map_err(|error| self.stop(error).into())
    }

    /// Adds a row with this rowid, which must be greater than those before.
    pub(super) fn add_at(&mut self, table: Table, row: i64, record: &[u8]) -> Result<(), Refusal> {
        self.check_room(table, record.len())?;
        let added = self.tables.trees[table as usize].push_at(row, record, &mut self.store, Keep::Forever);
        added.map_err(|error| self.stop(error).into())
    }

    /// Adds a row of a pattern that its numbers fit, and returns its rowid.
    #[inline]
    pub(super) fn add_like<const N: usize>(
        &mut self,
        table: Table,
        pattern: &Pattern<N>,
        numbers: &[i64; N],
    ) -> Result<i64, Refusal> {
        self.check_room(table, pattern.length())?;
        let tree = &mut self.tables.trees[table as usize];
        let added = tree.push_like(pattern, numbers, &mut self.store, Keep::Forever);
        added.map_err(|error| self.stop(error).into())
    }

    /// Whether a record of so many bytes may be added.
    #[inline]
    fn check_room(&self, table: Table, record: usize) -> Result<(), Refusal> {
        if self.stopped {
            return Err(Refusal::Io(io::Error::other("an earlier write failed")));
        }
        let tree = &self.tables.trees[table as usize];
        let needed = tree.pages_for(record);
        if (needed > 0 || tree.rows() == 0) && !self.has_room(table, needed) {
            return Err(Refusal::Full);
        }
        Ok(())
    }

    /// Whether as many more pages leave room for two publications, this one and the one before.
    #[cold]
    fn has_room(&self, table: Table, needed: usize) -> bool {
        let trees = TABLES.iter().zip(&self.tables.trees).enumerate();
        let there =
            trees.filter(|(at, ((_, always), tree))| *always || *at == table as usize || tree.rows() > 0);
        let open: usize = there.map(|(_, (_, tree))| tree.open_pages()).sum();
        let publication = open + CLOSING_PAGES + btree::PAGES + 1;
        let kept = self.store.kept() + needed;
        kept + 2 * publication + Store::<T>::at_rest(kept) <= self.limit
    }

    /// How many rows the file holds.
    pub(super) fn published_rows(&self, table: Table) -> i64 {
        self.published.trees[table as usize].rows()
    }

    /// Makes the file hold all rows, and `closing` as the last of its metadata until the next publication.
    pub(super) fn publish(&mut self, closing: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
        let written = self.write(closing);
        written.map_err(|error| self.stop(error))?;
        self.published = self.tables.clone();
        Ok(())
    }

    fn write(&mut self, closing: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
        self.store.check()?;
        let mut closing = Some(closing);
        let mut roots = Vec::with_capacity(TABLES.len());
        for (at, (name, always)) in TABLES.into_iter().enumerate() {
            let tree = &mut self.tables.trees[at];
            if !always && tree.rows() == 0 {
                continue;
            }
            match closing.take_if(|_| at == Table::Metadata as usize) {
                Some(rows) => tree.publish_with(rows, &mut self.store)?,
                None => tree.publish(&mut self.store)?,
            }
            roots.push((name, tree.root()));
        }
        let before = std::mem::take(&mut self.tables.catalog);
        let tables =
            roots.iter().map(|&(name, root)| Entry { kind: "table", name, root, sql: statement(name) });
        let views = views().map(|(name, sql)| Entry { kind: "view", name, root: 0, sql });
        self.tables.catalog = btree::publish(tables, views, before, &mut self.store)?;
        Ok(())
    }

    /// What was written to, if it is still there.
    pub(super) fn finish(mut self) -> io::Result<T> {
        self.store.check()?;
        Ok(self.store.into_target())
    }

    fn stop(&mut self, error: io::Error) -> io::Error {
        self.rollback();
        error
    }

    /// Goes back to what is published. No rows come after that, because some are missing.
    pub(super) fn rollback(&mut self) {
        self.store.rollback();
        self.tables = self.published.clone();
        self.stopped = true;
    }
}
