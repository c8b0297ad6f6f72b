//! A file of tables that grow at their ends.

use std::borrow::Cow;
use std::io;

use super::catalog::{self, Entry};
use super::encode::{Datum, Record};
use super::page::SIZE;
use super::pattern::Pattern;
use super::store::{Store, Target};
use super::tree::{Lifetime, Tree, put, take};

/// Pages that the closing rows of one publication take at most, beside one for the open leaf.
const CLOSING_PAGES: usize = 3;

/// A table of a [`Database`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableId(pub(crate) usize);

/// The reason why a row was not added.
#[derive(Debug)]
pub(crate) enum PushError {
    /// The file would exceed its size limit.
    Full,
    /// The file could not be written.
    Io(io::Error),
}

impl From<io::Error> for PushError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[derive(Debug)]
struct Table {
    name: Cow<'static, str>,
    sql: Cow<'static, str>,
    /// Whether the table exists without rows.
    is_always: bool,
    tree: Tree,
}

/// A SQLite file that holds what was last published. Before the first publication it is an empty database. Memory is that
/// of a few pages for each table.
#[derive(Debug)]
pub(crate) struct Database<T> {
    record: Record,
    tables: Tables<T>,
}

#[derive(Debug)]
struct Tables<T> {
    store: Store<T>,
    all: Vec<Table>,
    catalog: Vec<u32>,
    /// The trees and the catalog of the last publication.
    published: (Vec<Tree>, Vec<u32>),
    /// Pages that the file may have.
    limit: usize,
    /// Whether a row may be refused: there is a limit, or a write has failed.
    is_checked: bool,
    has_failed: bool,
}

impl<T: Target> Database<T> {
    /// An empty database of at most `limit` bytes.
    pub(crate) fn create(target: T, limit: Option<u64>) -> io::Result<Self> {
        Ok(Self::new(Store::create(target)?, Vec::new(), limit))
    }

    fn new(store: Store<T>, all: Vec<Table>, limit: Option<u64>) -> Self {
        let pages = limit.and_then(|limit| usize::try_from(limit / SIZE as u64).ok());
        let tables = Tables {
            store,
            all,
            catalog: Vec::new(),
            published: Default::default(),
            limit: pages.unwrap_or(usize::MAX),
            is_checked: pages.is_some(),
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
        let table = Table { name: name.into(), sql: sql.into(), is_always, tree: Tree::new() };
        self.tables.all.push(table);
        TableId(self.tables.all.len() - 1)
    }

    /// The tables by name, in the order of their ids.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&str, TableId)> {
        self.tables.all.iter().enumerate().map(|(at, table)| (table.name.as_ref(), TableId(at)))
    }

    /// Adds a row of integers behind the id and returns the id; ids count from 1.
    #[inline]
    pub(crate) fn push_integers<const N: usize>(
        &mut self,
        table: TableId,
        row: &[Option<i64>; N],
    ) -> Result<i64, PushError> {
        self.tables.push(table, self.record.integers(row))
    }

