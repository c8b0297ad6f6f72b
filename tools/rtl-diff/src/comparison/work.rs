//! The result of a comparison of operators, modules, categories or steps. Field names of serialised types are those of
//! `rtl-diff/1`.

use rtl_analysis::work::WorkKey;
use serde::Serialize;

use super::sides::Sides;

#[derive(Debug, Serialize)]
pub(crate) struct WorkComparison {
    #[serde(skip)]
    pub(crate) key: WorkKey,
    /// True if times are those of one step and not of a whole run.
    pub(crate) is_per_step: bool,
    pub(crate) whole: Option<Whole>,
    /// The terms of the typical runs.
    #[serde(flatten)]
    pub(crate) terms: Option<WorkTerms>,
}

impl WorkComparison {
    pub(crate) fn nouns(&self) -> [&'static str; 2] {
        nouns(self.key)
    }
}

pub(super) fn nouns(key: WorkKey) -> [&'static str; 2] {
    match key {
        WorkKey::Operator => ["operator", "operators"],
        WorkKey::Module => ["module", "modules"],
        WorkKey::Category => ["category", "categories"],
        WorkKey::Step => ["step", "steps"],
    }
}

/// The terms of the wall of a step, or of the whole run where a side has no steps. On each side the items less the overlap
/// plus the idle time are the wall, to the nanosecond.
#[derive(Debug, Serialize)]
pub(crate) struct WorkTerms {
    /// The items are in the order of their names.
    pub(crate) items: Vec<Item>,
    /// The time in which several ops ran at once, for each op but one.
    pub(crate) overlap_ns: Sides<i64>,
    pub(crate) idle_ns: Sides<i64>,
    pub(crate) wall_ns: Sides<i64>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Item {
    pub(crate) name: String,
    /// `None` on a side that lacks the item.
    pub(crate) baseline_ns: Option<i64>,
    pub(crate) candidate_ns: Option<i64>,
}

impl Item {
    pub(crate) fn is_matched(&self) -> bool {
        self.baseline_ns.is_some() && self.candidate_ns.is_some()
    }

    pub(crate) fn change_ns(&self) -> i64 {
        self.candidate_ns.unwrap_or(0).saturating_sub(self.baseline_ns.unwrap_or(0))
    }
}

/// The change of the GPU time of a step.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Whole {
    /// The candidate over the baseline.
    pub(crate) ratio: f64,
    /// The bounds of `ratio`, if anything is known of its uncertainty.
    pub(crate) ci_low: Option<f64>,
    pub(crate) ci_high: Option<f64>,
}
