//! Declares the columns of a table once: [`columns!`] makes the row, the struct of columns, and every function that
//! visits each column.

use crate::{Column, Durations};

/// The storage of one column.
pub(crate) trait Storage<T> {
    /// Appends a value.
    fn push(&mut self, value: T);
    /// The value of row `row`.
    fn value(&self, row: usize) -> T;
    /// Appends all values of `other`.
    fn append(&mut self, other: Self);
    /// Keeps the rows whose flag is true.
    fn retain(&mut self, keep: &[bool]);
    /// Appends default values until there are `rows` rows, where the storage may lag behind.
    fn pad_to(&mut self, rows: usize);
}

/// Implements [`Storage`] by the type's own functions.
macro_rules! delegate {
    ($storage:ty, $value:ty, [$($bounds:tt)*], |$column:ident, $rows:ident| $pad:expr) => {
        impl<$($bounds)*> Storage<$value> for $storage {
            #[inline(always)]
            fn push(&mut self, value: $value) {
                Self::push(self, value);
            }

            #[inline(always)]
            fn value(&self, row: usize) -> $value {
                self.get(row)
            }

            fn append(&mut self, other: Self) {
                Self::append(self, other);
            }

            fn retain(&mut self, keep: &[bool]) {
                Self::retain(self, keep);
            }

            fn pad_to(&mut self, $rows: usize) {
                let $column = self;
                $pad
            }
        }
    };
}
delegate!(Column<T>, T, [T: Copy + Default + PartialEq], |column, rows| {
    column.pad(rows.saturating_sub(column.len()));
});
delegate!(Durations, Option<i64>, [], |_column, _rows| ());

impl<T: Copy> Storage<T> for Vec<T> {
    #[inline(always)]
    fn push(&mut self, value: T) {
        Self::push(self, value);
    }

    #[inline(always)]
    fn value(&self, row: usize) -> T {
        self[row]
    }

    fn append(&mut self, other: Self) {
        self.extend_from_slice(&other);
    }

    fn retain(&mut self, keep: &[bool]) {
        let mut flags = keep.iter();
        Self::retain(self, |_| *flags.next().unwrap_or(&false));
    }

    fn pad_to(&mut self, _rows: usize) {}
}

/// Declares a row and its table: `field: type of a value => storage of the column`. Fields of the table that are no
/// columns follow in `extra`.
macro_rules! columns {
    (
        $(#[$row_meta:meta])*
        row $Row:ident;
        $(#[$table_meta:meta])*
        table $Table:ident;
        columns { $($(#[$meta:meta])* $field:ident: $value:ty => $storage:ty,)* }
        extra { $($(#[$extra_meta:meta])* $visibility:vis $extra:ident: $extra_type:ty,)* }
    ) => {
        $(#[$row_meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub struct $Row {
            $($(#[$meta])* pub $field: $value,)*
        }

        $(#[$table_meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $Table {
            $($(#[$meta])* pub $field: $storage,)*
            $($(#[$extra_meta])* $visibility $extra: $extra_type,)*
            /// Whether the last rows lack some columns.
            is_ragged: bool,
        }

        impl $Table {
            /// Appends a row. Inlined, because a row is too long to be passed cheaply.
            #[inline(always)]
            pub fn push(&mut self, row: $Row) {
                self.fill();
                $($crate::column_set::Storage::push(&mut self.$field, row.$field);)*
            }

            /// The row at `row`.
            pub fn get(&self, row: usize) -> $Row {
                $Row { $($field: $crate::column_set::Storage::value(&self.$field, row),)* }
            }

            /// The number of rows.
            pub fn len(&self) -> usize {
                self.name.len()
            }

            /// Whether there are no rows.
            pub fn is_empty(&self) -> bool {
                self.name.is_empty()
            }

            /// All rows in order.
            pub fn iter(&self) -> impl Iterator<Item = $Row> + '_ {
                (0..self.len()).map(|row| self.get(row))
            }

            /// Brings all columns to the same length, the number of names.
            #[inline]
            pub(crate) fn fill(&mut self) {
                if self.is_ragged {
                    self.fill_ragged();
                }
            }

            #[cold]
            fn fill_ragged(&mut self) {
                self.is_ragged = false;
                let rows = self.len();
                $($crate::column_set::Storage::pad_to(&mut self.$field, rows);)*
            }

            /// Appends the columns of `other`, freeing each before the next one is copied.
            fn append_columns(&mut self, mut other: Self) {
                self.fill();
                other.fill();
                $($crate::column_set::Storage::append(&mut self.$field, other.$field);)*
            }

            /// Keeps the rows of every column whose flag is true.
            fn retain_columns(&mut self, keep: &[bool]) {
                self.fill();
                $($crate::column_set::Storage::retain(&mut self.$field, keep);)*
            }
        }

        impl FromIterator<$Row> for $Table {
            fn from_iter<I: IntoIterator<Item = $Row>>(rows: I) -> Self {
                let mut table = Self::default();
                rows.into_iter().for_each(|row| table.push(row));
                table
            }
        }
    };
}
pub(crate) use columns;
