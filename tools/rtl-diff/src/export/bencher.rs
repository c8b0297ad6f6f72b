//! Bencher Metric Format: the candidate's kernels, so that bencher.dev can follow them over time. The measure `latency` is
//! in nanoseconds; a name may have 1,024 characters.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::json;
use super::report::Report;
use crate::comparison::Row;

const MAX_NAME: usize = 1_024;

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

pub(super) fn render(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let measures = |(name, row): (String, &Row)| {
        let [before, after] = row.sides().map(|side| side.trimmed_mean_ns);
        // Bounds of the ratio times the baseline are bounds of the candidate.
        let latency = Metric {
            value: after,
            lower_value: row.ci_low.map(|low| before * low),
            upper_value: row.ci_high.map(|high| before * high),
        };
        (name, Measures { latency })
    };
    let benchmarks: BTreeMap<_, _> = report.benchmarks(MAX_NAME).map(measures).collect();
    json::write(&benchmarks, out)
}
