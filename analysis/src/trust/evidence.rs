use rtl_schema::{NameId, Tables};
use serde::{Deserialize, Serialize};

use crate::gpu_time::sweep::{Example, SuspiciousRows};

/// How many places a reason names.
pub(super) const PLACES: usize = 3;

/// A place in a trace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// The name of the call, range or kernel.
    pub name: String,
    /// Start in ns.
    pub start_ns: i64,
    /// End in ns, if known.
    pub end_ns: Option<i64>,
    /// Correlation id, which leads to its row; 0 where it has none.
    pub correlation: i64,
}

/// The first calls by start, of these rows.
pub(super) fn calls(tables: &Tables, rows: impl Iterator<Item = u32>) -> Vec<Evidence> {
    let calls = &tables.api_calls;
    let mut found: Vec<(i64, i64, u32)> =
        rows.map(|row| (calls.start[row as usize], calls.correlation.get(row as usize), row)).collect();
    found.sort_unstable();
    let place = |&(start_ns, correlation, row): &(i64, i64, u32)| {
        let row = row as usize;
        let end_ns = calls.duration.valid(row).map(|length| start_ns.saturating_add(length));
        Evidence { name: name(tables, calls.name[row]), start_ns, end_ns, correlation }
    };
    found.iter().take(PLACES).map(place).collect()
}

fn name(tables: &Tables, name: NameId) -> String {
    tables.strings.get(name).to_owned()
}

/// The first suspicious rows.
pub(super) fn rows(rows: &SuspiciousRows) -> Vec<Evidence> {
    let place =
        |row: &Example| Evidence { name: row.name.clone(), start_ns: row.start_ns, ..Evidence::default() };
    rows.examples.iter().take(PLACES).map(place).collect()
}
