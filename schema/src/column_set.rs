//! Declares the columns of a table once: [`columns!`] makes the row, the struct of columns, and every function that
//! visits each column.

/// Copying fewer rows takes less time than starting a thread.
pub(crate) const PARALLEL: usize = 200_000;

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
        $crate::table::row! {
            $(#[$row_meta])*
            #[derive(Debug, Clone, Copy, Default, PartialEq)]
            pub struct $Row {
                $($(#[$meta])* pub $field: $value,)*
            }
        }

        $(#[$table_meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $Table {
            $($(#[$meta])* pub $field: $storage,)*
            $($(#[$extra_meta])* $visibility $extra: $extra_type,)*
        }

        impl $Table {
            /// Appends a row. Inlined, because a row is too long to be passed cheaply.
            #[inline(always)]
            pub fn push(&mut self, row: $Row) {
                $($crate::column::Storage::push(&mut self.$field, row.$field);)*
            }

            /// The row at `row`.
            pub fn get(&self, row: usize) -> $Row {
                $Row { $($field: $crate::column::Storage::value(&self.$field, row),)* }
            }

            /// The number of rows.
            pub fn len(&self) -> usize {
                self.name.len()
            }

            /// True without rows.
            pub fn is_empty(&self) -> bool {
                self.name.is_empty()
            }

            /// Gives back the room for further rows.
            pub fn shrink_to_fit(&mut self) {
                $($crate::column::Storage::shrink(&mut self.$field);)*
            }

            /// Gives back the memory, that of each column on a thread of its own where it takes time.
            pub fn free(self) {
                if self.len() > $crate::column_set::PARALLEL {
                    let columns: Vec<Box<dyn std::any::Any + Send>> = vec![$(Box::new(self.$field),)*];
                    threads::map(columns, drop);
                }
            }

            /// All rows in order.
            pub fn iter(&self) -> impl Iterator<Item = $Row> + '_ {
                (0..self.len()).map(|row| self.get(row))
            }

            /// Moves all rows of `other` to the end, of many rows several columns at a time, the largest first, so that threads end together.
            fn append_columns(&mut self, other: &mut Self) {
                if other.len() <= $crate::column_set::PARALLEL {
                    $($crate::column::Storage::append(&mut self.$field, &mut other.$field);)*
                    return;
                }
                let mut works: Vec<(usize, Box<dyn FnOnce() + Send + '_>)> = vec![$({
                    let bytes = $crate::column::Storage::bytes(&other.$field);
                    let (own, other) = (&mut self.$field, &mut other.$field);
                    (bytes, Box::new(move || $crate::column::Storage::append(own, other)))
                },)*];
                works.sort_by_key(|&(bytes, _)| std::cmp::Reverse(bytes));
                threads::map(works, |(_, work)| work());
            }

            /// Keeps the rows of every column whose flag is true.
            fn retain_columns(&mut self, keep: &[bool]) {
                $($crate::column::Storage::retain(&mut self.$field, keep);)*
            }
        }

        const _: () = {
            use $crate::column::Storage;
            use $crate::table_builder::{Buildable, Builder, Cells, usual};

            #[derive(Debug)]
            pub(crate) struct Run {
                $($field: Cells<<$storage as Storage<$value>>::Stored>,)*
            }

            impl Default for Run {
                fn default() -> Self {
                    Self { $($field: Cells::new(usual::<$value, $storage>()),)* }
                }
            }

            impl Buildable for $Table {
                type Row = $Row;
                type Run = Run;

                #[inline(always)]
                fn add(builder: &mut Builder<Self>, row: $Row) {
                    $(let Some($field) = <$storage as Storage<$value>>::stored(row.$field) else {
                        return builder.add_unusual(row);
                    };)*
                    let (run, at) = builder.next();
                    $(run.$field.set(at, $field, usual::<$value, $storage>());)*
                }

                fn extend(&mut self, run: &mut Run, rows: usize) {
                    $(run.$field.move_to::<$value, $storage>(&mut self.$field, rows);)*
                }

                fn push(&mut self, row: $Row) {
                    $(Storage::<$value>::push(&mut self.$field, row.$field);)*
                }
            }
        };

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
