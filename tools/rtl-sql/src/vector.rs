//! Vectors of DuckDB as sinks of columns.

use std::ops::Range;
use std::sync::OnceLock;

use duckdb::{Chunk, OutputVector};
use tables::{CHUNK, Dictionary, Loaded, Sink, Table, Validity};

const _: () = assert!(CHUNK == duckdb::CHUNK, "a column fills a vector of DuckDB");

/// The dictionaries of a trace as DuckDB has them, each made when a query asks for it.
#[derive(Debug, Default)]
pub(crate) struct Dictionaries([OnceLock<duckdb::Dictionary>; Dictionary::COUNT]);

impl Dictionaries {
    fn get(&self, trace: &Loaded, dictionary: Dictionary) -> &duckdb::Dictionary {
        let text = |place| dictionary.get(trace, place);
        self.0[dictionary as usize]
            .get_or_init(|| duckdb::Dictionary::new((0..dictionary.len(trace)).map(text)))
    }
}

/// A vector of a chunk that a scan fills.
struct Vector<'a> {
    dictionaries: &'a Dictionaries,
    vector: OutputVector<'a>,
}

impl Sink for Vector<'_> {
    fn integers(&mut self) -> &mut [i64] {
        self.vector.integers()
    }

    fn floats(&mut self) -> &mut [f64] {
        self.vector.floats()
    }

    fn bools(&mut self) -> &mut [u8] {
        self.vector.bools()
    }

    fn set_validity(&mut self, validity: &Validity) {
        self.vector.set_validity(validity);
    }

    fn set_text(&mut self, row: usize, text: &str) {
        self.vector.set_text(row, text);
    }

    fn set_places(&mut self, trace: &Loaded, dictionary: Dictionary, places: &[u32]) {
        self.vector.set_dictionary(self.dictionaries.get(trace, dictionary), places);
    }
}

/// Fills a chunk with some columns of rows of a trace.
pub(crate) fn fill(
    out: &mut Chunk<'_>,
    table: &Table,
    columns: &[usize],
    (trace, dictionaries): (&Loaded, &Dictionaries),
    rows: Range<usize>,
) {
    for (place, &column) in columns.iter().enumerate() {
        // A count of rows asks for a column that no table has.
        if let Some(column) = table.columns.get(column) {
            let vector = out.vector(place, rows.len());
            column.fill(trace, rows.clone(), &mut Vector { dictionaries, vector });
        }
    }
    out.set_len(rows.len());
}

/// The type of DuckDB of a column.
pub(crate) fn kind(of: tables::Type) -> duckdb::Type {
    match of {
        tables::Type::Bool => duckdb::Type::Bool,
        tables::Type::Integer => duckdb::Type::Integer,
        tables::Type::Float => duckdb::Type::Float,
        tables::Type::Text => duckdb::Type::Text,
    }
}
