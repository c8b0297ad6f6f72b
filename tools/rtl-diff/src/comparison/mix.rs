//! Compares kernels of several launch shapes at equal mix of the shapes: [`rtl_analysis::compare::mix`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use rtl_analysis::compare::mix::{self, Calls, Mix};
use rtl_analysis::identity::Matching;
use rtl_analysis::profile::{self, Kernel};

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
        let shapes = both.map(|side| {
            side.iter()
                .map(|kernel| {
                    kernel.map_or_else(Cow::default, |kernel| numbers(kernel, mix_of(kernel), &words))
                })
                .collect::<Vec<_>>()
        });
        let [before, after] = [0, 1].map(|side| {
            mixes(&both[side].iter().map(|kernel| kernel.map(mix_of)).collect::<Vec<_>>(), &shapes[side])
        });
        mix::normalise([&mut baseline[pair.baseline], &mut candidate[pair.candidate]], [&before, &after]);
    }
}

/// The launch shapes of all calls by numbers that mean the same in every run; of one where all calls are alike.
fn numbers<'a>(kernel: &Kernel, mix: &'a profile::Mix, words: &[&str]) -> Cow<'a, [u32]> {
    let calls = match mix {
        profile::Mix::Unknown => return Cow::default(),
        profile::Mix::One => &[0][..],
        profile::Mix::Several(calls) => &calls.shapes,
    };
    if kernel.shapes.len() == words.len() {
        return Cow::Borrowed(calls);
    }
    let number = |word: &String| words.partition_point(|&other| other < word.as_str()) as u32;
    let numbers: Vec<u32> = kernel.shapes.iter().map(number).collect();
    calls.iter().map(|&shape| numbers[shape as usize]).collect()
}

fn mixes<'a>(mixes: &[Option<&'a profile::Mix>], shapes: &'a [Cow<'a, [u32]>]) -> Vec<Mix<'a>> {
    let mix = |(mix, shapes): (&Option<&'a profile::Mix>, &'a Cow<'a, [u32]>)| match mix {
        None | Some(profile::Mix::Unknown) => Mix::Unknown,
        Some(profile::Mix::One) => shapes.first().map_or(Mix::Unknown, |&shape| Mix::One(shape)),
        Some(profile::Mix::Several(calls)) => Mix::Several(Calls { durations: &calls.durations, shapes }),
    };
    mixes.iter().zip(shapes).map(mix).collect()
}
