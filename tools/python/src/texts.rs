//! The distinct texts of a column, and the places of its rows among them.

use std::collections::HashMap;
use std::sync::Arc;

use tables::{CHUNK, Column, Dictionary, Loaded, Sink, Table, Validity};

/// The code of a place without a text.
const NULL: i32 = -1;

/// The texts that the rows of a column have, each once, since pandas takes no category twice.
pub(crate) struct Texts {
    dictionary: Arc<arrow::Dictionary>,
    codes: HashMap<String, i32>,
    /// By trace: the code of each place in its dictionary.
    places: Vec<Vec<i32>>,
}

impl Texts {
    pub(crate) fn new(table: &Table, column: &Column, traces: &[Arc<Loaded>]) -> Self {
        let mut codes = HashMap::new();
        let mut ordered = Vec::new();
        let mut code = |text: &str| -> i32 {
            if let Some(&code) = codes.get(text) {
                return code;
            }
            let code = ordered.len() as i32;
            ordered.push(text.to_owned());
            codes.insert(text.to_owned(), code);
            code
        };
        let mut places = Vec::with_capacity(traces.len());
        for trace in traces {
            let mut used = Used::default();
            let rows = table.rows(trace);
            for start in (0..rows).step_by(CHUNK) {
                column.fill(trace, start..(start + CHUNK).min(rows), &mut used);
            }
            used.words.iter().for_each(|word| _ = code(word));
            let text =
                |(place, is_used): (usize, &bool)| used.dictionary.filter(|_| *is_used)?.get(trace, place);
            places.push(
                used.places.iter().enumerate().map(|place| text(place).map_or(NULL, &mut code)).collect(),
            );
        }
        Self { dictionary: Arc::new(ordered.iter().collect()), codes, places }
    }

    pub(crate) fn dictionary(&self) -> Arc<arrow::Dictionary> {
        Arc::clone(&self.dictionary)
    }

    /// The code of a text.
    pub(crate) fn code(&self, text: &str) -> Option<i32> {
        self.codes.get(text).copied()
    }

    /// The codes of the places in the dictionary of a trace; negative where a place has no text.
    pub(crate) fn places(&self, trace: usize) -> &[i32] {
        &self.places[trace]
    }
}

/// A sink that collects which texts the rows of a column refer to.
#[derive(Default)]
struct Used {
    dictionary: Option<Dictionary>,
    places: Vec<bool>,
    /// In the order of their first row, with few repetitions.
    words: Vec<String>,
}

impl Sink for Used {
    fn integers(&mut self) -> &mut [i64] {
        &mut []
    }

    fn floats(&mut self) -> &mut [f64] {
        &mut []
    }

    fn bools(&mut self) -> &mut [u8] {
        &mut []
    }

    fn set_validity(&mut self, _: &Validity) {}

    fn set_text(&mut self, _: usize, text: &str) {
        if self.words.last().is_none_or(|last| last != text)
            && !self.words.iter().rev().take(8).any(|word| word == text)
        {
            self.words.push(text.to_owned());
        }
    }

    fn set_places(&mut self, trace: &Loaded, dictionary: Dictionary, places: &[u32]) {
        if self.dictionary.is_none() {
            self.dictionary = Some(dictionary);
            self.places = vec![false; dictionary.len(trace)];
        }
        for &place in places {
            if let Some(used) = self.places.get_mut(place as usize) {
                *used = true;
            }
        }
    }
}
