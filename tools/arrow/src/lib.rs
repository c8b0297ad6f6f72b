//! Tables as streams of [Arrow's C data interface](https://arrow.apache.org/docs/format/CDataInterface.html), which polars,
//! pandas, pyarrow and DuckDB take over without a copy.
//!
//! [`Batches`] makes the rows of a table, a [`Batch`] at a time; [`Stream`] is the C struct that a reader pulls them through.
//! Texts are dictionary arrays. The crate knows no table and no trace.

#![allow(unsafe_code, reason = "the C data interface hands out pointers, which their receiver releases")]

mod array;
mod schema;
mod stream;

use std::sync::Arc;

pub use schema::Schema;
pub use stream::Stream;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Float,
    Bool,
    /// Dictionary arrays: a row has the place of its text.
    Text,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
}

/// A set of distinct texts.
#[derive(Debug, Default)]
pub struct Dictionary {
    offsets: Vec<i64>,
    bytes: Vec<u8>,
}

impl<T: AsRef<str>> FromIterator<T> for Dictionary {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut dictionary = Self { offsets: vec![0], bytes: Vec::new() };
        for text in texts {
            dictionary.bytes.extend_from_slice(text.as_ref().as_bytes());
            // A length in memory is never more than isize::MAX.
            dictionary.offsets.push(dictionary.bytes.len() as i64);
        }
        dictionary
    }
}

/// The values of a column in a batch.
#[derive(Debug)]
pub enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
    /// A bit for each row, the lowest first.
    Bools(Vec<u64>),
    /// The place of each row in the dictionary.
    Texts(Vec<i32>, Arc<Dictionary>),
}

impl Values {
    /// Packs bytes that are 0 or 1.
    #[must_use]
    pub fn bools(bytes: &[u8]) -> Self {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 1 | u64::from(byte & 1));
        Self::Bools(bytes.chunks(64).map(word).collect())
    }
}

#[derive(Debug)]
pub struct Column {
    /// The values; any where they are unknown.
    pub values: Values,
    /// Which rows are known, a bit each, the lowest first; all without it.
    pub known: Option<Vec<u64>>,
}

/// Some rows of a table.
#[derive(Debug)]
pub struct Batch {
    pub rows: usize,
    /// A column for each of [`Batches::fields`].
    pub columns: Vec<Column>,
}

impl Batch {
    /// True if each column has as many values as there are rows, of the type that its field states.
    fn fits(&self, fields: &[Field]) -> bool {
        let words = self.rows.div_ceil(64);
        let fits = |(column, field): (&Column, &Field)| {
            let known = column.known.as_ref().is_none_or(|known| known.len() == words);
            known
                && match (&column.values, field.kind) {
                    (Values::Integers(values), Kind::Integer) => values.len() == self.rows,
                    (Values::Floats(values), Kind::Float) => values.len() == self.rows,
                    (Values::Bools(values), Kind::Bool) => values.len() == words,
                    (Values::Texts(places, dictionary), Kind::Text) => {
                        let texts = dictionary.offsets.len().saturating_sub(1);
                        let is_place = |place: &i32| usize::try_from(*place).is_ok_and(|place| place < texts);
                        let is_unknown = |row: usize| {
                            column.known.as_ref().is_some_and(|known| known[row / 64] >> (row % 64) & 1 == 0)
                        };
                        places.len() == self.rows
                            && places
                                .iter()
                                .enumerate()
                                .all(|(row, place)| is_place(place) || is_unknown(row))
                    }
                    _ => false,
                }
        };
        self.columns.len() == fields.len() && self.columns.iter().zip(fields).all(fits)
    }
}

/// Makes the rows of a table.
pub trait Batches: Send {
    fn fields(&self) -> &[Field];

    /// The next rows; none at the end.
    ///
    /// # Errors
    /// One line for people.
    fn next(&mut self) -> Result<Option<Batch>, String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_bit_is_the_first_row() {
        let bits = |bytes: &[u8]| match Values::bools(bytes) {
            Values::Bools(bits) => bits,
            other => panic!("{other:?}"),
        };
        assert_eq!(bits(&[1, 0, 1]), [0b101]);
        assert_eq!(bits(&[[0; 64].as_slice(), &[1]].concat()), [0, 1]);
    }
}
