//! Kernels that run in several launch shapes, compared like with like: [`analysis::compare::mix`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use analysis::compare::mix::{self, Calls, Mix};
use analysis::identity::Matching;
use analysis::profile::{self, Kernel};

use super::join::Joined;
use crate::input::Run;

/// Brings the runs of every pair to equal mix, where the shapes of all calls on both sides are known.
pub(super) fn level(joined: &mut Joined, matching: &Matching, sides: [&[Run]; 2]) {
    let kernels = [0, 1].map(|side| by_position(joined, side, sides[side]));
    let [baseline, candidate] = &mut joined.runs;
    for pair in &matching.pairs {
        let both = [&kernels[0][pair.baseline][..], &kernels[1][pair.candidate]];
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
                .map(|kernel| kernel.map_or_else(Cow::default, |kernel| numbers(kernel, &words)))
                .collect::<Vec<_>>()
        });
        let [before, after] = [0, 1].map(|side| mixes(both[side], &shapes[side]));
        mix::bring([&mut baseline[pair.baseline], &mut candidate[pair.candidate]], [&before, &after]);
    }
}

/// The kernel of each position of a side in each run, `None` where it did not run.
fn by_position<'a>(joined: &Joined, side: usize, runs: &'a [Run]) -> Vec<Vec<Option<&'a Kernel>>> {
    let mut all = vec![vec![None; runs.len()]; joined.subjects[side].len()];
    for (at, (run, places)) in runs.iter().zip(&joined.of_run[side]).enumerate() {
        for (kernel, &place) in run.profile.kernels.iter().zip(places) {
            all[place][at] = Some(kernel);
        }
    }
    all
}

/// The launch shapes of all calls by numbers that mean the same in every run; of one where all calls are alike.
fn numbers<'a>(kernel: &'a Kernel, words: &[&str]) -> Cow<'a, [u32]> {
    let calls = match &kernel.mix {
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

fn mixes<'a>(kernels: &[Option<&'a Kernel>], shapes: &'a [Cow<'a, [u32]>]) -> Vec<Mix<'a>> {
    let mix = |(kernel, shapes): (&Option<&'a Kernel>, &'a Cow<'a, [u32]>)| match kernel
        .map(|kernel| &kernel.mix)
    {
        None | Some(profile::Mix::Unknown) => Mix::Unknown,
        Some(profile::Mix::One) => shapes.first().map_or(Mix::Unknown, |&shape| Mix::One(shape)),
        Some(profile::Mix::Several(calls)) => Mix::Several(Calls { durations: &calls.durations, shapes }),
    };
    kernels.iter().zip(shapes).map(mix).collect()
}
