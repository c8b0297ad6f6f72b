//! The rows of a table by rank, in the order of files.

use std::collections::BTreeMap;

use columnar::{Data, Values};
use tables::Loaded;

use crate::buffer::{self, Texts};
use crate::stored::{Stored, column};

/// The rows of each rank.
pub(crate) type Ranks = BTreeMap<Option<i64>, Vec<u32>>;

/// The rows of each rank by start; of a table without starts in their order.
pub(crate) fn by_rank(trace: &Loaded, stored: &Stored, texts: &mut Texts) -> Ranks {
    let rows: Vec<u32> = (0..stored.table.rows(trace) as u32).collect();
    let mut integers = |name| {
        let values = column(stored.table, name).map(|column| buffer::values(trace, column, &rows, texts));
        values.filter(|values| matches!(values.data, Data::Integers(_)))
    };
    let (ranks, starts) = (integers("rank"), integers("start"));
    let mut parts = Ranks::new();
    let rank = |row: u32| ranks.as_ref().and_then(|ranks| integer(ranks, row as usize));
    match &ranks {
        Some(_) => rows.iter().for_each(|&row| parts.entry(rank(row)).or_default().push(row)),
        None if rows.is_empty() => {}
        None => drop(parts.insert(None, rows)),
    }
    if let Some(Values { data: Data::Integers(starts), .. }) = &starts {
        for rows in parts.values_mut() {
            // Stable, so that rows of one start keep their order.
            rows.sort_by_key(|&row| starts[row as usize]);
        }
    }
    parts
}

/// Integers, each of which may be unknown.
pub(crate) fn integers(values: impl Iterator<Item = Option<i64>>) -> Values {
    let (data, known) = values.map(|value| (value.unwrap_or_default(), value.is_some())).unzip();
    Values { data: Data::Integers(data), known }
}

pub(crate) fn integer(values: &Values, row: usize) -> Option<i64> {
    match &values.data {
        Data::Integers(integers) if values.is_known(row) => Some(integers[row]),
        _ => None,
    }
}
