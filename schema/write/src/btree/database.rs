//! A file of tables that grow at their ends.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use serde::{Deserialize, Serialize};

use super::block::Block;
use super::catalog;
use super::encode::{Datum, Record};
use super::page::SIZE;
use super::pattern::Pattern;
use super::store::{Store, Target};
use super::tree::{Lifetime, Tree};
use crate::output::OutputFile;
use rtl_schema::{Error, Result};

/// Pages that the closing rows of one publication take at most, beside one for the open leaf.
const CLOSING_PAGES: usize = 4;

/// The closing pages where there is hardly any room: counts take less than a page, and rows in flight another.
const FEW_CLOSING_PAGES: usize = 2;

/// Pages of a file to which no row is refused. If even these have no room, the write fails.
const FIRST: usize = 4;

/// A table of a [`Database`]: its place among all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableId(pub(crate) usize);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Table {
    name: Cow<'static, str>,
    sql: Cow<'static, str>,
    /// True if the table exists without rows too.
    is_always: bool,
    tree: Tree,
}

/// A SQLite file that holds what was last published. Before the first publication it is an empty database. Memory is that
/// of a few pages for each table.
///
/// Rows are refused with [`Error::Full`] where they would exceed the size limit, with [`Error::NoRoom`] where there is no room for
/// them, and with [`Error::Io`] where the file cannot be written, from then on.
#[derive(Debug)]
pub(crate) struct Database<T> {
    record: Record,
    tables: Tables<T>,
}

#[derive(Debug)]
struct Tables<T> {
    output: OutputFile,
    store: Store<T>,
    all: Vec<Table>,
    catalog: Vec<u32>,
    /// The trees and the catalog of the last publication.
    published: (Vec<Tree>, Vec<u32>),
    /// The most bytes that the file may have.
    limit: Option<u64>,
    /// True if a row may be refused: there is a limit, room is reserved ahead, or a write has failed.
    is_checked: bool,
    has_failed: bool,
}

/// The state that [`Database::restored`] needs.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedDatabase {
    /// The page after the last finished one.
    next: u32,
    tables: Vec<Table>,
}

impl<T: Target> Database<T> {
    /// An empty database of at most `limit` bytes.
    pub(crate) fn create(output: OutputFile, target: T, limit: Option<u64>) -> Result<Self> {
        let store = Store::create(target).map_err(|source| output.io(source))?;
        Ok(Self::new(output, store, Vec::new(), limit))
    }

    fn new(output: OutputFile, store: Store<T>, all: Vec<Table>, limit: Option<u64>) -> Self {
        let tables = Tables {
            output,
            store,
            all,
            catalog: Vec::new(),
            published: Default::default(),
            limit,
            is_checked: limit.is_some() || T::RESERVES,
            has_failed: false,
        };
        Self { record: Record::new(), tables }
    }

    /// Adds a table, which `sql` creates. One that is not `is_always` exists only if it has rows.
    pub(crate) fn table(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        sql: impl Into<Cow<'static, str>>,
        is_always: bool,
    ) -> TableId {
        let tree = Tree::new(Lifetime::File);
        self.tables.all.push(Table { name: name.into(), sql: sql.into(), is_always, tree });
        TableId(self.tables.all.len() - 1)
    }

    /// Adds a row of integers behind the id and returns the id; ids count from 1.
    #[inline]
    pub(crate) fn push_integers<const N: usize>(
        &mut self,
        table: TableId,
        row: &[Option<i64>; N],
    ) -> Result<i64> {
        self.tables.push(table, self.record.integers(row))
    }

