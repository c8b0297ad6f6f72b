//! The report that every format renders.

use cli::Layout;
use cli::color::Paint;

use crate::comparison::{Comparison, Row, WorkComparison};
use crate::gates::{Gate, Outcome, Rule};

/// A wall that is longer by more than this fraction makes a comparison slower where no kernel is.
pub(super) const LONGER_WALL: f64 = 0.05;

/// A comparison with its gates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Report<'a> {
    pub(crate) comparison: &'a Comparison,
    pub(crate) gates: &'a [Gate<'a>],
    pub(crate) verdict: Outcome,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RenderOptions {
    pub(crate) rows: usize,
    /// True if text has all tables.
    pub(crate) all: bool,
    pub(crate) layout: Layout,
    pub(crate) paint: Paint,
}

impl<'a> Report<'a> {
    /// The noun for `count` rows, such as `kernel` or `kernels`.
    pub(super) fn noun(&self, count: usize) -> &'static str {
        let nouns = self.comparison.work.as_ref().map_or(["kernel", "kernels"], WorkComparison::nouns);
        nouns[usize::from(count != 1)]
    }

    /// The name of a gate for people, with the noun of what is compared.
    pub(super) fn title(&self, rule: Rule) -> String {
        match rule {
            Rule::Kernel => format!("any {}", self.noun(1)),
            Rule::New => format!("new {}", self.noun(2)),
            Rule::Removed => format!("removed {}", self.noun(2)),
            _ => rule.title().to_owned(),
        }
    }

    pub(super) fn first_rows(&self, count: usize) -> &'a [Row] {
        &self.comparison.rows[..count.min(self.comparison.rows.len())]
    }

    /// The kernels of the candidate, for services that follow them over time. The names are different and no longer than
    /// the service allows.
    pub(super) fn benchmarks(&self, longest_name: usize) -> impl Iterator<Item = (String, &'a Row)> {
        let rows = &self.comparison.rows;
        let labels: Vec<String> = rows.iter().map(Row::label).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let names = cli::shorten_distinct(&labels, longest_name);
        names.into_iter().zip(rows).filter(|(_, row)| row.sides.candidate.is_some())
    }
}
