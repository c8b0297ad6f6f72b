//! The columns of an op that readers and writers of our own formats only pass on. Each is declared in one line, from which they take its
//! name in every format, so that a new one changes none of them.

use super::row;
use crate::OptionalColumn;
use crate::column::Storage;

/// A column of [`Details`], by its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// In tables of engines, in data sets, and with the unit of a time in CSV and Parquet files.
    pub name: &'static str,
    /// In `rocpd_op` and its metadata.
    pub stored: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// True of moments on the clock of the trace, which writers move as they move starts.
    pub is_time: bool,
}

/// Declares the columns; the comment of each is also the text that engines show.
macro_rules! details {
    ($(#[doc = $about:literal] $field:ident: stored $stored:literal, is_time $is_time:literal;)*) => {
        row! {
            /// Integers of a dispatch, copy or barrier that most recorders do not know.
            #[derive(Debug, Clone, Copy, Default, PartialEq)]
            pub struct Details {
                $(#[doc = $about] pub $field: Option<i64>,)*
            }
        }

        /// [`Details`] of many ops.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct DetailColumns {
            $(#[doc = $about] pub $field: OptionalColumn<i64>,)*
        }

        impl Details {
            /// The columns in the order of their values.
            pub const ALL: [Detail; [$($stored),*].len()] = [$(Detail {
                name: stringify!($field),
                stored: $stored,
                about: $about.trim_ascii(),
                is_time: $is_time,
            }),*];

            /// The values in the order of [`Self::ALL`].
            #[inline(always)]
            pub fn values(self) -> [Option<i64>; Self::ALL.len()] {
                [$(self.$field),*]
            }

            /// Takes each value by its place in [`Self::ALL`].
            #[inline(always)]
            pub fn from_fn(mut value: impl FnMut(usize) -> Option<i64>) -> Self {
                let mut places = 0..Self::ALL.len();
                Self { $($field: places.next().and_then(&mut value)),* }
            }
        }

        impl DetailColumns {
            /// The columns in the order of [`Details::ALL`].
            pub fn columns(&self) -> [&OptionalColumn<i64>; Details::ALL.len()] {
                [$(&self.$field),*]
            }
        }

        /// How columns store [`Details`]. Of an array, the compiler does not see that all of it is the default value.
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub(crate) struct StoredDetails {
            $($field: i64,)*
        }

        impl Storage<Details> for DetailColumns {
            type Stored = StoredDetails;
            const IS_SPARSE: bool = true;

            #[inline(always)]
            fn stored(details: Details) -> Option<StoredDetails> {
                Some(StoredDetails { $($field: OptionalColumn::stored(details.$field)?),* })
            }

            fn extend_stored(&mut self, stored: &[StoredDetails]) {
                $(self.$field.extend_stored(&stored.iter().map(|row| row.$field).collect::<Vec<_>>());)*
            }

            fn extend_default(&mut self, rows: usize) {
                $(self.$field.extend_default(rows);)*
            }

            #[inline(always)]
            fn push(&mut self, details: Details) {
                $(self.$field.push(details.$field);)*
            }

            #[inline(always)]
            fn value(&self, row: usize) -> Details {
                Details { $($field: self.$field.get(row)),* }
            }

            fn append(&mut self, other: &mut Self) {
                $(self.$field.append(&mut other.$field);)*
            }

            fn bytes(&self) -> usize {
                [$(self.$field.bytes()),*].iter().sum()
            }

            fn shrink(&mut self) {
                $(self.$field.shrink();)*
            }

            fn retain(&mut self, keep: &[bool]) {
                $(self.$field.retain(keep);)*
            }
        }
    };
}
details! {
    /// Time of enqueueing in ns
    enqueued: stored "enqueued", is_time true;
}

impl Details {
    /// Details of an op of which at most this one is known.
    #[allow(clippy::needless_update, reason = "enqueued need not be the only detail")]
    pub fn with_enqueued(enqueued: Option<i64>) -> Self {
        Self { enqueued, ..Self::default() }
    }

    /// Replaces each moment by what `map` makes of it.
    #[inline]
    #[must_use]
    pub fn map_times(self, mut map: impl FnMut(i64) -> i64) -> Self {
        let values = self.values();
        Self::from_fn(|at| if Self::ALL[at].is_time { values[at].map(&mut map) } else { values[at] })
    }
}