    /// Adds a row of any values behind the id and returns the id.
    #[inline]
    pub(crate) fn push_row(&mut self, table: TableId, row: &[Datum<'_>]) -> Result<i64, PushError> {
        self.tables.push(table, self.record.row(row))
    }

    /// Adds a row of a table without an id among its columns.
    pub(crate) fn push_cells(&mut self, table: TableId, row: &[Datum<'_>]) -> Result<i64, PushError> {
        self.tables.push(table, self.record.cells(row))
    }

    /// Adds a row with this id, which must be greater than those of all rows before.
    pub(crate) fn push_row_at(
        &mut self,
        table: TableId,
        id: i64,
        row: &[Datum<'_>],
    ) -> Result<(), PushError> {
        self.tables.push_at(table, id, self.record.row(row))
    }

    /// Adds a row of a pattern that its numbers fit, and returns its id.
    #[inline]
    pub(crate) fn push_pattern<const N: usize>(
        &mut self,
        table: TableId,
        pattern: &Pattern<N>,
        numbers: &[i64; N],
    ) -> Result<i64, PushError> {
        self.tables.push_pattern(table, pattern, numbers)
    }

    /// The id of the last row; 0 without rows.
    pub(crate) fn rows(&self, table: TableId) -> i64 {
        self.tables.all[table.0].tree.rows()
    }

    /// The id of the last published row.
    pub(crate) fn published_rows(&self, table: TableId) -> i64 {
        self.tables.published.0.get(table.0).map_or(0, Tree::rows)
    }

    /// Makes the file hold all rows, and `views` given as name and statement; at least one. `closing` are rows at the end
    /// of a table until the next publication.
    pub(crate) fn publish<'a>(
        &mut self,
        views: impl Iterator<Item = (&'a str, &'a str)>,
        closing: Option<(TableId, &[[Datum<'_>; 2]])>,
    ) -> io::Result<()> {
        let record = &mut self.record;
        let closing = closing.map(|(table, rows)| {
            (table, rows.iter().map(|row| record.row(row).to_vec()).collect::<Vec<_>>())
        });
        self.tables.publish(views, closing).map_err(|error| self.tables.fail(error))
    }

    /// Goes back to the last publication. No rows come after that, because some are missing.
    pub(crate) fn rollback(&mut self) {
        self.tables.rollback();
    }

    /// Returns what was written to, if it is still there.
    pub(crate) fn finish(mut self) -> io::Result<T> {
        self.tables.store.check()?;
        Ok(self.tables.store.into_target())
    }

    /// Writes all finished pages and adds to `state` what else [`Self::restored`] needs, of a database that was never
    /// published.
    pub(crate) fn save(&mut self, state: &mut Vec<u8>) -> io::Result<()> {
        put(state, i64::from(self.tables.store.flush_all()?));
        put(state, self.tables.all.len() as i64);
        for table in &mut self.tables.all {
            put(state, table.name.len() as i64);
            state.extend_from_slice(table.name.as_bytes());
            table.tree.save(state);
        }
        Ok(())
    }
}

impl Database<std::fs::File> {
    /// Goes on where [`Self::save`] was, in the same file; `statement` knows each table. `None` if `state` is something
    /// else or the file has lost pages.
    pub(crate) fn restored(
        file: std::fs::File,
        state: &mut &[u8],
        statement: impl Fn(&str) -> Option<(&'static str, &'static str)>,
    ) -> io::Result<Option<Self>> {
        let Some((next, tables)) = read(state, statement) else { return Ok(None) };
        let bytes = u64::from(next - 1) * SIZE as u64;
        if file.metadata()?.len() < bytes {
            return Ok(None);
        }
        file.set_len(bytes)?;
        Ok(Some(Self::new(Store::resume(file, next), tables, None)))
    }
}

impl<T: Target> Tables<T> {
    #[inline]
    fn push(&mut self, table: TableId, record: &[u8]) -> Result<i64, PushError> {
        self.check_room(table, record.len())?;
        let added = self.all[table.0].tree.push(record, &mut self.store, Lifetime::File);
        added.map_err(|error| self.fail(error).into())
    }

    fn push_at(&mut self, table: TableId, id: i64, record: &[u8]) -> Result<(), PushError> {
        self.check_room(table, record.len())?;
        let added = self.all[table.0].tree.push_at(id, record, &mut self.store, Lifetime::File);
        added.map_err(|error| self.fail(error).into())
    }

    #[inline]
    fn push_pattern<const N: usize>(
        &mut self,
        table: TableId,
        pattern: &Pattern<N>,
        numbers: &[i64; N],
    ) -> Result<i64, PushError> {
        self.check_room(table, pattern.length())?;
        let added = self.all[table.0].tree.push_pattern(pattern, numbers, &mut self.store, Lifetime::File);
        added.map_err(|error| self.fail(error).into())
    }

    /// Refuses a record of so many bytes if it has no room.
    #[inline]
    fn check_room(&self, table: TableId, record: usize) -> Result<(), PushError> {
        if !self.is_checked {
            return Ok(());
        }
        if self.has_failed {
            return Err(PushError::Io(io::Error::other("an earlier write failed")));
        }
        let tree = &self.all[table.0].tree;
        let needed = tree.pages_for(record);
        if (needed > 0 || tree.rows() == 0) && !self.has_room(table, needed) {
            return Err(PushError::Full);
        }
        Ok(())
    }

    /// Whether as many more pages leave room for two publications, this one and the one before.
    #[cold]
    fn has_room(&self, table: TableId, needed: usize) -> bool {
        let tables = self.all.iter().enumerate();
        let existing = tables.filter(|(at, found)| found.exists() || *at == table.0);
        let open: usize = existing.map(|(_, table)| table.tree.open_pages()).sum();
        let publication = open + CLOSING_PAGES + catalog::PAGES + 1;
        let kept = self.store.kept() + needed;
        kept + 2 * publication + Store::<T>::at_rest(kept) <= self.limit
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
        let tables = self.all.iter().filter(|table| table.exists()).map(|table| Entry {
            kind: "table",
            name: &table.name,
            root: table.tree.root(),
            sql: &table.sql,
        });
        let views = views.map(|(name, sql)| Entry { kind: "view", name, root: 0, sql });
        let before = std::mem::take(&mut self.catalog);
        self.catalog = catalog::publish(tables, views, before, &mut self.store)?;
        self.published = (self.all.iter().map(|table| table.tree.clone()).collect(), self.catalog.clone());
        Ok(())
    }

    #[cold]
    fn fail(&mut self, error: io::Error) -> io::Error {
        self.rollback();
        error
    }

    fn rollback(&mut self) {
        self.store.rollback();
        let (trees, catalog) = &self.published;
        let published = trees.iter().cloned().chain(std::iter::repeat_with(Tree::new));
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

fn read(
    state: &mut &[u8],
    statement: impl Fn(&str) -> Option<(&'static str, &'static str)>,
) -> Option<(u32, Vec<Table>)> {
    let next = u32::try_from(take(state)?).ok().filter(|&next| next > 1)?;
    let mut tables = Vec::new();
    for _ in 0..take(state)? {
        let length = usize::try_from(take(state)?).ok()?;
        let (name, rest) = state.split_at_checked(length)?;
        *state = rest;
        let (name, sql) = statement(std::str::from_utf8(name).ok()?)?;
        tables.push(Table {
            name: name.into(),
            sql: sql.into(),
            is_always: true,
            tree: Tree::restored(state)?,
        });
    }
    Some((next, tables))
}
