//! Compares kernels of several launch shapes at equal mix of the shapes: [`rtl_analysis::compare::mix`].

use std::collections::BTreeSet;

use rtl_analysis::compare::mix::{self, Mix, NumberedMix};
use rtl_analysis::identity::Matching;
use rtl_analysis::profile::Kernel;

use super::join::JoinedSide;

/// Brings the runs of every pair to equal mix, where the shapes of all calls on both sides are known.
pub(super) fn equalize<'a>([baseline, candidate]: &mut [JoinedSide<'a>; 2], matching: &Matching) {
    for pair in &matching.pairs {
        let both = [&mut baseline.kernels[pair.baseline], &mut candidate.kernels[pair.candidate]];
        let transfer = both[0].waits.is_some();
        let mix_of = |kernel: &'a Kernel| match &kernel.waiting {
            Some(waiting) if transfer => &waiting.mix,
            _ => &kernel.mix,
        };
        let kernels = both.iter().flat_map(|kernel| kernel.in_runs.iter().flatten());
        let words: BTreeSet<&str> = kernels.flat_map(|kernel| &kernel.shapes).map(String::as_str).collect();
        if words.len() < 2 {
            continue;
        }
        let words: Vec<&str> = words.into_iter().collect();
        let number = |shape: &String| words.partition_point(|&other| other < shape.as_str()) as u32;
        let numbered = |kernel: &Option<&'a Kernel>| match kernel {
            Some(kernel) => {
                NumberedMix { mix: mix_of(kernel), numbers: kernel.shapes.iter().map(number).collect() }
            }
            None => NumberedMix { mix: &Mix::Unknown, numbers: Vec::new() },
        };
        let [before, after] =
            both.each_ref().map(|side| side.in_runs.iter().map(numbered).collect::<Vec<_>>());
        let [baseline, candidate] = both;
        mix::normalise([&mut baseline.runs, &mut candidate.runs], [&before, &after]);
    }
}
