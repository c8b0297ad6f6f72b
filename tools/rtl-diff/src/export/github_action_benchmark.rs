//! What github-action-benchmark reads as `customSmallerIsBetter`: name, unit and value of each of the candidate's kernels.

use std::io::{self, Write};

use serde::Serialize;

use super::Answer;

/// Longer names make its charts unreadable.
const LONGEST: usize = 200;

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

pub(super) fn render(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let names = super::benchmark_names(answer.comparison, LONGEST);
    let mut entries = Vec::new();
    for (row, name) in answer.comparison.rows.iter().zip(names) {
        let [before, after] = row.sides();
        if after.calls == 0 {
            continue;
        }
        let half = row.judgement.interval.filter(|_| before.calls > 0);
        let half = half.map(|interval| before.trimmed_mean_ns * (interval.high - interval.low) / 2.0);
        entries.push(Entry {
            name,
            unit: "ns",
            value: after.trimmed_mean_ns,
            range: half.map(|half| format!("± {}", half.round())),
            extra: format!("{}, {} calls in {} runs", row.change.label(), after.calls, after.runs),
        });
    }
    serde_json::to_writer_pretty(&mut *out, &entries).map_err(io::Error::from)?;
    writeln!(out)
}
