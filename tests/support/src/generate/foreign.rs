use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use rusqlite::Connection;

use super::batch::{Batch, Cell};

/// A SQLite file of another tool's layout in the making.
pub(super) struct Foreign {
    connection: Connection,
    string_table: Batch,
    strings: HashMap<String, i64>,
    batches: Vec<Batch>,
}

impl Foreign {
    /// Replaces `path` by a file with the tables and views of `layout`; rows go to `tables`, given as name and
    /// columns, by their position in that list.
    pub(super) fn create(path: &Path, layout: &str, tables: &[(&str, &[&str])]) -> Result<Self> {
        if path.exists() {
            std::fs::remove_file(path)?;
        }
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA foreign_keys=OFF;
             PRAGMA locking_mode=EXCLUSIVE; BEGIN",
        )?;
        connection.execute_batch(layout)?;
        let batches = tables.iter().map(|(table, columns)| Batch::new("", table, columns)).collect();
        let string_table = Batch::new("", "rocpd_string", &["string"]);
        Ok(Self { connection, string_table, strings: HashMap::new(), batches })
    }

    /// The id of a text, which is written when it is new.
    pub(super) fn text(&mut self, text: &str) -> Result<i64> {
        if let Some(&id) = self.strings.get(text) {
            return Ok(id);
        }
        let id = self.string_table.push(&self.connection, [Cell::from(text)])?;
        self.strings.insert(text.to_owned(), id);
        Ok(id)
    }

    pub(super) fn row<const N: usize>(&mut self, table: usize, row: [Cell; N]) -> Result<i64> {
        Ok(self.batches[table].push(&self.connection, row)?)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.string_table.flush(&self.connection)?;
        for batch in &mut self.batches {
            batch.flush(&self.connection)?;
        }
        self.connection.execute_batch("COMMIT")?;
        self.connection.close().map_err(|(_, error)| error)?;
        Ok(())
    }
}
