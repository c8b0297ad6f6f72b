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
        let pieces = self.pieces(table, columns, usize::MAX)?.next(&new, each)?;
        Ok(pieces.map_or_else(|| vec![new()], |pieces| pieces.into_iter().flatten().collect()))
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
    /// The next pieces in rowid order: one, and one more for each thread that is free. A piece has parts in order, several
    /// where it is long; `None` comes after the last ones. Parts may be thrown away and filled anew, so `each` must keep
    /// nothing elsewhere. Where only the library can read the table, the rest of it is one piece.
    ///
    /// # Errors
    /// Where SQLite cannot read the table, or it changed during the scan.
    pub fn next<P: Send>(
        &mut self,
        new: impl Fn() -> P + Sync,
        each: impl Fn(&mut P, &Row<'_>) + Sync,
    ) -> Result<Option<Vec<Vec<P>>>> {
        if self.ended {
            return Ok(None);
        }
        if let Some((pages, layout, leaves)) = &self.leaves {
            let mut shares = self.shares(leaves);
            let lengths: Vec<usize> = shares.iter().map(|share| share.len()).collect();
            let scan = |share: &[u32]| leaf::scan_parts(*pages, layout, share, &new, &each);
            let read = match shares.len() {
                1 => shares.pop().map(scan).into_iter().collect(),
                _ => threads::map(shares, scan),
            };
            let mut pieces = Vec::with_capacity(read.len());
            let is_whole = read.iter().all(Option::is_some);
            // The library goes on behind the pieces before the first one that only it can read.
            for ((rows, parts), length) in read.into_iter().map_while(|piece| piece).zip(lengths) {
                self.given += rows;
                self.next += length;
                pieces.push(parts);
            }
            if is_whole {
                self.ended = self.next == leaves.len();
                if self.ended {
                    self.database.unchanged(*pages)?;
                }
                return Ok(Some(pieces));
            }
            if !pieces.is_empty() {
                self.leaves = None;
                return Ok(Some(pieces));
            }
        }
        self.ended = true;
        let mut part = new();
        self.database.step(self.table, self.columns, self.given, |row| each(&mut part, row))?;
        Ok(Some(vec![vec![part]]))
    }

    /// The leaves of the next pieces.
    fn shares<'l>(&self, leaves: &'l [u32]) -> Vec<&'l [u32]> {
        let mut left = &leaves[self.next..];
        let mut shares = Vec::new();
        while shares.len() <= threads::free() {
            // An empty leaf is sound only where it is the whole table: no piece may be a single leaf by chance.
            if left.len() <= self.length.saturating_add(1) {
                shares.push(left);
                break;
            }
            let (share, rest) = left.split_at(self.length);
            shares.push(share);
            left = rest;
        }
        shares
    }
}
