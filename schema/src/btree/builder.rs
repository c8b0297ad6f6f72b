//! A file of tables that is complete when it is finished.

use std::borrow::Cow;
use std::fs::File;
use std::io;

use super::catalog::{self, Entry};
use super::encode::{Datum, Record};
use super::store::Store;
use super::tree::{Keep, Tree};

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
