use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use crate::trust::Evidence;

/// How many places a finding names.
pub(super) const PLACES: usize = 3;

/// Where GPU time is lost, and why.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Finding {
    /// The stable name of the rule.
    pub id: String,
    /// States what is lost where, with its numbers.
    pub sentence: String,
    /// How much shorter a GPU's wall time would be without the cause, in ns: the mean of all GPUs.
    pub cost_ns: i64,
    /// `cost_ns` as a part of the mean wall time of the GPUs, 0 to 1.
    pub share: f64,
    /// The numbers of the GPUs concerned, ascending; empty for all.
    pub gpus: Vec<i64>,
    /// The ranks concerned, ascending; empty for all.
    pub ranks: Vec<u32>,
    /// The first or largest places.
    pub evidence: Vec<Evidence>,
    /// A command that shows more; `TRACE` stands for the traces.
    pub look: String,
    /// The change that usually helps.
    pub help: String,
}

impl Finding {
    /// A finding that costs the GPUs `total_ns` together. The rule states the rest.
    pub(super) fn new(id: &str, inputs: &Inputs<'_>, total_ns: i64) -> Self {
        let gpus = inputs.gpus().len().max(1) as i64;
        let (total, wall) = (total_ns.max(0), inputs.wall_ns());
        let share = if wall == 0 { 0.0 } else { total as f64 / wall as f64 };
        Self { id: id.to_owned(), cost_ns: total / gpus, share, ..Self::default() }
    }
}
