//! A step that takes much longer than the others while the GPU waits.

use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use super::place::Part;
use super::rhythm::label;
use crate::idle::LossKind;

/// A slow step takes at least this many times the median.
const MUCH: f64 = 1.25;

/// The excess is at least this part of the wall time, and this part of it is idle time beyond that of other steps.
const NEWS: f64 = 0.03;
const IDLE: f64 = 0.5;

/// Fewer steps show no usual one.
const ENOUGH: usize = 4;

/// One step that is much longer than the others. The first one is left out: it has the start of the recording.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SlowStep {
    /// The label of that step, such as `ProfilerStep#9`.
    pub label: String,
    /// The time that it takes in ns.
    pub ns: i64,
    /// The median of the others but the first in ns.
    pub usual_ns: i64,
}

impl SlowStep {
    pub(super) fn of(inputs: &Inputs<'_>) -> Option<Self> {
        let tables = inputs.analysis.tables;
        let [process] = inputs.analysis.processes()[..] else { return None };
        let steps = inputs.analysis.steps().filter(|steps| steps.are_steps(tables))?;
        let spans = (1..steps.count(process)).filter_map(|step| Some((step, steps.span(process, step)?)));
        let mut lengths: Vec<(i64, usize)> =
            spans.map(|(step, (start, end))| (end.saturating_sub(start), step)).collect();
        if lengths.len() < ENOUGH {
            return None;
        }
        lengths.sort_unstable();
        let (ns, slow) = lengths.pop()?;
        let (usual_ns, second) = (lengths[lengths.len() / 2].0, lengths.last()?.0);
        let excess = ns.saturating_sub(usual_ns);
        let wall = inputs.gpus().iter().map(|gpu| gpu.wall_ns).max()?;
        let is_much = ns as f64 >= MUCH * usual_ns as f64 && excess as f64 >= NEWS * wall as f64;
        if !is_much || second.saturating_sub(usual_ns) > excess / 2 {
            return None;
        }
        // A host that is ahead waits in some step for a GPU that works.
        let mut idle = vec![0_u64; steps.count(process)];
        let of_first = |part: &&Part<'_>| part.gpu == 0 && part.loss.kind != LossKind::Pace;
        let losses = inputs.losses().iter().filter(of_first);
        let long = losses.flat_map(|part| &part.loss.moments).map(|moment| (moment.start, moment.ns));
        let short = inputs.idle().first()?.losses.pace().iter().copied().filter(|(_, ns)| *ns > 0);
        for (start, ns) in long.chain(short) {
            if let Some(step) = steps.of_moment(process, start) {
                idle[step] += ns;
            }
        }
        let of_slow = idle[slow];
        idle.sort_unstable();
        let beyond = of_slow.saturating_sub(idle[idle.len() / 2]);
        let found = Self { label: label(tables, steps, slow), ns, usual_ns };
        (beyond as f64 >= IDLE * excess as f64).then_some(found)
    }
}
