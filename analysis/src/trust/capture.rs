//! A trace of the capture of graphs, taken for the run: most launches only build a graph, which is never launched.

use super::evidence;
use super::launched::Launched;
use super::reason::{Reason, Trust};

/// From this part of captured launches.
const MOST: f64 = 0.5;

pub(super) fn reason(launched: &Launched<'_>) -> Option<Reason> {
    if !launched.graphs.is_empty() || launched.captured.is_empty() {
        return None;
    }
    let count = launched.captured.len() as u64;
    let of = count + launched.kernels.len() as u64;
    let sentence = format!("{count} of {of} kernel launches only build graphs, and no graph is launched");
    let evidence = evidence::calls(launched.tables, launched.captured.iter().copied());
    let reason = Reason { evidence, trust: Trust::Bad, ..Reason::new("capture-only", count, of, sentence) };
    Some(reason.remark_below(MOST))
}
