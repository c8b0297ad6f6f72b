//! Decomposes the change of wall between two typical runs into the kernels of the comparison.

use std::collections::BTreeMap;

use rtl_analysis::decomposition::{self, KernelMatch, WallDecomposition};
use rtl_analysis::identity::Matching;
use rtl_analysis::profile::Activity;

use crate::input::Run;

/// The run with the median wall, the lower one of two, so that the terms are those of a run that was recorded.
pub(super) fn typical(runs: &[Run]) -> Option<usize> {
    let mut order: Vec<usize> = (0..runs.len()).collect();
    order.sort_by_key(|&at| (runs[at].wall_ns(), at));
    order.get(runs.len().saturating_sub(1) / 2).copied()
}

/// Decomposes the change from one run to the other; `positions` has for each kernel of a run its position in `matching`.
pub(super) fn decompose(runs: [&Run; 2], positions: [&[usize]; 2], matching: &Matching) -> WallDecomposition {
    let pairs = matching.pairs.iter().map(|pair| {
        let kind = if pair.method.is_guess() { KernelMatch::Renamed } else { KernelMatch::Matched };
        ([Some(pair.baseline), Some(pair.candidate)], kind)
    });
    let removed = matching.removed.iter().map(|&at| ([Some(at), None], KernelMatch::Removed));
    let new = matching.new.iter().map(|&at| ([None, Some(at)], KernelMatch::New));
    let mut numbers = [BTreeMap::new(), BTreeMap::new()];
    for (number, (at, kind)) in pairs.chain(removed).chain(new).enumerate() {
        for (numbers, at) in numbers.iter_mut().zip(at) {
            numbers.extend(at.map(|at| (at, (Activity::Kernel(number), kind))));
        }
    }
    decomposition::decompose(runs.map(|run| &*run.profile.gpus), |side, item| match item {
        Activity::Kernel(kernel) => numbers[side][&positions[side][kernel]],
        Activity::Copies(_) => (item, KernelMatch::Matched),
    })
}
