//! A column: its name, its type, and how it is written into vectors.

use std::ops::Range;

use duckdb::{CHUNK, Dictionary, OutputVector, Type};
use rtl_schema::{NameId, Select};

use crate::loaded::Loaded;

/// Writes the values of some rows.
type Fill = Box<dyn Fn(&Loaded, Range<usize>, &mut OutputVector<'_>) + Send + Sync>;

/// A column of a table.
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Type,
    /// One line for people.
    pub(crate) about: &'static str,
    /// The parts of a trace that it is made of.
    pub(crate) needs: Select,
    pub(crate) fill: Fill,
}

impl Column {
    fn new(name: &'static str, kind: Type, about: &'static str, fill: Fill) -> Self {
        Self { name, kind, about, needs: Select::ops(), fill }
    }

    /// The same column, for which these parts of a trace are read.
    pub(crate) fn needing(self, needs: Select) -> Self {
        Self { needs: self.needs.union(needs), ..self }
    }

    /// Integers, which may be unknown.
    pub(crate) fn integer(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<i64> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut OutputVector<'_>| {
            if let Some(validity) = nullable(out.integers(), rows, |row| value(trace, row)) {
                out.set_validity(&validity);
            }
        };
        Self::new(name, Type::Integer, about, Box::new(fill))
    }

    /// Integers that are all known, written at once.
    pub(crate) fn integers(
        name: &'static str,
        about: &'static str,
        fill: impl Fn(&Loaded, Range<usize>, &mut OutputVector<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, Type::Integer, about, Box::new(fill))
    }

    /// Floating-point numbers.
    pub(crate) fn float(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<f64> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut OutputVector<'_>| {
            if let Some(validity) = nullable(out.floats(), rows, |row| value(trace, row)) {
                out.set_validity(&validity);
            }
        };
        Self::new(name, Type::Float, about, Box::new(fill))
    }

    /// True or false.
    pub(crate) fn bool(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<bool> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut OutputVector<'_>| {
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
        Self::dictionary(name, about, Loaded::texts, move |trace, row| trace.place(value(trace, row)))
    }

    /// Places in a dictionary.
    pub(crate) fn dictionary(
        name: &'static str,
        about: &'static str,
        dictionary: fn(&Loaded) -> &Dictionary,
        place: impl Fn(&Loaded, usize) -> u32 + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut OutputVector<'_>| {
            let mut places = [0; CHUNK];
            let count = rows.len();
            places.iter_mut().zip(rows).for_each(|(to, row)| *to = place(trace, row));
            out.set_dictionary(dictionary(trace), &places[..count]);
        };
        Self::new(name, Type::Text, about, Box::new(fill))
    }

    /// Words, of which there are few.
    pub(crate) fn word(
        name: &'static str,
        about: &'static str,
        value: impl Fn(&Loaded, usize) -> Option<&str> + Send + Sync + 'static,
    ) -> Self {
        let fill = move |trace: &Loaded, rows: Range<usize>, out: &mut OutputVector<'_>| {
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
) -> Option<[u64; CHUNK / 64]> {
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
