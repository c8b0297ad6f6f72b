//! A table of traces as batches of Arrow.

use std::ops::Range;
use std::sync::Arc;

use arrow::{Batch, Batches, Dictionary, Field, Kind, Values};
use tables::{CHUNK, Loaded, Sink, Table, Type, Validity};

use crate::texts::Texts;

/// Rows of a batch: large enough that dictionaries are few, and whole words of 64 bits.
const BATCH: usize = 1 << 20;

/// The rows of some columns of a table, of one trace after the other.
pub(crate) struct Rows {
    table: &'static Table,
    /// Positions in the table.
    columns: Vec<usize>,
    fields: Vec<Field>,
    traces: Vec<Arc<Loaded>>,
    /// The dictionary of each column with texts, of all traces together.
    texts: Vec<Option<Texts>>,
    /// The trace and the row of the next batch.
    next: (usize, usize),
}

impl Rows {
    pub(crate) fn new(table: &'static Table, columns: Vec<usize>, traces: Vec<Arc<Loaded>>) -> Self {
        let texts = |&column: &usize| {
            let column = &table.columns[column];
            (column.kind == Type::Text).then(|| Texts::new(table, column, &traces))
        };
        let texts = columns.iter().map(texts).collect();
        Self { fields: fields(table, &columns), table, columns, traces, texts, next: (0, 0) }
    }

    /// The rows of a column.
    fn column(&self, position: usize, trace: usize, rows: Range<usize>) -> arrow::Column {
        let column = &self.table.columns[self.columns[position]];
        let loaded = &self.traces[trace];
        let texts = self.texts[position].as_ref();
        let places = texts.map_or(&[][..], |texts| texts.places(trace));
        let mut values = Vectors::new(column.kind, rows.len());
        for start in rows.clone().step_by(CHUNK) {
            let chunk = start..(start + CHUNK).min(rows.end);
            let at = start - rows.start;
            let mut vector = Vector { values: &mut values, texts, places, at, len: chunk.len() };
            column.fill(loaded, chunk, &mut vector);
        }
        values.finish(texts.map(Texts::dictionary))
    }
}

/// The columns as fields.
pub(crate) fn fields(table: &Table, columns: &[usize]) -> Vec<Field> {
    let field = |&column: &usize| {
        let column = &table.columns[column];
        let kind = match column.kind {
            Type::Bool => Kind::Bool,
            Type::Integer => Kind::Integer,
            Type::Float => Kind::Float,
            Type::Text => Kind::Text,
        };
        Field { name: column.name.to_owned(), kind }
    };
    columns.iter().map(field).collect()
}

impl Batches for Rows {
    fn fields(&self) -> &[Field] {
        &self.fields
    }

    fn next(&mut self) -> Result<Option<Batch>, String> {
        let (trace, start) = self.next;
        let Some(loaded) = self.traces.get(trace) else { return Ok(None) };
        let rows = start..self.table.rows(loaded).min(start + BATCH);
        if rows.is_empty() {
            self.next = (trace + 1, 0);
            return self.next();
        }
        self.next = (trace, rows.end);
        let columns = (0..self.columns.len()).map(|position| self.column(position, trace, rows.clone()));
        Ok(Some(Batch { rows: rows.len(), columns: columns.collect() }))
    }
}

/// A column of a batch while it is written.
struct Vectors {
    integers: Vec<i64>,
    floats: Vec<f64>,
    bools: Vec<u8>,
    places: Vec<i32>,
    known: Option<Vec<u64>>,
    kind: Type,
    rows: usize,
}

impl Vectors {
    fn new(kind: Type, rows: usize) -> Self {
        let of = |kinds: Type| if kind == kinds { rows } else { 0 };
        Self {
            integers: vec![0; of(Type::Integer)],
            floats: vec![0.0; of(Type::Float)],
            bools: vec![0; of(Type::Bool)],
            places: vec![0; of(Type::Text)],
            known: None,
            kind,
            rows,
        }
    }

    /// The bits of which rows are known, from the first on that is not.
    fn known(&mut self) -> &mut [u64] {
        self.known.get_or_insert_with(|| vec![u64::MAX; self.rows.div_ceil(64)])
    }

    fn finish(self, dictionary: Option<Arc<Dictionary>>) -> arrow::Column {
        let values = match self.kind {
            Type::Integer => Values::Integers(self.integers),
            Type::Float => Values::Floats(self.floats),
            Type::Bool => Values::bools(&self.bools),
            Type::Text => Values::Texts(self.places, dictionary.unwrap_or_default()),
        };
        arrow::Column { values, known: self.known }
    }
}

/// The part of a column that a chunk is written to; it begins at a whole word of bits.
struct Vector<'a> {
    values: &'a mut Vectors,
    texts: Option<&'a Texts>,
    /// The codes of the places in the dictionary of the trace.
    places: &'a [i32],
    at: usize,
    len: usize,
}

impl Vector<'_> {
    fn rows(&self) -> Range<usize> {
        self.at..self.at + self.len
    }
}

impl Sink for Vector<'_> {
    fn integers(&mut self) -> &mut [i64] {
        let rows = self.rows();
        &mut self.values.integers[rows]
    }

    fn floats(&mut self) -> &mut [f64] {
        let rows = self.rows();
        &mut self.values.floats[rows]
    }

    fn bools(&mut self) -> &mut [u8] {
        let rows = self.rows();
        &mut self.values.bools[rows]
    }

    fn set_validity(&mut self, validity: &Validity) {
        let words = self.len.div_ceil(64);
        let first = self.at / 64;
        self.values.known()[first..first + words].copy_from_slice(&validity[..words]);
    }

    fn set_text(&mut self, row: usize, text: &str) {
        let code = self.texts.and_then(|texts| texts.code(text));
        self.values.places[self.at + row] = code.unwrap_or(0);
    }

    fn set_places(&mut self, _: &Loaded, _: tables::Dictionary, places: &[u32]) {
        let rows = self.rows();
        let mut is_known = true;
        for (to, &place) in self.values.places[rows].iter_mut().zip(places) {
            *to = self.places.get(place as usize).copied().unwrap_or(-1);
            is_known &= *to >= 0;
        }
        if !is_known {
            let mut validity = [0; CHUNK / 64];
            let written = &self.values.places[self.at..];
            for (row, code) in written.iter().take(self.len).enumerate() {
                validity[row / 64] |= u64::from(*code >= 0) << (row % 64);
            }
            self.set_validity(&validity);
        }
    }
}
