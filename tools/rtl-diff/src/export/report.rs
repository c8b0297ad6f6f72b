//! The report that every format renders.

use cli::Layout;
use cli::color::Paint;

use crate::comparison::{Comparison, Row};
use crate::gates::{Gate, Outcome};

/// A comparison with its gates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) gates: &'a [Gate<'a>],
    pub(crate) verdict: Outcome,
}

/// How to render a report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RenderOptions {
    /// The number of kernels.
    pub(crate) rows: usize,
    pub(crate) layout: Layout,
    pub(crate) paint: Paint,
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

    /// At most `count` kernels.
    pub(super) fn first_rows(&self, count: usize) -> &'a [Row] {
        &self.comparison.rows[..count.min(self.comparison.rows.len())]
    }

    /// The kernels of the candidate, for services that follow them over time: names are no longer than the service
    /// allows, and different.
    pub(super) fn benchmarks(&self, longest_name: usize) -> impl Iterator<Item = (String, &'a Row)> {
        let rows = &self.comparison.rows;
        let labels: Vec<String> = rows.iter().map(Row::label).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let names = cli::shorten_distinct(&labels, longest_name);
        names.into_iter().zip(rows).filter(|(_, row)| row.sides.candidate.is_some())
    }
}