    /// Adds a row of any values behind the id and returns the id.
    #[inline]
    pub(crate) fn push_row(&mut self, table: TableId, row: &[Datum<'_>]) -> Result<i64> {
        self.tables.push(table, self.record.row(row))
    }

    /// Adds a row of a table without an id among its columns.
    pub(crate) fn push_cells(&mut self, table: TableId, row: &[Datum<'_>]) -> Result<i64> {
        self.tables.push(table, self.record.cells(row))
    }

    /// Adds a row with this id, which must be greater than those of all rows before.
    pub(crate) fn push_row_at(&mut self, table: TableId, id: i64, row: &[Datum<'_>]) -> Result<()> {
        let record = self.record.row(row);
        self.tables.add(table, record.len(), |tree, store| tree.push_at(id, record, store))
    }

    /// Adds a row of a pattern that its numbers fit, and returns its id.
    #[inline]
    pub(crate) fn push_pattern<const N: usize>(
        &mut self,
        table: TableId,
        pattern: &Pattern<N>,
        numbers: &[i64; N],
    ) -> Result<i64> {
        self.tables.add(table, pattern.length(), |tree, store| tree.push_pattern(pattern, numbers, store))
    }

    /// Adds the rows of a block, whose ids come after that of the last row.
    pub(crate) fn append(&mut self, table: TableId, block: Block) -> Result<()> {
        if self.tables.is_checked {
            let inner = 1 + self.tables.all[table.0].tree.open_pages();
            self.tables.find_room(table, block.pages() + inner)?;
        }
        let (tree, store) = (&mut self.tables.all[table.0].tree, &mut self.tables.store);
        tree.append(block, store).map_err(|error| self.tables.fail(error))
    }

    /// The id of the last row; 0 without rows.
    pub(crate) fn rows(&self, table: TableId) -> i64 {
        self.tables.all[table.0].tree.rows()
    }

    /// Makes the file hold all rows, and `views` given as name and statement; at least one. `closing` are rows at the end
    /// of a table until the next publication.
    pub(crate) fn publish<'a>(
        &mut self,
        views: impl Iterator<Item = (&'a str, &'a str)>,
        closing: Option<(TableId, &[[Datum<'_>; 2]])>,
    ) -> Result<()> {
        let record = &mut self.record;
        let closing = closing.map(|(table, rows)| {
            (table, rows.iter().map(|row| record.row(row).to_vec()).collect::<Vec<_>>())
        });
        self.tables.publish(views, closing).map_err(|error| self.tables.fail(error))
    }

    /// Goes back to the last publication. No rows may follow, because some are missing.
    pub(crate) fn rollback(&mut self) {
        self.tables.rollback();
    }

    /// Returns the target, unless someone else has removed the file.
    pub(crate) fn finish(mut self) -> Result<T> {
        self.tables.store.check().map_err(|source| self.tables.output.io(source))?;
        Ok(self.tables.store.into_target())
    }

    /// Closes the file, which gets its name later.
    pub(crate) fn close(self) -> OutputFile {
        self.tables.output
    }

    pub(crate) fn output(&self) -> &OutputFile {
        &self.tables.output
    }

    /// Writes all finished pages of a database that was never published.
    pub(crate) fn save(&mut self) -> io::Result<SavedDatabase> {
        Ok(SavedDatabase { next: self.tables.store.flush_all()?, tables: self.tables.all.clone() })
    }
}

impl Database<File> {
    /// Goes on where [`Self::save`] was, in the same file. `None` if the file has lost pages.
    pub(crate) fn restored(output: OutputFile, file: File, saved: SavedDatabase) -> Result<Option<Self>> {
        let bytes = u64::from(saved.next.saturating_sub(1)) * SIZE as u64;
        let cut = || -> io::Result<bool> {
            let is_whole = file.metadata()?.len() >= bytes;
            if is_whole {
                file.set_len(bytes)?;
            }
            Ok(is_whole)
        };
        let is_whole = cut().map_err(|source| output.io(source))?;
        Ok(is_whole.then(|| Self::new(output, Store::resume(file, saved.next), saved.tables, None)))
    }
}

impl<T: Target> Tables<T> {
    #[inline]
    fn push(&mut self, table: TableId, record: &[u8]) -> Result<i64> {
        self.add(table, record.len(), |tree, store| tree.push(record, store))
    }

    /// Adds a record of `record` bytes to a table.
    #[inline]
    fn add<R>(
        &mut self,
        table: TableId,
        record: usize,
        push: impl FnOnce(&mut Tree, &mut Store<T>) -> io::Result<R>,
    ) -> Result<R> {
        if self.is_checked {
            self.check_room(table, record)?;
        }
        push(&mut self.all[table.0].tree, &mut self.store).map_err(|error| self.fail(error))
    }

    /// Refuses a record of `record` bytes where the file has no room for it.
    #[inline]
    fn check_room(&mut self, table: TableId, record: usize) -> Result<()> {
        let tree = &self.all[table.0].tree;
        let needed = tree.pages_for(record);
        if self.has_failed || needed > 0 || tree.rows() == 0 { self.find_room(table, needed) } else { Ok(()) }
    }

    /// Refuses a row where as many more pages leave no room for two publications, this one and the one before.
    #[cold]
    fn find_room(&mut self, table: TableId, needed: usize) -> Result<()> {
        if self.has_failed {
            return Err(self.output.io(io::Error::other("an earlier write failed")));
        }
        let tables = self.all.iter().enumerate();
        let existing = tables.filter(|(at, found)| found.exists() || *at == table.0);
        let (count, open) =
            existing.fold((0, 0), |(count, open), (_, table)| (count + 1, open + table.tree.open_pages()));
        let kept = self.store.kept() + needed;
        let pages = |open: usize, closing: usize| kept + 2 * (open + closing + catalog::PAGES + 1);
        let usual = pages(open, CLOSING_PAGES) + Store::<T>::at_rest(kept);
        let most = self.limit.map_or(usize::MAX / SIZE, |limit| limit as usize / SIZE);
        if usual > most {
            return Err(self.output.full(self.limit.unwrap_or_default()));
        }
        if self.store.reserve(usual, most).is_err() {
            // No tree gets another level for a row that does not finish its leaf, and `needed` has those of the others.
            let least = pages(open - count, FEW_CLOSING_PAGES);
            match self.store.reserve(least, most) {
                Err(error) if kept > FIRST => return Err(self.output.no_room(error)),
                _ => self.store.use_all(),
            }
        }
        Ok(())
    }

    fn publish<'a>(
        &mut self,
        views: impl Iterator<Item = (&'a str, &'a str)>,
        mut closing: Option<(TableId, Vec<Vec<u8>>)>,
    ) -> io::Result<()> {
        self.store.check()?;
        for (at, table) in self.all.iter_mut().enumerate().filter(|(_, table)| table.exists()) {
            match closing.take_if(|(closed, _)| closed.0 == at) {
                Some((_, rows)) => table.tree.publish_with(rows.into_iter(), &mut self.store)?,
                None => table.tree.publish(&mut self.store)?,
            }
        }
        let tables = self.all.iter().filter(|table| table.exists());
        let tables = tables.map(|table| (&*table.name, &*table.sql, table.tree.root()));
        let before = std::mem::take(&mut self.catalog);
        self.catalog = catalog::publish(tables, views, before, &mut self.store)?;
        self.published = (self.all.iter().map(|table| table.tree.clone()).collect(), self.catalog.clone());
        Ok(())
    }

    #[cold]
    fn fail(&mut self, error: io::Error) -> Error {
        self.rollback();
        self.output.io(error)
    }

    fn rollback(&mut self) {
        self.store.rollback();
        let (trees, catalog) = &self.published;
        let published = trees.iter().cloned().chain(std::iter::repeat_with(|| Tree::new(Lifetime::File)));
        self.all.iter_mut().zip(published).for_each(|(table, tree)| table.tree = tree);
        self.catalog.clone_from(catalog);
        (self.is_checked, self.has_failed) = (true, true);
    }
}

impl Table {
    fn exists(&self) -> bool {
        self.is_always || self.tree.rows() > 0
    }
}
