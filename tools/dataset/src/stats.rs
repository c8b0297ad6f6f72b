//! Small tables that answer most questions without a scan: kernels and idle time of a rank, already added up.

use std::collections::BTreeMap;

use columnar::{Data, Field, Text, Type, Values};
use tables::{Loaded, Table};

use crate::buffer::{self, Texts};
use crate::rows::integer;
use crate::stored::column;

/// The aggregated tables: their names and those of their texts.
pub const AGGREGATED: [(&str, [&str; 3]); 2] =
    [("kernel_stats", ["name", "display_name", "category"]), ("idle_stats", ["cause", "within", "call"])];

/// The numbers of both.
pub const NUMBERS: [&str; 6] = ["gpu", "count", "timed", "duration", "min_duration", "max_duration"];

/// A table of aggregated rows.
#[derive(Debug)]
pub(crate) struct Aggregated {
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<Field>,
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Values>,
}

/// What rows are grouped by: texts and a GPU.
type Key = (Vec<Option<Vec<u8>>>, Option<i64>);

/// The group of the row before: its texts, its GPU and its key.
type Group<'a> = (Vec<Option<&'a Text>>, Option<i64>, Key);

/// What is added up of a group.
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
    rows: &[u32],
    texts: &mut Texts,
) -> Aggregated {
    aggregated(AGGREGATED[0], trace, dispatches, rows, texts)
}

/// Pieces of idle time by cause, place and GPU.
pub(crate) fn idle(trace: &Loaded, idle: &'static Table, rows: &[u32], texts: &mut Texts) -> Aggregated {
    aggregated(AGGREGATED[1], trace, idle, rows, texts)
}

fn aggregated(
    (name, by): (&'static str, [&'static str; 3]),
    trace: &Loaded,
    table: &'static Table,
    rows: &[u32],
    texts: &mut Texts,
) -> Aggregated {
    let mut groups: BTreeMap<Key, Sum> = BTreeMap::new();
    for rows in rows.chunks(crate::GROUP) {
        let mut read =
            |name: &str| column(table, name).map(|column| buffer::values(trace, column, rows, texts));
        let keys: Vec<Option<Values>> = by.iter().map(|name| read(name)).collect();
        let (gpus, durations) = (read("gpu"), read("duration"));
        let mut last: Option<Group<'_>> = None;
        for row in 0..rows.len() {
            let texts: Vec<Option<&Text>> = keys.iter().map(|values| text(values.as_ref()?, row)).collect();
            let gpu = gpus.as_ref().and_then(|gpus| integer(gpus, row));
            let duration = durations.as_ref().and_then(|durations| integer(durations, row));
            let key = match last.take() {
                Some((known, of, key)) if known == texts && of == gpu => key,
                _ => {
                    let owned = texts.iter().map(|text| text.map(|text| text.as_bytes().to_vec()));
                    (owned.collect(), gpu)
                }
            };
            if let Some(sum) = groups.get_mut(&key) {
                sum.add(duration);
            } else {
                groups.entry(key.clone()).or_default().add(duration);
            }
            last = Some((texts, gpu, key));
        }
    }
    let texts = (0..by.len()).map(|place| {
        let of = |(texts, _): &Key| texts[place].clone();
        let known = groups.keys().map(|key| of(key).is_some()).collect();
        let text =
            |key| of(key).map(|text| Text::from(String::from_utf8_lossy(&text).as_ref())).unwrap_or_default();
        Values { data: Data::Texts(groups.keys().map(text).collect()), known }
    });
    let number = |value: &dyn Fn(&Key, &Sum) -> Option<i64>| {
        let known = groups.iter().map(|(key, sum)| value(key, sum).is_some()).collect();
        let data = groups.iter().map(|(key, sum)| value(key, sum).unwrap_or_default()).collect();
        Values { data: Data::Integers(data), known }
    };
    let numbers = [
        number(&|(_, gpu), _| *gpu),
        number(&|_, sum| Some(sum.rows)),
        number(&|_, sum| Some(sum.timed)),
        number(&|_, sum| Some(sum.duration)),
        number(&|_, sum| Some(sum.min).filter(|_| sum.timed > 0)),
        number(&|_, sum| Some(sum.max).filter(|_| sum.timed > 0)),
    ];
    let of = |kind| move |name: &&str| Field { name: (*name).to_owned(), kind };
    let fields = by.iter().map(of(Type::Text)).chain(NUMBERS.iter().map(of(Type::Integer))).collect();
    Aggregated { name, fields, rows: groups.len(), columns: texts.chain(numbers).collect() }
}

fn text(values: &Values, row: usize) -> Option<&Text> {
    match &values.data {
        Data::Texts(texts) if values.is_known(row) => Some(&texts[row]),
        _ => None,
    }
}
