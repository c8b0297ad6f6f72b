//! Builds a table of many rows: they wait in arrays, from which each column takes a run of them at a time. That is faster than to
//! append every value to a column of its own length and capacity.

use std::mem::take;

use crate::column::Storage;

/// Rows of a run: few enough for the fastest cache.
pub(crate) const RUN: usize = 128;

/// The values of one column in a run.
#[derive(Debug)]
pub(crate) struct Cells<S> {
    values: [S; RUN],
    /// False while all rows of a sparse column have the default value, which `values` has in all rows then.
    is_set: bool,
}

/// How a storage has the default value of its column.
#[inline(always)]
pub(crate) fn usual<T: Default, C: Storage<T>>() -> Option<C::Stored> {
    if C::IS_SPARSE { C::stored(T::default()) } else { None }
}

impl<S: Copy + Default + PartialEq> Cells<S> {
    pub(crate) fn new(usual: Option<S>) -> Self {
        Self { values: [usual.unwrap_or_default(); RUN], is_set: false }
    }

    /// Sets a value. Nothing is left to do of one that is known to be the usual value when this is compiled.
    #[inline(always)]
    pub(crate) fn set(&mut self, at: usize, value: S, usual: Option<S>) {
        if usual != Some(value) {
            self.values[at] = value;
            self.is_set |= usual.is_some();
        }
    }

    /// Appends the first rows to a column.
    pub(crate) fn move_to<T: Default, C: Storage<T, Stored = S>>(&mut self, column: &mut C, rows: usize) {
        let usual = usual::<T, C>();
        if usual.is_some() && !self.is_set {
            column.extend_default(rows);
            return;
        }
        column.extend_stored(&self.values[..rows]);
        if let Some(usual) = usual {
            self.values[..rows].fill(usual);
            self.is_set = false;
        }
    }
}

/// A table that [`columns!`](crate::column_set::columns) declares.
pub(crate) trait Buildable: Default {
    /// A row of the table.
    type Row: Copy;
    /// [`Cells`] of each column.
    type Run: Default;

    /// Adds a row to the run of a builder.
    fn add(builder: &mut Builder<Self>, row: Self::Row);
    /// Appends the first rows of a run, which may be filled again then.
    fn extend(&mut self, run: &mut Self::Run, rows: usize);
    /// Appends a row.
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
        T::add(self, row);
    }

    /// The run, and the place of one more row in it.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> (&mut T::Run, usize) {
        if self.rows == RUN {
            self.flush();
        }
        let at = self.rows;
        self.rows += 1;
        (&mut self.run, at)
    }

    /// Adds a row with a value that [`Cells`] cannot have.
    #[cold]
    #[inline(never)]
    pub(crate) fn add_unusual(&mut self, row: T::Row) {
        self.flush();
        self.table.push(row);
    }

    #[inline(never)]
    fn flush(&mut self) {
        self.table.extend(&mut self.run, take(&mut self.rows));
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
