//! Compares kernels of several launch shapes at equal mix of the shapes: [`rtl_analysis::compare::mix`].

use std::collections::BTreeSet;

use rtl_analysis::compare::mix::{self, Mix, NumberedMix};
use rtl_analysis::identity::Matching;
use rtl_analysis::profile::Kernel;

use super::join::JoinedKernels;
use crate::input::Run;

/// Brings the runs of every pair to equal mix, where the shapes of all calls on both sides are known.
pub(super) fn equalize<'a>(joined: &mut JoinedKernels, matching: &Matching, sides: [&'a [Run]; 2]) {
    let kernels = [0, 1].map(|side| joined.by_position(side, sides[side]));
    let waits = &joined.waits;
    let [baseline, candidate] = &mut joined.runs;
    for pair in &matching.pairs {
        let both = [&kernels[0][pair.baseline][..], &kernels[1][pair.candidate]];
        let transfer = waits[0][pair.baseline].is_some();
        let mix_of = |kernel: &'a Kernel| match &kernel.waiting {
            Some(waiting) if transfer => &waiting.mix,
            _ => &kernel.mix,
        };
        let words: BTreeSet<&str> = both
            .iter()
            .flat_map(|side| side.iter().flatten())
            .flat_map(|kernel| &kernel.shapes)
            .map(String::as_str)
            .collect();
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
        let [before, after] = both.map(|side| side.iter().map(numbered).collect::<Vec<_>>());
        mix::normalise([&mut baseline[pair.baseline], &mut candidate[pair.candidate]], [&before, &after]);
    }
}
