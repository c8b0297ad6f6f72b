//! An engine that prints the tables of crate `tables`: what DuckDB, Arrow, Python and data sets take.

use rtl_schema::{Select, Tables};
use tables::{Dictionary, Loaded, Sink, Validity};

/// The vector of a column, with a place for each row.
#[derive(Debug)]
struct Vector {
    integers: Vec<i64>,
    floats: Vec<f64>,
    bools: Vec<u8>,
    texts: Vec<String>,
    validity: Option<Validity>,
}

impl Vector {
    fn new(rows: usize) -> Self {
        let texts = vec![String::new(); rows];
        Self { integers: vec![0; rows], floats: vec![0.0; rows], bools: vec![0; rows], texts, validity: None }
    }
}

impl Sink for Vector {
    fn integers(&mut self) -> &mut [i64] {
        &mut self.integers
    }

    fn floats(&mut self) -> &mut [f64] {
        &mut self.floats
    }

    fn bools(&mut self) -> &mut [u8] {
        &mut self.bools
    }

    fn set_validity(&mut self, validity: &Validity) {
        self.validity = Some(*validity);
    }

    fn set_text(&mut self, row: usize, text: &str) {
        self.texts[row] = text.to_owned();
    }

    fn set_places(&mut self, trace: &Loaded, dictionary: Dictionary, places: &[u32]) {
        let texts = places.iter().map(|&place| format!("{:?}", dictionary.get(trace, place as usize)));
        self.texts = texts.collect();
    }
}

/// All columns of all tables, each as one text.
pub(crate) fn printed(trace: Tables) -> Vec<String> {
    let trace = Loaded::new("trace", Select::everything(), trace);
    let columns =
        tables::all().iter().flat_map(|table| table.columns.iter().map(move |column| (table, column)));
    let printed = columns.map(|(table, column)| {
        let rows = table.rows(&trace);
        let mut vector = Vector::new(rows);
        column.fill(&trace, 0..rows, &mut vector);
        format!("{}.{} {vector:?}", table.name, column.name)
    });
    printed.collect()
}
