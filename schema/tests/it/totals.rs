//! Totals by table and name, of this reader and of Python's.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use rtl_schema::{NameId, Tables};
use support::{Need, skipped};

/// By table and name: rows, sum of durations, first start, sum of the table's other figure.
pub(crate) type Totals = BTreeMap<(String, String), (i64, i64, i64, i64)>;

fn add(totals: &mut Totals, table: &str, name: &str, row: (i64, Option<i64>, i64)) {
    let (start, duration, figure) = row;
    let total = totals.entry((table.to_owned(), name.to_owned())).or_insert((0, 0, i64::MAX, 0));
    *total = (total.0 + 1, total.1 + duration.unwrap_or(0), total.2.min(start), total.3 + figure);
}

pub(crate) fn totals(tables: &Tables) -> Totals {
    let mut totals = Totals::new();
    let name = |id: NameId| tables.strings.get(id);
    for row in tables.dispatches.iter() {
        add(&mut totals, "kernel", name(row.name), (row.start, row.duration, row.correlation));
    }
    for row in &tables.copies {
        let stated = row.bytes.unwrap_or(0) as i64;
        add(&mut totals, "copy", name(row.name), (row.start, row.duration, stated));
    }
    for row in tables.api_calls.iter() {
        add(&mut totals, "call", name(row.name), (row.start, row.duration, row.correlation));
    }
    for row in tables.operators.iter() {
        let sequence = row.sequence.map_or(0, i64::from);
        add(&mut totals, "operator", name(row.name), (row.start, row.duration, sequence));
    }
    for row in &tables.ranges {
        add(&mut totals, "range", name(row.name), (row.start, row.duration, 0));
    }
    for row in &tables.memory_events {
        add(&mut totals, "memory", "[memory]", (row.time, None, row.bytes));
    }
    for row in &tables.spans {
        add(&mut totals, row.kind.label(), name(row.name), (row.start, row.duration, 0));
    }
    totals
}

/// The totals that a script of this folder computes with Python's own readers.
pub(crate) fn by_python(script: &str, files: &[&Path]) -> Option<Totals> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it").join(script);
    let output = match Command::new("python3").arg(script).args(files).output() {
        Ok(output) => output,
        Err(error) => return skipped(Need::Machine, format_args!("no python3 ({error})")),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line| {
        let (table, name, rows, sum, first, figure) = serde_json::from_str(line).unwrap();
        ((table, name), (rows, sum, first, figure))
    };
    Some(text.lines().map(line).collect())
}

/// Every total of the tables is that of the script.
pub(crate) fn agree(tables: &Tables, script: &str, files: &[&Path]) {
    let Some(expected) = by_python(script, files) else { return };
    let read = totals(tables);
    for (key, total) in &expected {
        assert_eq!(read.get(key), Some(total), "{files:?}: {key:?}");
    }
    assert_eq!(read.len(), expected.len(), "{files:?}");
}
