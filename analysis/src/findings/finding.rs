use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use super::words::numbers;
use crate::trust::Evidence;

/// The short report leaves out findings that cost less of the wall time.
pub const WORTH: f64 = 0.03;

/// No report has findings that cost less of the wall time.
pub const LEAST: f64 = 0.01;

/// How many places a finding names.
pub(super) const PLACES: usize = 3;

/// Where GPU time is lost, and why.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Finding {
    /// The stable name of the rule.
    pub id: String,
    /// States what is lost where, with its numbers.
    pub sentence: String,
    /// How much shorter a GPU's wall time would be without the cause, in ns: the mean of the GPUs concerned.
    pub cost_ns: i64,
    /// Part of `cost_ns` that lies in the step with the first op before that op: the wall time of the GPUs does not have it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub before_ns: i64,
    /// `cost_ns` as a part of the mean wall time of these GPUs, `before_ns` included, 0 to 1.
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
    /// The time in ns that all GPUs lose together, by which findings are ordered.
    #[serde(skip)]
    pub(super) total_ns: i64,
    /// The time in ns that each GPU loses, by its position.
    #[serde(skip)]
    pub(super) by_gpu: Vec<i64>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
pub(super) fn is_zero(ns: &i64) -> bool {
    *ns == 0
}

impl Finding {
    /// A finding that costs each GPU its time in ns of `by_gpu`. Those that lose at least half as much as the one that loses most are
    /// concerned; the rule states the rest.
    pub(super) fn of_gpus(id: &str, inputs: &Inputs<'_>, by_gpu: Vec<i64>) -> Self {
        Self::of_gpus_and(id, inputs, by_gpu, &[])
    }

    /// As [`Self::of_gpus`]; `before` is the part of the time of each GPU that lies before its first op.
    pub(super) fn of_gpus_and(id: &str, inputs: &Inputs<'_>, by_gpu: Vec<i64>, before: &[i64]) -> Self {
        let most = by_gpu.iter().copied().max().unwrap_or(0);
        let gpus = inputs.gpus();
        let is_concerned = |ns: i64| most > 0 && ns >= most - most / 2;
        let concerned = || gpus.iter().zip(&by_gpu).filter(|(_, ns)| is_concerned(**ns));
        let count = concerned().count();
        let sum = |times: &mut dyn Iterator<Item = i64>| times.fold(0, i64::saturating_add);
        let total = sum(&mut concerned().map(|(_, &ns)| ns));
        let wall = sum(&mut concerned().map(|(gpu, _)| gpu.wall_ns));
        let before = gpus.iter().zip(&by_gpu).zip(before).filter(|((_, ns), _)| is_concerned(**ns));
        let before = sum(&mut before.map(|(_, &ns)| ns));
        let wall = wall.saturating_add(before);
        let numbers = concerned().map(|(gpu, _)| gpu.gpu).collect();
        Self {
            id: id.to_owned(),
            cost_ns: total / count.max(1) as i64,
            before_ns: before / count.max(1) as i64,
            share: if wall == 0 { 0.0 } else { total as f64 / wall as f64 },
            gpus: if count == gpus.len() { Vec::new() } else { numbers },
            total_ns: sum(&mut by_gpu.iter().copied()),
            by_gpu,
            ..Self::default()
        }
    }

    /// The part of the wall time, 0 to 1, that it has within that.
    pub(super) fn share_of_wall(&self) -> f64 {
        let wall = self.cost_ns as f64 / self.share - self.before_ns as f64;
        if self.before_ns == 0 { self.share } else { (self.cost_ns - self.before_ns) as f64 / wall }
    }

    /// How many GPUs are concerned.
    pub(super) fn concerned(&self, inputs: &Inputs<'_>) -> usize {
        if self.gpus.is_empty() { inputs.gpus().len() } else { self.gpus.len() }
    }

    /// ` on GPU 5`, ` on each of GPUs 2, 3`, ` a GPU` where there are several; nothing where there is one.
    pub(super) fn on(&self, inputs: &Inputs<'_>) -> String {
        match &self.gpus[..] {
            [] => inputs.each().to_owned(),
            [gpu] => format!(" on GPU {gpu}"),
            several => match numbers(several) {
                Some(numbers) => format!(" on each of GPUs {numbers}"),
                None => format!(" on each of {} of {} GPUs", several.len(), inputs.gpus().len()),
            },
        }
    }

    /// A finding that costs the GPUs `total_ns` together. The rule states the rest.
    pub(super) fn new(id: &str, inputs: &Inputs<'_>, total_ns: i64) -> Self {
        let gpus = inputs.gpus().len().max(1) as i64;
        let (total, wall) = (total_ns.max(0), inputs.wall_ns());
        let share = if wall == 0 { 0.0 } else { total as f64 / wall as f64 };
        Self { id: id.to_owned(), cost_ns: total / gpus, share, total_ns: total, ..Self::default() }
    }
}
