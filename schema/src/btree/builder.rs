//! A file of tables that is complete when it is finished.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use super::catalog::{self, Entry};
use super::encode::{Datum, Record};
use super::page::SIZE;
use super::store::Store;
use super::tree::{Keep, Tree, put, take};

/// A table of a [`Builder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableId(usize);

#[derive(Debug)]
struct Table {
    name: Cow<'static, str>,
    sql: Cow<'static, str>,
    tree: Tree,
}

/// A SQLite file in the making. Until [`Self::finish`] it is no database: nobody may see it before. Memory is that of a
/// few pages for each table.
#[derive(Debug)]
pub(crate) struct Builder {
    store: Store<File>,
    tables: Vec<Table>,
    record: Record,
}

impl Builder {
    /// Starts in an empty file.
    pub(crate) fn create(file: File) -> io::Result<Self> {
        Ok(Self { store: Store::create(file)?, tables: Vec::new(), record: Record::new() })
    }

    /// Adds a table without rows, which `sql` creates.
    pub(crate) fn table(
        &mut self,
        name: impl Into<Cow<'static, str>>,
        sql: impl Into<Cow<'static, str>>,
    ) -> TableId {
        self.tables.push(Table { name: name.into(), sql: sql.into(), tree: Tree::new() });
        TableId(self.tables.len() - 1)
    }

    /// Writes all finished pages and adds to `state` what else [`Self::restored`] needs.
    pub(crate) fn save(&mut self, state: &mut Vec<u8>) -> io::Result<()> {
        put(state, i64::from(self.store.settle()?));
        put(state, self.tables.len() as i64);
        for table in &mut self.tables {
            put(state, table.name.len() as i64);
            state.extend_from_slice(table.name.as_bytes());
            table.tree.save(state);
        }
        Ok(())
    }

    /// Goes on where [`Self::save`] was, in the same file; `statement` knows each table. Nothing where `state` is something
    /// else or the file has lost pages.
    pub(crate) fn restored(
        file: File,
        state: &mut &[u8],
        statement: impl Fn(&str) -> Option<(&'static str, &'static str)>,
    ) -> io::Result<Option<Self>> {
        let Some((next, tables)) = read(state, statement) else { return Ok(None) };
        let bytes = u64::from(next - 1) * SIZE as u64;
        if file.metadata()?.len() < bytes {
            return Ok(None);
        }
        file.set_len(bytes)?;
        Ok(Some(Self { store: Store::resume(file, next), tables, record: Record::new() }))
    }

    /// The tables by name, in the order of their ids.
    pub(crate) fn tables(&self) -> impl Iterator<Item = (&str, TableId)> {
        self.tables.iter().enumerate().map(|(at, table)| (table.name.as_ref(), TableId(at)))
    }

    /// Adds a row of integers behind the id and returns that: ids count from 1.
    #[inline]
    pub(crate) fn integers<const N: usize>(
        &mut self,
        table: TableId,
        row: &[Option<i64>; N],
    ) -> io::Result<i64> {
        let tree = &mut self.tables[table.0].tree;
        tree.push(self.record.integers(row), &mut self.store, Keep::Forever)
    }

    /// Adds a row of anything behind the id and returns that.
    #[inline]
    pub(crate) fn row(&mut self, table: TableId, row: &[Datum<'_>]) -> io::Result<i64> {
        let tree = &mut self.tables[table.0].tree;
        tree.push(self.record.row(row), &mut self.store, Keep::Forever)
    }

    /// Adds a row of a table without an id among its columns.
    pub(crate) fn cells(&mut self, table: TableId, row: &[Datum<'_>]) -> io::Result<i64> {
        let tree = &mut self.tables[table.0].tree;
        tree.push(self.record.cells(row), &mut self.store, Keep::Forever)
    }

    /// The id of the last row; 0 without rows.
    pub(crate) fn rows(&self, table: TableId) -> i64 {
        self.tables[table.0].tree.rows()
    }

    /// Adds a row with this id, which must be greater than those of all rows before.
    pub(crate) fn row_at(&mut self, table: TableId, id: i64, row: &[Datum<'_>]) -> io::Result<()> {
        let tree = &mut self.tables[table.0].tree;
        tree.push_at(id, self.record.row(row), &mut self.store, Keep::Forever)
    }

    /// Completes the file, with `views` given as name and statement; at least one.
    pub(crate) fn finish(mut self, views: &[(&str, &str)]) -> io::Result<()> {
        for table in &mut self.tables {
            table.tree.publish(&mut self.store)?;
        }
        let tables = self.tables.iter().map(|table| Entry {
            kind: "table",
            name: &table.name,
            root: table.tree.root(),
            sql: &table.sql,
        });
        let views = views.iter().map(|&(name, sql)| Entry { kind: "view", name, root: 0, sql });
        catalog::publish(tables, views, Vec::new(), &mut self.store)?;
        Ok(())
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
        tables.push(Table { name: name.into(), sql: sql.into(), tree: Tree::restored(state)? });
    }
    Some((next, tables))
}
