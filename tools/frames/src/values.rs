//! The values of a column while a table writes them.

use std::ops::Range;

use polars::prelude::{
    BooleanChunked, ChunkTake, Column, Float64Chunked, IdxCa, IdxSize, Int64Chunked, IntoColumn,
    NewChunkedArray, PolarsError, StringChunked,
};
use tables::{Dictionary, Loaded, Sink, Type, Validity};

/// The values of all rows of a column. Only the vector of its type has an element for each row.
pub(crate) struct Values {
    kind: Type,
    integers: Vec<i64>,
    floats: Vec<f64>,
    bools: Vec<u8>,
    /// Places of texts in `dictionary`, or in `words` where the column has none.
    places: Vec<IdxSize>,
    dictionary: Option<Dictionary>,
    words: Vec<String>,
    /// Which rows are known, from the first chunk on that has an unknown one.
    known: Option<Vec<bool>>,
    height: usize,
    /// The rows that are written now.
    chunk: Range<usize>,
}

impl Values {
    pub(crate) fn new(kind: Type, height: usize) -> Self {
        let rows_of = |other: Type| if kind == other { height } else { 0 };
        Self {
            kind,
            integers: vec![0; rows_of(Type::Integer)],
            floats: vec![0.0; rows_of(Type::Float)],
            bools: vec![0; rows_of(Type::Bool)],
            places: vec![0; rows_of(Type::Text)],
            dictionary: None,
            words: Vec::new(),
            known: None,
            height,
            chunk: 0..0,
        }
    }

    /// The rows that the next calls of the [`Sink`] write.
    pub(crate) fn begin_chunk(&mut self, rows: Range<usize>) {
        self.chunk = rows;
    }

    /// The column of polars. Rows with equal texts share the memory of the text.
    pub(crate) fn finish(self, name: &str, trace: &Loaded) -> Result<Column, PolarsError> {
        let Self { kind, integers, floats, bools, places, dictionary, words, known, height: _, chunk: _ } =
            self;
        let name = name.into();
        let is_known = |row: usize| known.as_ref().is_none_or(|known| known[row]);
        Ok(match kind {
            Type::Integer if known.is_none() => Int64Chunked::from_vec(name, integers).into_column(),
            Type::Integer => {
                let values =
                    integers.into_iter().enumerate().map(|(row, value)| is_known(row).then_some(value));
                Int64Chunked::from_iter_options(name, values).into_column()
            }
            Type::Float => {
                let values =
                    floats.into_iter().enumerate().map(|(row, value)| is_known(row).then_some(value));
                Float64Chunked::from_iter_options(name, values).into_column()
            }
            Type::Bool => {
                let values =
                    bools.into_iter().enumerate().map(|(row, value)| is_known(row).then_some(value != 0));
                BooleanChunked::from_iter_options(name, values).into_column()
            }
            Type::Text => {
                let texts = match dictionary {
                    Some(dictionary) => {
                        let texts = (0..dictionary.len(trace)).map(|place| dictionary.get(trace, place));
                        StringChunked::from_iter_options(name, texts)
                    }
                    None => StringChunked::from_iter_values(name, words.iter().map(String::as_str)),
                };
                let places =
                    places.into_iter().enumerate().map(|(row, place)| is_known(row).then_some(place));
                texts.take(&IdxCa::from_iter_options("".into(), places))?.into_column()
            }
        })
    }
}

impl Sink for Values {
    fn integers(&mut self) -> &mut [i64] {
        &mut self.integers[self.chunk.clone()]
    }

    fn floats(&mut self) -> &mut [f64] {
        &mut self.floats[self.chunk.clone()]
    }

    fn bools(&mut self) -> &mut [u8] {
        &mut self.bools[self.chunk.clone()]
    }

    fn set_validity(&mut self, validity: &Validity) {
        let known = self.known.get_or_insert_with(|| vec![true; self.height]);
        for (row, known) in known[self.chunk.clone()].iter_mut().enumerate() {
            *known = validity[row / 64] >> (row % 64) & 1 == 1;
        }
    }

    fn set_text(&mut self, row: usize, text: &str) {
        let place = self.words.iter().position(|word| word == text).unwrap_or_else(|| {
            self.words.push(text.to_owned());
            self.words.len() - 1
        });
        self.places[self.chunk.start + row] = place as IdxSize;
    }

    fn set_places(&mut self, _: &Loaded, dictionary: Dictionary, places: &[u32]) {
        self.dictionary = Some(dictionary);
        self.places[self.chunk.clone()].copy_from_slice(places);
    }
}
