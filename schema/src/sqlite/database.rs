//! A database that is only read: queries by the library, and scans that read the pages themselves where they can.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::Connection;

use super::layout::{Layout, quote};
use super::leaf;
use super::open::{self, Opened};
use super::pages::{Pages, State};
use super::row::Row;
use crate::{Error, Result};

/// Bytes of the shortest row: its pointer, length, rowid and an empty record header.
const LEAST_ROW: u64 = 5;

/// A SQLite file that is only read. While it is open, nothing else in this process should open and close
/// the same file: POSIX would drop its locks.
#[derive(Debug)]
pub struct Database {
    path: PathBuf,
    content: PathBuf,
    opened: Opened,
}

impl Database {
    /// Opens `content` for reading; messages name `path`, which differs for unpacked files. No file beside it is created
    /// or changed, even where its writer left files behind.
    ///
    /// # Errors
    /// [`Error::Sqlite`] or [`Error::Damaged`] where SQLite cannot read its schema, [`Error::Io`] where
    /// the operating system refuses. All of them name `path`.
    pub fn open(content: &Path, path: &Path) -> Result<Self> {
        let opened = open::open(content, path)?;
        Ok(Self { path: path.to_owned(), content: content.to_owned(), opened })
    }

    /// The file as the user named it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if a killed writer left a journal beside the file, so that a recovered copy is read.
    pub fn left_journal(&self) -> bool {
        self.opened.is_recovered
    }

    /// Names of all tables and views.
    pub fn tables(&self) -> &[String] {
        &self.opened.tables
    }

    /// True if the file has a table or view of that name.
    pub fn has_table(&self, table: &str) -> bool {
        self.tables().iter().any(|name| name == table)
    }

    /// The column names of a table or view, in order; empty where it does not exist.
    pub fn columns(&self, table: &str) -> Result<Vec<String>> {
        let mut columns = Vec::new();
        self.query("select name from pragma_table_xinfo(?1)", [table], |row| {
            columns.push(row.get(0)?);
            Ok(())
        })?;
        Ok(columns)
    }

    /// True if `table` has a column of that name.
    pub fn has_column(&self, table: &str, column: &str) -> Result<bool> {
        Ok(self.columns(table)?.iter().any(|name| name == column))
    }

    /// Every table that is no view, and how many rows it has, by name.
    pub fn row_counts(&self) -> Result<Vec<(String, u64)>> {
        let count = |table: String| {
            let mut rows = 0;
            // Not by `count(*)`: within it the library ignores its budget, and an image has no finished leaves.
            self.scan(&table, &[], |_| rows += 1)?;
            Ok((table, rows))
        };
        self.plain_tables()?.into_iter().map(count).collect()
    }

    fn plain_tables(&self) -> Result<Vec<String>> {
        let mut tables = Vec::new();
        self.query("select name from sqlite_master where type = 'table' order by name", [], |row| {
            tables.push(row.get(0)?);
            Ok(())
        })?;
        tables.retain(|name: &String| !name.starts_with("sqlite_"));
        Ok(tables)
    }

    /// Calls `each` with every row of a query.
    pub(crate) fn query(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        mut each: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let library = |source| self.error(source);
        let mut text = self.opened.budget.start();
        let mut statement = self.connection().prepare(sql).map_err(library)?;
        let columns = statement.column_count();
        let mut rows = statement.query(parameters).map_err(library)?;
        while let Some(row) = rows.next().map_err(library)? {
            text.take(row, columns).map_err(|_| self.too_much_text())?;
            each(row).map_err(library)?;
        }
        Ok(())
    }

    fn too_much_text(&self) -> Error {
        open::exceeded(&self.path, "its rows have more text than the file")
    }

    fn connection(&self) -> &Connection {
        &self.opened.connection
    }

    fn error(&self, source: rusqlite::Error) -> Error {
        if self.opened.budget.is_denied() {
            return open::exceeded(&self.path, &source.to_string());
        }
        open::describe(source, &self.content, &self.path)
    }

