//! Input of github-action-benchmark (`customSmallerIsBetter`): name, unit and value of each of the candidate's kernels.

use std::io::{self, Write};

use serde::Serialize;

use super::json;
use super::report::Report;
use crate::comparison::Row;

/// Longer names make the charts unreadable.
const MAX_NAME: usize = 200;

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let entry = |(name, row): (String, &Row)| {
        let [before, after] = row.sides();
        let interval = row.ci_low.zip(row.ci_high);
        let half = interval.map(|(low, high)| before.trimmed_mean_ns * (high - low) / 2.0);
        Entry {
            name,
            unit: "ns",
            value: after.trimmed_mean_ns,
            range: half.map(|half| format!("± {}", half.round())),
            extra: format!("{}, {} calls in {} runs", row.change.label(), after.calls, after.runs),
        }
    };
    let entries: Vec<Entry> = report.benchmarks(MAX_NAME).map(entry).collect();
    json::write(&entries, out)
}
