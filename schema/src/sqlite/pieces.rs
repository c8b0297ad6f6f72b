use super::database::Database;
use super::layout::Layout;
use super::leaf;
use super::pages::Pages;
use super::row::Row;
use crate::Result;

/// A scan that is taken piece by piece: see [`Database::pieces`].
#[derive(Debug)]
pub struct Pieces<'a> {
    database: &'a Database,
    table: &'a str,
    columns: &'a [&'a str],
    /// Leaves of one piece.
    length: usize,
    /// Where we read the table ourselves; else the library gives the rest in one piece.
    leaves: Option<(Pages<'a>, Layout, Vec<u32>)>,
    /// The next leaf.
    next: usize,
    /// Rows of the pieces that were taken.
    given: u64,
    /// Whether all rows were given.
    ended: bool,
}

impl Database {
    /// As [`Self::scan`], but several threads may each take a range of rows, in rowid order, into a part
    /// of their own. The parts come back in order; small tables give one. Parts may be thrown away and
    /// filled anew, so `each` must keep nothing elsewhere.
    pub fn scan_parts<P: Send>(
        &self,
        table: &str,
        columns: &[&str],
        new: impl Fn() -> P + Sync,
        each: impl Fn(&mut P, &Row<'_>) + Sync,
    ) -> Result<Vec<P>> {
        let _snapshot = self.snapshot()?;
        let parts = self.pieces(table, columns, usize::MAX)?.next(&new, each)?;
        Ok(parts.unwrap_or_else(|| vec![new()]))
    }

    /// A scan of `table` in pieces of about `leaves` pages each, in bounded memory. The caller holds a
    /// [`Self::snapshot`] during the scan.
    pub fn pieces<'a>(&'a self, table: &'a str, columns: &'a [&'a str], leaves: usize) -> Result<Pieces<'a>> {
        let (database, length, ended) = (self, leaves, !self.has_table(table));
        let leaves = if ended { None } else { database.leaves(table, columns)? };
        Ok(Pieces { database, table, columns, length, leaves, next: 0, given: 0, ended })
    }
}

impl Pieces<'_> {
    /// The next rows in rowid order, as parts in order that several threads may have filled; `None` after the last
    /// ones. Parts may be thrown away and filled anew, so `each` must keep nothing elsewhere. Where only the library
    /// can read the table, the rest of it is one piece.
    ///
    /// # Errors
    /// Where SQLite cannot read the table, or it changed during the scan.
    pub fn next<P: Send>(
        &mut self,
        new: impl Fn() -> P + Sync,
        each: impl Fn(&mut P, &Row<'_>) + Sync,
    ) -> Result<Option<Vec<P>>> {
        if self.ended {
            return Ok(None);
        }
        if let Some((pages, layout, leaves)) = &self.leaves {
            let left = &leaves[self.next..];
            // An empty leaf is sound only where it is the whole table: no piece may be a single leaf by chance.
            let taken = if left.len() > self.length.saturating_add(1) { self.length } else { left.len() };
            if let Some((rows, parts)) = leaf::scan_parts(*pages, layout, &left[..taken], &new, &each) {
                self.given += rows;
                self.next += taken;
                self.ended = self.next == leaves.len();
                if self.ended {
                    self.database.unchanged(*pages)?;
                }
                return Ok(Some(parts));
            }
        }
        self.ended = true;
        let mut part = new();
        self.database.step(self.table, self.columns, self.given, |row| each(&mut part, row))?;
        Ok(Some(vec![part]))
    }
}
