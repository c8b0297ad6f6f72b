//! A column: its name, its type, and how it is written into vectors.

use std::fmt;
use std::ops::Range;

use rtl_schema::{NameId, Select};

use crate::dictionary::Dictionary;
use crate::loaded::Loaded;
use crate::sink::{CHUNK, Sink, Validity};

/// Writes the values of some rows.
type Fill = Box<dyn Fn(&Loaded, Range<usize>, &mut dyn Sink) + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Bool,
    /// 64 bits, signed.
    Integer,
    /// 64 bits.
    Float,
    Text,
}

pub struct Column {
    /// In lower case.
    pub name: &'static str,
    pub kind: Type,
    /// One line for people.
    pub about: &'static str,
    /// The parts of a trace that must have been read before it is filled.
    pub needs: Select,
    fill: Fill,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Column {
    /// Writes the values of rows, at most [`CHUNK`], into a sink that has room for them. The parts that the column and its table
    /// need must have been read.
    ///
    /// # Panics
    /// Of more rows than [`CHUNK`], or rows that the table does not have.
    pub fn fill(&self, trace: &Loaded, rows: Range<usize>, out: &mut dyn Sink) {
        (self.fill)(trace, rows, out);
    }

    fn new(name: &'static str, kind: Type, about: &'static str, fill: Fill) -> Self {
        Self { name, kind, about, needs: Select::ops(), fill }
    }

    /// Adds parts of a trace that are read for it.
    pub(crate) fn needing(self, needs: Select) -> Self {
        Self { needs: self.needs.union(needs), ..self }
    }

    /// Integers, which may be unknown.
    pub(crate) fn integer(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<i64> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut dyn Sink| {
            if let Some(validity) = nullable(out.integers(), rows, |row| value(trace, row)) {
                out.set_validity(&validity);
            }
        };
        Self::new(name, Type::Integer, about, Box::new(fill))
    }

    pub(crate) fn float(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut dyn Sink| {
            if let Some(validity) = nullable(out.floats(), rows, |row| value(trace, row)) {
                out.set_validity(&validity);
            }
        };
        Self::new(name, Type::Float, about, Box::new(fill))
    }

    pub(crate) fn bool(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut dyn Sink| {
            if let Some(validity) = nullable(out.bools(), rows, |row| value(trace, row).map(u8::from)) {
                out.set_validity(&validity);
            }
        };
        Self::new(name, Type::Bool, about, Box::new(fill))
    }

    /// Strings of the trace.
    pub(crate) fn text(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> NameId + Send + Sync + 'static,
    ) -> Self {
        Self::dictionary(name, about, Dictionary::Texts, move |trace, row| trace.place(value(trace, row)))
    }

    pub(crate) fn dictionary(
        name: &'static str,
        about: &'static str,
        dictionary: Dictionary,
        place: impl Fn(&Loaded, usize) -> u32 + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut dyn Sink| {
            let mut places = [0; CHUNK];
            let count = rows.len();
            places.iter_mut().zip(rows).for_each(|(to, row)| *to = place(trace, row));
            out.set_places(trace, dictionary, &places[..count]);
        };
        Self::new(name, Type::Text, about, Box::new(fill))
    }

    /// A set of few words, which need no dictionary.
    pub(crate) fn word(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<&str> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut dyn Sink| {
            let mut validity = [0; CHUNK / 64];
            for (at, row) in rows.enumerate() {
                if let Some(text) = value(trace, row) {
                    out.set_text(at, text);
                    validity[at / 64] |= 1 << (at % 64);
                }
            }
            out.set_validity(&validity);
        };
        Self::new(name, Type::Text, about, Box::new(fill))
    }
}

/// Writes values; returns which rows are known, unless all are.
fn nullable<T: Default>(
    values: &mut [T],
    rows: Range<usize>,
    value: impl Fn(usize) -> Option<T>,
) -> Option<Validity> {
    let mut validity = [0; CHUNK / 64];
    let mut known = 0;
    for (at, (to, row)) in values.iter_mut().zip(rows).enumerate() {
        let value = value(row);
        known += usize::from(value.is_some());
        validity[at / 64] |= u64::from(value.is_some()) << (at % 64);
        *to = value.unwrap_or_default();
    }
    (known < values.len()).then_some(validity)
}
