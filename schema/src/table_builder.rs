//! Builds a table of many rows: they wait in arrays, from which each column takes a run of them at a time. That is faster than to
//! append every value to a column of its own length and capacity.

use std::mem::take;

/// Rows of a run: few enough for the fastest cache.
pub(crate) const RUN: usize = 128;

/// A table that [`columns!`](crate::column_set::columns) declares.
pub(crate) trait Buildable: Default {
    /// A row of the table.
    type Row: Copy;
    /// An array of [`RUN`] values for each column.
    type Run: Default;

    /// Sets the row of a run; false of a row that only [`Self::push`] takes.
    fn set(run: &mut Self::Run, at: usize, row: Self::Row) -> bool;
    /// Appends the first rows of a run.
    fn extend(&mut self, run: &Self::Run, rows: usize);
    /// Appends any row.
    fn push(&mut self, row: Self::Row);
}

/// A table to which rows are added one by one. It can only be read when it is finished.
#[derive(Debug, Default)]
pub(crate) struct Builder<T: Buildable> {
    table: T,
    run: Box<T::Run>,
    rows: usize,
}

impl<T: Buildable> Builder<T> {
    /// Adds a row. Inlined, because a row is too long to be passed cheaply.
    #[inline(always)]
    pub(crate) fn push(&mut self, row: T::Row) {
        if self.rows == RUN {
            self.flush();
        }
        if T::set(&mut self.run, self.rows, row) {
            self.rows += 1;
        } else {
            self.push_unusual(row);
        }
    }

    #[cold]
    fn push_unusual(&mut self, row: T::Row) {
        self.flush();
        self.table.push(row);
    }

    fn flush(&mut self) {
        self.table.extend(&self.run, take(&mut self.rows));
    }

    /// The table with all rows. More rows may be added after it was emptied.
    pub(crate) fn finish(&mut self) -> &mut T {
        self.flush();
        &mut self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Dispatch, Dispatches};
    use crate::{NameId, ShapeId};

    #[test]
    fn a_built_table_is_one_of_pushed_rows() {
        // Missing and long durations, and a thread that is stored like none, do not fit into a run.
        let durations = [Some(7), Some(5_000_000_000), None, Some(-3), Some(i64::from(u32::MAX))];
        let row = |row: usize| Dispatch {
            id: row as i64 % 3,
            name: NameId(row as u32 % 5),
            start: row as i64,
            duration: if row.is_multiple_of(40) { durations[row / 40 % 5] } else { Some(row as i64) },
            tid: if row % 50 == 49 { Some(i64::MIN) } else { (row > 300).then_some(4) },
            shape: row.is_multiple_of(7).then_some(ShapeId(row as u32 % 2)),
            ..Dispatch::default()
        };
        for rows in [0, 1, RUN - 1, RUN, RUN + 1, 5 * RUN] {
            let mut builder = Builder::<Dispatches>::default();
            (0..rows).for_each(|at| builder.push(row(at)));
            let pushed: Dispatches = (0..rows).map(row).collect();
            assert_eq!(*builder.finish(), pushed, "{rows} rows");
            builder.push(row(9));
            assert_eq!(builder.finish().len(), rows + 1);
        }
    }
}
