//! Findings together must fit into the wall time: one that does not is a bug, and is left out.

use super::finding::Finding;
use super::inputs::Inputs;

/// Removes findings that cost a GPU more than its wall time and what they have before it, alone or with those before them.
pub(super) fn keep_consistent(inputs: &Inputs<'_>, findings: Vec<Finding>) -> Vec<Finding> {
    let mut left: Vec<i64> = inputs.gpus().iter().map(|gpu| gpu.wall_ns).collect();
    for part in inputs.losses().iter().filter(|part| part.is_before) {
        left[part.gpu] = left[part.gpu].saturating_add_unsigned(part.ns);
    }
    let mut fits = |finding: &Finding| {
        let costs = || left.iter().zip(&finding.by_gpu);
        let fits = costs().all(|(left, cost)| (0..=*left).contains(cost));
        debug_assert!(fits, "{} costs {:?} of {left:?}", finding.id, finding.by_gpu);
        if fits {
            for (left, cost) in left.iter_mut().zip(&finding.by_gpu) {
                *left -= cost;
            }
        }
        fits
    };
    findings.into_iter().filter(|finding| fits(finding)).collect()
}
