//! A scan of integer columns that several threads continue, each with a piece of its own.

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::database::Database;
use super::fast_header::{FastColumns, IntegerColumn, has_fast_rows};
use super::fast_rows::{AddRows, Readers};
use super::image::Image;
use super::layout::Layout;
use super::pages::{Pages, State};
use super::record::Decoder;
use crate::Result;

/// How many columns a scan has at most.
const MOST: usize = 5;

/// `N` columns of a table that are mostly integers, in one state of the file: see [`Database::into_scan`].
#[derive(Debug)]
pub struct SharedScan<const N: usize> {
    table: &'static str,
    columns: [&'static str; N],
    layout: Layout,
    leaves: Vec<u32>,
    /// Leaves of one piece.
    length: usize,
    readers: Readers<MOST, ()>,
    state: State,
    image: Option<Arc<Image>>,
    /// It holds the state. It is dropped before the file: closing that would release its locks.
    database: Mutex<Database>,
    file: Arc<File>,
}

impl Database {
    /// A scan of `table` in pieces of `length` leaves, in the state that the database holds (see [`Self::hold`]). The database itself
    /// comes back where only SQLite can read these columns or the first leaf.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn into_scan<const N: usize>(
        self,
        table: &'static str,
        columns: [&'static str; N],
        length: usize,
    ) -> Result<std::result::Result<SharedScan<N>, Self>> {
        const { assert!(N <= MOST) }
        let found = self.leaves(table, &columns)?.and_then(|(pages, layout, leaves)| {
            // Where no leaf is for us, each piece would step through the table from its start.
            let mut decoder = Decoder::new(pages, &layout, 1);
            pages.read_leaves(leaves.get(..1)?, |leaf| decoder.records(leaf, |_| ()))?;
            Some((pages.state(), layout, leaves))
        });
        let ((Some(file), image), Some((state, layout, leaves))) = (self.file(), found) else {
            return Ok(Err(self));
        };
        if !has_fast_rows(&layout, &fast_columns::<N>()) {
            return Ok(Err(self));
        }
        Ok(Ok(SharedScan {
            table,
            columns,
            layout,
            leaves,
            length,
            readers: Readers::of(fast_columns::<N>()),
            state,
            image,
            database: Mutex::new(self),
            file,
        }))
    }
}

fn fast_columns<const N: usize>() -> FastColumns<MOST> {
    let column = |at| if at < N { IntegerColumn::Integer(at) } else { IntegerColumn::Zero };
    FastColumns { integers: std::array::from_fn(column) }
}

impl<const N: usize> SharedScan<N> {
    /// How many pieces there are.
    pub fn pieces(&self) -> usize {
        self.leaves.len().div_ceil(self.length)
    }

    /// Adds the rows of a piece to `part`.
    ///
    /// # Errors
    /// Where SQLite cannot read the table.
    pub fn read(&self, piece: usize, part: &mut impl AddRows<MOST, Facts = ()>) -> Result<()> {
        let first = piece * self.length;
        let leaves = &self.leaves[first..self.leaves.len().min(first + self.length)];
        let read = self.read_leaves(leaves, part);
        let Err(given) = read else { return Ok(()) };
        // The library goes on from the first row that only it can read.
        let database = self.database();
        let mut step = |rows| database.step(self.table, &self.columns, rows, &mut |row| part.add(row));
        match (self.rows(&self.leaves[..first]), self.rows(leaves)) {
            (Some(before), Some(rows)) => step(before + given..before + rows),
            // Pages that are no leaves, and leaves without rows, are an error of the library.
            _ => step(u64::MAX..u64::MAX).and(Err(database.changed())),
        }
    }

    /// The rows of leaves, if these can be counted: only a leaf that is the whole table may be empty.
    fn rows(&self, leaves: &[u32]) -> Option<u64> {
        let mut rows = 0;
        self.pages().read_leaves(leaves, |leaf| {
            rows += leaf.pointers.len() as u64 / 2;
            (self.leaves.len() == 1 || !leaf.pointers.is_empty()).then_some(())
        })?;
        Some(rows)
    }

    /// `Err` has the number of rows before the first one that only the library can read.
    fn read_leaves(
        &self,
        leaves: &[u32],
        part: &mut impl AddRows<MOST, Facts = ()>,
    ) -> std::result::Result<u64, u64> {
        let (pages, layout) = (self.pages(), &self.layout);
        self.readers.read((pages, layout), leaves, self.leaves.len() == 1, part)
    }

    /// Checks, after the last piece, that all were of one state.
    ///
    /// # Errors
    /// Where the table has changed during the scan.
    pub fn check(&self) -> Result<()> {
        self.database().unchanged(self.pages())
    }

    fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pages(&self) -> Pages<'_> {
        Pages::of_state(&self.file, self.image.as_deref(), self.state)
    }
}