    /// Holds one state of the file for all that is read until the guard is dropped, while a writer goes
    /// on. Scans within see the same state.
    pub fn snapshot(&self) -> Result<Snapshot<'_>> {
        let connection = self.connection();
        if !connection.is_autocommit() {
            return Ok(Snapshot(None));
        }
        let until = Instant::now() + open::PATIENCE;
        loop {
            // Only the first read takes the lock.
            let Err(error) = connection.execute_batch("begin; select 1 from sqlite_master limit 1") else {
                return Ok(Snapshot(Some(connection)));
            };
            if !connection.is_autocommit() {
                let _ = connection.execute_batch("rollback");
            }
            // A writer that is in the middle of changing the index of its -wal makes it look as if it had to be
            // repaired, which is not for us: the next moment it is whole.
            if !open::needs_writing(&error) || Instant::now() > until {
                return Err(self.error(error));
            }
            std::thread::sleep(open::PAUSE);
        }
    }

    /// How many rows `table` can have at most, cheaply and for reserving: ids need not be dense. 0 where
    /// there is no such table or it has no rowids.
    pub fn row_estimate(&self, table: &str) -> u64 {
        let number = |sql: &str| {
            let mut number = None;
            let first = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0).map(|found| number = Some(found));
            self.query(sql, [], first).ok().and(number)
        };
        let table = quote(table);
        // One of the two alone is a seek, both together are a scan.
        let first = number(&format!("select min(rowid) from {table}"));
        let last = number(&format!("select max(rowid) from {table}"));
        let (Some(first), Some(last)) = (first, last) else { return 0 };
        let pages = number("pragma page_count").unwrap_or(0).unsigned_abs();
        let room = pages * number("pragma page_size").unwrap_or(0).unsigned_abs() / LEAST_ROW;
        last.abs_diff(first).saturating_add(1).min(room)
    }

    /// Calls `each` for every row of `table` in rowid order, with the named columns; a column that the
    /// table does not have reads as NULL. A missing table has no rows.
    pub fn scan(&self, table: &str, columns: &[&str], mut each: impl FnMut(&Row<'_>)) -> Result<()> {
        self.scan_rows(table, columns, &mut each)
    }

    /// Compiled once: a call for each row costs less than a copy of this for each table.
    fn scan_rows(&self, table: &str, columns: &[&str], each: &mut dyn FnMut(&Row<'_>)) -> Result<()> {
        if !self.has_table(table) {
            return Ok(());
        }
        let _snapshot = self.snapshot()?;
        let mut given = 0;
        if let Some((pages, layout, leaves)) = self.leaves(table, columns)? {
            match leaf::scan(pages, &layout, &leaves, &mut *each) {
                Ok(_) => return self.unchanged(pages),
                Err(rows) => given = rows,
            }
        }
        self.step(table, columns, given, each)
    }

    /// Where the columns of a table are; `None` where reading them is for the library.
    pub(super) fn layout(&self, table: &str, columns: &[&str]) -> Result<Option<Layout>> {
        self.opened.budget.start();
        Layout::find(self.connection(), table, columns).map_err(|source| self.error(source))
    }

    /// Where to read the table ourselves; `None` where that is for the library.
    pub(super) fn leaves(
        &self,
        table: &str,
        columns: &[&str],
    ) -> Result<Option<(Pages<'_>, Layout, Vec<u32>)>> {
        let Opened { file, image, .. } = &self.opened;
        let pages = file.as_ref().and_then(|file| Pages::open(file, image.as_deref()));
        let Some(pages) = pages else { return Ok(None) };
        let layout = self.layout(table, columns)?;
        Ok(layout.and_then(|layout| pages.leaves(layout.root).map(|leaves| (pages, layout, leaves))))
    }

    pub(super) fn pages_of(&self, state: State) -> Option<Pages<'_>> {
        let Opened { file, image, .. } = &self.opened;
        Some(Pages::with_state(file.as_ref()?, image.as_deref(), state))
    }

    /// Locks do not bind a writer where they got lost or where there are none (immutable).
    pub(super) fn unchanged(&self, pages: Pages<'_>) -> Result<()> {
        if pages.unchanged() {
            return Ok(());
        }
        Err(Error::Damaged { path: self.path.clone(), detail: "it changed while it was read".to_owned() })
    }

    /// Steps by the library through the rows of the table behind the first `given`, in the order of rowids.
    pub(super) fn step(
        &self,
        table: &str,
        columns: &[&str],
        given: u64,
        each: &mut dyn FnMut(&Row<'_>),
    ) -> Result<()> {
        // SQLite checks the cells of a page when it loads the page. A statement that failed on a damaged page leaves it in
        // the cache, where the next statement takes it for a sound one.
        self.connection().execute_batch("pragma shrink_memory").map_err(|source| self.error(source))?;
        let present = self.columns(table)?;
        let find = |column: &str| present.iter().find(|name| name.eq_ignore_ascii_case(column));
        let list: String = columns
            .iter()
            .map(|column| match find(column) {
                Some(name) => format!(", {}", quote(name)),
                None => ", NULL".to_owned(),
            })
            .collect();
        let table = quote(table);
        let rowid = ["rowid", "_rowid_", "oid"].into_iter().find(|name| find(name).is_none());
        // Views and tables WITHOUT ROWID have none.
        let with_rowid = rowid.and_then(|rowid| {
            let sql = format!("select {rowid}{list} from {table} order by {rowid}");
            self.connection().prepare(&sql).ok()
        });
        let numbered = with_rowid.is_none();
        let mut text = self.opened.budget.start();
        let library = |source| self.error(source);
        let mut statement = match with_rowid {
            Some(statement) => statement,
            None => self.connection().prepare(&format!("select NULL{list} from {table}")).map_err(library)?,
        };
        let mut rows = statement.query([]).map_err(library)?;
        let mut number = 0;
        while let Some(row) = rows.next().map_err(library)? {
            number += 1;
            if number > given {
                text.take(row, columns.len() + 1).map_err(|_| self.too_much_text())?;
                let id = if numbered { number as i64 } else { row.get(0).unwrap_or(0) };
                each(&Row::of_library(id, row));
            }
        }
        Ok(())
    }
}

/// A state of a file that stays as it is: see [`Database::snapshot`].
#[derive(Debug)]
#[must_use = "the state is held only as long as the guard lives"]
pub struct Snapshot<'a>(Option<&'a Connection>);

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.0 {
            // A failed end of a read leaves nothing that could be done about it.
            let _ = connection.execute_batch("rollback");
        }
    }
}
