//! Bencher Metric Format: the candidate's kernels, so that bencher.dev can follow them over time. Its measure `latency` is
//! in nanoseconds; a name may have 1,024 characters.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::Answer;

/// The longest name of a benchmark.
const LONGEST: usize = 1_024;

#[derive(Serialize)]
struct Measures {
    latency: Metric,
}

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

pub(super) fn render(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    let names = super::benchmark_names(answer.comparison, LONGEST);
    let mut benchmarks = BTreeMap::new();
    for (row, name) in answer.comparison.rows.iter().zip(names) {
        let [before, after] = row.sides();
        if after.calls == 0 {
            continue;
        }
        // The interval is one of the ratio: around the baseline it is one of the candidate.
        let bound = |ratio: f64| before.trimmed_mean_ns * ratio;
        let interval = row.judgement.interval.filter(|_| before.calls > 0);
        let latency = Metric {
            value: after.trimmed_mean_ns,
            lower_value: interval.map(|interval| bound(interval.low)),
            upper_value: interval.map(|interval| bound(interval.high)),
        };
        benchmarks.insert(name, Measures { latency });
    }
    serde_json::to_writer_pretty(&mut *out, &benchmarks).map_err(io::Error::from)?;
    writeln!(out)
}
