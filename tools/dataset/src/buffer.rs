//! Columns of a trace as columns of a row group.

use std::ops::Range;
use std::sync::OnceLock;

use columnar::{Data, Text, Values};
use rustc_hash::FxHashMap;
use tables::{CHUNK, Column, Dictionary, Loaded, Sink, Type, Validity};

/// How many rows for each row of a group are filled at once, rather than each run of rows alone.
const SPARSE: usize = 8;

/// The texts of a trace, each made once.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    dictionaries: [OnceLock<Vec<Option<Text>>>; Dictionary::COUNT],
    words: FxHashMap<String, Text>,
}

/// A column that grows by rows.
#[derive(Debug)]
pub(crate) struct Buffer<'a> {
    texts: &'a mut Texts,
    kind: Type,
    from: usize,
    known: Vec<bool>,
    bools: Vec<u8>,
    integers: Vec<i64>,
    floats: Vec<f64>,
    strings: Vec<Text>,
}

/// The values of a column in these rows, in this order.
pub(crate) fn values(trace: &Loaded, column: &Column, rows: &[u32], texts: &mut Texts) -> Values {
    let mut buffer = Buffer::new(column.kind, texts);
    let (Some(&first), Some(&last)) = (rows.iter().min(), rows.iter().max()) else {
        return buffer.finish(None);
    };
    let window = first as usize..last as usize + 1;
    if window.len() <= rows.len().saturating_mul(SPARSE) {
        buffer.fill(trace, column, window.clone());
        let is_whole = window.len() == rows.len() && rows.is_sorted();
        let places: Option<Vec<usize>> =
            (!is_whole).then(|| rows.iter().map(|&row| row as usize - window.start).collect());
        return buffer.finish(places.as_deref());
    }
    for run in rows.chunk_by(|one, next| one + 1 == *next) {
        buffer.fill(trace, column, run[0] as usize..run[0] as usize + run.len());
    }
    buffer.finish(None)
}

impl<'a> Buffer<'a> {
    fn new(kind: Type, texts: &'a mut Texts) -> Self {
        Self {
            texts,
            kind,
            from: 0,
            known: Vec::new(),
            bools: Vec::new(),
            integers: Vec::new(),
            floats: Vec::new(),
            strings: Vec::new(),
        }
    }

    fn fill(&mut self, trace: &Loaded, column: &Column, rows: Range<usize>) {
        for first in rows.clone().step_by(CHUNK) {
            let rows = first..rows.end.min(first + CHUNK);
            self.from = self.known.len();
            let length = self.from + rows.len();
            self.known.resize(length, true);
            match self.kind {
                Type::Bool => self.bools.resize(length, 0),
                Type::Integer => self.integers.resize(length, 0),
                Type::Float => self.floats.resize(length, 0.0),
                Type::Text => self.strings.resize(length, Text::default()),
            }
            column.fill(trace, rows, self);
        }
    }

    /// All rows, or those at places.
    fn finish(self, places: Option<&[usize]>) -> Values {
        let Self { known, bools, integers, floats, strings, .. } = self;
        let known = if known.contains(&false) { gathered(known, places) } else { Vec::new() };
        let data = match self.kind {
            Type::Bool => Data::Bools(gathered(bools, places).into_iter().map(|value| value != 0).collect()),
            Type::Integer => Data::Integers(gathered(integers, places)),
            Type::Float => Data::Floats(gathered(floats, places)),
            Type::Text => Data::Texts(gathered(strings, places)),
        };
        Values { data, known }
    }
}

fn gathered<T: Clone>(values: Vec<T>, places: Option<&[usize]>) -> Vec<T> {
    match places {
        None => values,
        Some(places) => places.iter().map(|&place| values[place].clone()).collect(),
    }
}

impl Sink for Buffer<'_> {
    fn integers(&mut self) -> &mut [i64] {
        &mut self.integers[self.from..]
    }

    fn floats(&mut self) -> &mut [f64] {
        &mut self.floats[self.from..]
    }

    fn bools(&mut self) -> &mut [u8] {
        &mut self.bools[self.from..]
    }

    fn set_validity(&mut self, validity: &Validity) {
        for (row, known) in self.known[self.from..].iter_mut().enumerate() {
            *known = validity[row / 64] >> (row % 64) & 1 == 1;
        }
    }

    fn set_text(&mut self, row: usize, text: &str) {
        let text = match self.texts.words.get(text) {
            Some(known) => known.clone(),
            None => self.texts.words.entry(text.to_owned()).or_insert_with(|| text.into()).clone(),
        };
        self.strings[self.from + row] = text;
    }

    fn set_places(&mut self, trace: &Loaded, dictionary: Dictionary, places: &[u32]) {
        let text = |place| dictionary.get(trace, place).map(Text::from);
        let texts = self.texts.dictionaries[dictionary as usize]
            .get_or_init(|| (0..dictionary.len(trace)).map(text).collect());
        let rows = self.strings[self.from..].iter_mut().zip(&mut self.known[self.from..]);
        for (&place, (string, known)) in places.iter().zip(rows) {
            match &texts[place as usize] {
                Some(text) => *string = text.clone(),
                None => *known = false,
            }
        }
    }
}
