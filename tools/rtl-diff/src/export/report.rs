//! The report that every format renders.

use cli::Layout;
use cli::color::Paint;
use rtl_analysis::compare::Interval;

use crate::comparison::{Comparison, Row};
use crate::gates::{Gate, Verdict};

/// A comparison with its gates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) gates: &'a [Gate],
    pub(crate) verdict: Verdict,
}

/// How to render a report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RenderOptions {
    /// The number of kernels.
    pub(crate) rows: usize,
    pub(crate) layout: Layout,
    pub(crate) paint: Paint,
}

/// The time per call of one kernel of the candidate.
#[derive(Debug)]
pub(super) struct Benchmark<'a> {
    /// The name, no longer than the service allows and different from all others.
    pub(super) name: String,
    pub(super) row: &'a Row,
    /// The interval of the ratio to the baseline: times the baseline it is one of the candidate.
    pub(super) interval: Option<Interval>,
}

impl<'a> Report<'a> {
    /// The verdict for people.
    pub(super) fn headline(&self) -> &'static str {
        match self.comparison.incomparable {
            Some(_) => "not comparable",
            None if self.gates.is_empty() => "no gate",
            None => self.verdict.label(),
        }
    }

    /// The kernels that fail a gate or that it cannot decide on.
    pub(super) fn rows_of(&self, gate: &'a Gate) -> impl Iterator<Item = &'a Row> {
        gate.rows.iter().map(|&at| &self.comparison.rows[at])
    }

    /// Kernels that would have failed a gate and are allowed to, with the reason.
    pub(super) fn allowed(&self, gate: &'a Gate) -> impl Iterator<Item = (&'a Row, &'a str)> {
        gate.allowed.iter().map(|(at, reason)| (&self.comparison.rows[*at], reason.as_str()))
    }

    /// The kernels of the candidate, for services that follow them over time.
    pub(super) fn benchmarks(&self, longest_name: usize) -> Vec<Benchmark<'a>> {
        let rows = &self.comparison.rows;
        let labels: Vec<String> = rows.iter().map(Row::label).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let names = cli::shorten_distinct(&labels, longest_name);
        let all = rows.iter().zip(names).map(|(row, name)| {
            let interval = row.judgement.interval.filter(|_| row.judgement.baseline.calls > 0);
            Benchmark { name, row, interval }
        });
        all.filter(|benchmark| benchmark.row.judgement.candidate.calls > 0).collect()
    }
}
