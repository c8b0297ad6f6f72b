//! Scans in pieces, which several threads read at once.

use super::database::Database;
use super::fast_header::{self, FastColumns};
use super::fast_rows::{AddRows, Readers};
use super::layout::Layout;
use super::leaf;
use super::pages::{Pages, State};
use super::row::Row;
use crate::Result;

/// Where the rows of a table are, in one state of the file: see [`Database::find_leaves`].
#[derive(Debug)]
pub struct FoundLeaves {
    state: State,
    layout: Layout,
    numbers: Vec<u32>,
}

/// A scan in pieces: see [`Database::pieces`].
#[derive(Debug)]
pub struct Pieces<'a> {
    database: &'a Database,
    table: &'a str,
    columns: &'a [&'a str],
    /// Where we read the table ourselves.
    leaves: Option<Leaves<'a>>,
}

/// The pages of a table that we read ourselves.
#[derive(Debug, Clone, Copy)]
pub struct Leaves<'a> {
    pages: Pages<'a>,
    layout: &'a Layout,
    numbers: &'a [u32],
    /// Leaves of one piece.
    length: usize,
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
        if !self.has_table(table) {
            return Ok(vec![new()]);
        }
        let _snapshot = self.snapshot()?;
        let found = self.find_leaves(table, columns)?;
        let pieces = self.pieces(table, columns, found.as_ref(), usize::MAX);
        if let Some(leaves) = pieces.leaves()
            && let Some(parts) = leaf::parts(leaves.numbers, |leaves_of_part| {
                let mut part = new();
                leaves.scan(leaves_of_part, |row| each(&mut part, row)).map(|_| part)
            })
        {
            pieces.check()?;
            return Ok(parts);
        }
        Ok(vec![pieces.rest(0, new, each)?])
    }

    /// Where the rows of `table` are, in a state that the caller holds ([`Self::snapshot`]); none where only SQLite can
    /// read it.
    ///
    /// # Errors
    /// Where the schema cannot be read.
    pub fn find_leaves(&self, table: &str, columns: &[&str]) -> Result<Option<FoundLeaves>> {
        let found = if self.has_table(table) { self.leaves(table, columns)? } else { None };
        Ok(found.map(|(pages, layout, numbers)| FoundLeaves { state: pages.state(), layout, numbers }))
    }

    /// A scan of `table` in pieces of about `length` of the pages that were found, in the state in which they were.
    pub fn pieces<'a>(
        &'a self,
        table: &'a str,
        columns: &'a [&'a str],
        found: Option<&'a FoundLeaves>,
        length: usize,
    ) -> Pieces<'a> {
        let leaves = found.and_then(|FoundLeaves { state, layout, numbers }| {
            Some(Leaves { pages: self.pages_of(*state)?, layout, numbers, length })
        });
        Pieces { database: self, table, columns, leaves }
    }
}

impl<'a> Pieces<'a> {
    /// The pages of the table, where we read it ourselves. Else all of it is [`Self::rest`].
    pub fn leaves(&self) -> Option<Leaves<'a>> {
        self.leaves
    }

    /// Reads the rows behind the first `given` by the library.
    ///
    /// # Errors
    /// Where SQLite cannot read the table.
    pub fn rest<P>(&self, given: u64, new: impl Fn() -> P, each: impl Fn(&mut P, &Row<'_>)) -> Result<P> {
        let mut part = new();
        if self.database.has_table(self.table) {
            self.database.step(self.table, self.columns, given, &mut |row| each(&mut part, row))?;
        }
        Ok(part)
    }

    /// Checks, after the last piece, that all were of one state.
    ///
    /// # Errors
    /// Where the table has changed during the scan.
    pub fn check(&self) -> Result<()> {
        self.leaves.as_ref().map_or(Ok(()), |leaves| self.database.unchanged(leaves.pages))
    }
}

impl<'a> Leaves<'a> {
    /// The leaves of each piece, in rowid order.
    pub fn shares(&self) -> Vec<&'a [u32]> {
        let mut left = self.numbers;
        let mut shares = Vec::new();
        // An empty leaf is sound only where it is the whole table: no piece may be a single leaf by chance.
        while left.len() > self.length.saturating_add(1) {
            let (share, rest) = left.split_at(self.length);
            shares.push(share);
            left = rest;
        }
        shares.push(left);
        shares
    }

    /// Calls `each` for the rows of a piece and returns their number; `None` where only the library can read it, perhaps after some rows.
    pub fn scan(&self, share: &[u32], each: impl FnMut(&Row<'_>)) -> Option<u64> {
        leaf::scan(self.pages, self.layout, share, each).ok()
    }

    /// True if the table can have fast rows with these columns.
    pub fn has_fast_rows<const N: usize>(&self, columns: &FastColumns<N>) -> bool {
        fast_header::has_fast_rows(self.layout, columns)
    }

    /// Adds the rows of a piece to `part`, as [`Self::scan`], for columns that [`Self::has_fast_rows`]. Scans of several pieces share
    /// `readers`.
    pub fn scan_fast<const N: usize, P: AddRows<N>>(
        &self,
        share: &[u32],
        readers: &Readers<N, P::Facts>,
        part: &mut P,
    ) -> Option<u64> {
        readers.read((self.pages, self.layout), share, share.len() == 1, part).ok()
    }
}
