//! Small tables that answer most questions without a scan: kernels and idle time of a rank, already added up.

use std::collections::BTreeMap;

use columnar::{Data, Field, Text, Type, Values};
use tables::{Loaded, Table};

use crate::buffer::{self, Texts};
use crate::rows::{Ranks, integer, integers};
use crate::stored::column;

/// The aggregated tables with the names of their texts.
pub const AGGREGATED: [(&str, [&str; 3]); 2] =
    [("kernel_stats", ["name", "display_name", "category"]), ("idle_stats", ["cause", "within", "call"])];

pub const NUMBERS: [&str; 6] = ["gpu", "count", "timed", "duration", "min_duration", "max_duration"];

#[derive(Debug)]
pub(crate) struct Aggregated {
    pub(crate) name: &'static str,
    by: [&'static str; 3],
    rows: Vec<(Key, Sum)>,
    pub(crate) ranks: Ranks,
}

/// The texts and the GPU by which the rows of a rank are grouped.
type Key = ([Option<Text>; 3], Option<i64>);

#[derive(Debug, Clone, Copy)]
struct Sum {
    rows: i64,
    timed: i64,
    duration: i64,
    min: i64,
    max: i64,
}

impl Default for Sum {
    fn default() -> Self {
        Self { rows: 0, timed: 0, duration: 0, min: i64::MAX, max: i64::MIN }
    }
}

impl Sum {
    fn add(&mut self, duration: Option<i64>) {
        self.rows += 1;
        if let Some(duration) = duration {
            self.timed += 1;
            self.duration = self.duration.saturating_add(duration);
            self.min = self.min.min(duration);
            self.max = self.max.max(duration);
        }
    }
}

/// Rows of dispatches by kernel and GPU.
pub(crate) fn kernels(
    trace: &Loaded,
    dispatches: &'static Table,
    ranks: &Ranks,
    texts: &mut Texts,
) -> Aggregated {
    aggregated(AGGREGATED[0], trace, dispatches, ranks, texts)
}

/// Pieces of idle time by cause, place and GPU.
pub(crate) fn idle(trace: &Loaded, idle: &'static Table, ranks: &Ranks, texts: &mut Texts) -> Aggregated {
    aggregated(AGGREGATED[1], trace, idle, ranks, texts)
}

fn aggregated(
    (name, by): (&'static str, [&'static str; 3]),
    trace: &Loaded,
    table: &'static Table,
    ranks: &Ranks,
    texts: &mut Texts,
) -> Aggregated {
    let mut all = Aggregated { name, by, rows: Vec::new(), ranks: Ranks::new() };
    for (rank, rows) in ranks {
        let first = all.rows.len() as u32;
        all.rows.extend(groups(by, trace, table, rows, texts));
        all.ranks.insert(*rank, (first..all.rows.len() as u32).collect());
    }
    all
}

fn groups(
    by: [&str; 3],
    trace: &Loaded,
    table: &'static Table,
    rows: &[u32],
    texts: &mut Texts,
) -> BTreeMap<Key, Sum> {
    let mut groups: BTreeMap<Key, Sum> = BTreeMap::new();
    for rows in rows.chunks(crate::GROUP) {
        let mut read =
            |name: &str| column(table, name).map(|column| buffer::values(trace, column, rows, texts));
        let keys = by.map(&mut read);
        let (gpus, durations) = (read("gpu"), read("duration"));
        for row in 0..rows.len() {
            let texts = keys.each_ref().map(|values| text(values.as_ref()?, row).cloned());
            let gpu = gpus.as_ref().and_then(|gpus| integer(gpus, row));
            let duration = durations.as_ref().and_then(|durations| integer(durations, row));
            groups.entry((texts, gpu)).or_default().add(duration);
        }
    }
    groups
}

impl Aggregated {
    pub(crate) fn fields(&self) -> Vec<Field> {
        let of = |kind| move |name: &&str| Field { name: (*name).to_owned(), kind };
        self.by.iter().map(of(Type::Text)).chain(NUMBERS.iter().map(of(Type::Integer))).collect()
    }

    pub(crate) fn values(&self, position: usize, rows: &[u32]) -> Values {
        let rows = rows.iter().map(|&row| &self.rows[row as usize]);
        if position < self.by.len() {
            let texts = rows.map(|((texts, _), _)| &texts[position]);
            let known = texts.clone().map(Option::is_some).collect();
            let texts = texts.map(|text| text.clone().unwrap_or_default());
            return Values { data: Data::Texts(texts.collect()), known };
        }
        let name = NUMBERS[position - self.by.len()];
        integers(rows.map(|((_, gpu), sum)| match name {
            "gpu" => *gpu,
            "count" => Some(sum.rows),
            "timed" => Some(sum.timed),
            "duration" => Some(sum.duration),
            "min_duration" => Some(sum.min).filter(|_| sum.timed > 0),
            _ => Some(sum.max).filter(|_| sum.timed > 0),
        }))
    }
}

fn text(values: &Values, row: usize) -> Option<&Text> {
    match &values.data {
        Data::Texts(texts) if values.is_known(row) => Some(&texts[row]),
        _ => None,
    }
}
