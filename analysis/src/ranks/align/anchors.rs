//! Calls of two sequences that probably belong together: by sequence number, by the clocks, by a few intervals.

use std::cmp::Ordering;
use std::ops::Range;

use super::rhythm::{Lag, Rhythm, TOLERANCE_NS, WIDEST_COARSE, WIDEST_NS, square};

/// The least number of intervals that tell something.
pub(super) const LEAST: usize = 3;

/// The intervals of a window that are compared at all places of a block: where most of them differ, the window is not there.
const BEGUN: usize = 4;

/// The intervals that are searched together, at most.
pub(super) const WINDOW: usize = 12;

/// The parts of a sequence at which a window is taken, one after the other until one is found.
const PLACES: [f64; 8] = [0.5, 0.25, 0.75, 0.1, 0.9, 0.4, 0.6, 0.0];

/// A window is found where its intervals differ by less on average, in ns.
const FOUND_NS: f64 = 40_000.0;

/// The best places of a window that both sequences are followed from.
const CANDIDATES: usize = 8;

/// A window is searched up to this number of calls before and behind where the sequences would begin, or end, together.
const FARTHEST: usize = 2_000;

/// The places at which the first intervals of a window are compared together, and of how many the compiler finds the least at once.
const BLOCK: usize = 64;
const LANES: usize = 8;

/// The coarse intervals of a window that are compared before. More than a few that are far apart leave no place in most blocks.
const COARSE: usize = 6;

/// Positions of one sequence number in both.
pub(super) fn numbered(one: &Rhythm, other: &Rhythm) -> Vec<(usize, usize)> {
    let first = |rhythm: &Rhythm| rhythm.labels.iter().position(|label| label.number != 0);
    let (Some(first), Some(second)) = (first(one), first(other)) else { return Vec::new() };
    let (mut at, mut beside) = (first, second);
    while at < one.len() && beside < other.len() {
        match one.label(at).compare(other.label(beside)) {
            Some(Ordering::Equal) => return vec![(at, beside)],
            Some(Ordering::Less) => at += 1,
            Some(Ordering::Greater) => beside += 1,
            None if one.label(at).number == 0 => at += 1,
            None => beside += 1,
        }
    }
    Vec::new()
}

/// Positions that belong together where the clocks differ by `lag`, the best of each place.
pub(super) fn predicted(
    one: &Rhythm,
    other: &Rhythm,
    intervals: &Intervals<'_>,
    lag: &Lag,
) -> Vec<(usize, usize)> {
    let within = |call: usize| {
        let at = one.ends[call] as f64 + lag.of(one.ends[call]);
        (at >= other.ends[0] as f64 - TOLERANCE_NS && at <= other.ends[other.len() - 1] as f64 + TOLERANCE_NS)
            .then_some(at)
    };
    if one.len() == 0 || other.len() == 0 {
        return Vec::new();
    }
    // The calls of the first that lie within the second.
    let begin =
        one.ends.partition_point(|&end| end as f64 + lag.of(end) < other.ends[0] as f64 - TOLERANCE_NS);
    let last = other.ends[other.len() - 1] as f64 + TOLERANCE_NS;
    let end = one.ends.partition_point(|&end| end as f64 + lag.of(end) <= last);
    let mut anchors = Vec::new();
    for place in PLACES {
        if begin >= end {
            break;
        }
        let first = begin + ((end - begin - 1) as f64 * place) as usize;
        let Some(at) = within(first) else { continue };
        let nearest = other.ends.partition_point(|&end| (end as f64) < at);
        let near = (nearest.saturating_sub(3)..(nearest + 3).min(other.len()))
            .filter(|&second| (other.ends[second] as f64 - at).abs() <= TOLERANCE_NS)
            .filter(|&second| !one.label(first).contradicts(other.label(second)));
        let loss = |second: usize| {
            let steps = (one.len() - 1 - first).min(other.len() - 1 - second).min(WINDOW);
            let off = (other.ends[second] as f64 - at).powi(2);
            // Of a last call only the difference of the clocks tells something.
            intervals.loss((first, second), steps, f64::INFINITY) / steps.max(1) as f64 + 0.1 * off
        };
        let best = near.map(|second| (loss(second), second)).min_by(|a, b| a.0.total_cmp(&b.0));
        anchors.extend(best.map(|(_, second)| (first, second)));
        if anchors.len() >= 3 {
            break;
        }
    }
    anchors
}

/// Places of `other` at which a few intervals of `one` are found.
pub(super) fn searched(one: &Rhythm, other: &Rhythm, intervals: &Intervals<'_>) -> Vec<(usize, usize)> {
    let shorter = one.len().min(other.len());
    let steps = (shorter / 2).clamp(LEAST, WINDOW);
    if shorter < LEAST + 1 {
        return Vec::new();
    }
    // Intervals that differ by more are no candidate.
    let most = steps as f64 * TOLERANCE_NS.powi(2);
    let mut found: Vec<(f64, (usize, usize))> = Vec::new();
    for place in PLACES {
        let first = ((one.len() - 1 - steps) as f64 * place) as usize;
        let mut best: Vec<(f64, usize)> = Vec::new();
        let from_end = (first + other.len()).saturating_sub(one.len());
        let range = first.min(from_end).saturating_sub(FARTHEST)
            ..(first.max(from_end) + FARTHEST).min(other.len() - steps);
        for block in range.clone().step_by(BLOCK).map(|begin| begin..range.end.min(begin + BLOCK)) {
            let worst =
                |best: &[(f64, usize)]| if best.len() < CANDIDATES { most } else { best[CANDIDATES - 1].0 };
            if !intervals.is_any_near(first, steps, block.clone(), worst(&best)) {
                continue;
            }
            let (least, begun) = intervals.begun(first, steps, block.clone());
            if least >= worst(&best) {
                continue;
            }
            for (second, begun) in block.zip(begun) {
                let worst = worst(&best);
                if begun >= worst {
                    continue;
                }
                let loss = intervals.loss((first, second), steps, worst);
                if loss < worst {
                    best.truncate(CANDIDATES - 1);
                    let at = best.partition_point(|&(known, _)| known <= loss);
                    best.insert(at, (loss, second));
                }
            }
        }
        let least = best.first().map_or(f64::INFINITY, |best| best.0);
        found.extend(best.into_iter().map(|(loss, second)| (loss, (first, second))));
        if least < steps as f64 * FOUND_NS.powi(2) {
            break;
        }
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    found.truncate(CANDIDATES);
    found.into_iter().map(|(_, anchor)| anchor).collect()
}

/// The intervals of two sequences, which a search compares thousands of times.
pub(super) struct Intervals<'a> {
    one: &'a [f64],
    other: &'a [f64],
    coarse: [&'a [u16]; 2],
    /// Statements of the trace on the calls, if it states something of both.
    labels: Option<(&'a Rhythm, &'a Rhythm)>,
}

impl<'a> Intervals<'a> {
    pub(super) fn new(one: &'a Rhythm, other: &'a Rhythm) -> Self {
        let are_stated = !one.labels.is_empty() && !other.labels.is_empty();
        let coarse = [one.coarse_steps(), other.coarse_steps()];
        let labels = are_stated.then_some((one, other));
        Self { one: one.steps(), other: other.steps(), coarse, labels }
    }

    /// Returns whether [`Self::loss`] can be below `worst` at any of consecutive places of the second sequence. Nothing is
    /// known of fewer than a block.
    fn is_any_near(&self, first: usize, steps: usize, places: Range<usize>, worst: f64) -> bool {
        let compared = steps.min(COARSE);
        let (one, other) = (&self.coarse[0][first..first + compared], self.coarse[1]);
        if places.len() < BLOCK {
            return true;
        }
        let mut near = [0_u16; BLOCK];
        for (own, others) in one.iter().zip(other[places.start..].windows(BLOCK)) {
            let least = own.wrapping_sub(WIDEST_COARSE);
            for (near, other) in near.iter_mut().zip(others) {
                *near += u16::from(other.wrapping_sub(least) <= 2 * WIDEST_COARSE);
            }
        }
        let far = compared - usize::from(near.into_iter().max().unwrap_or(0));
        far as f64 * WIDEST_NS.powi(2) < worst
    }

    /// Lower bounds of [`Self::loss`] at consecutive places of the second sequence, by the first [`BEGUN`] of a number of
    /// intervals, and the least of these: the compiler compares those of several places at once. Nothing is known of a window
    /// that has fewer.
    fn begun(&self, first: usize, steps: usize, places: Range<usize>) -> (f64, [f64; BLOCK]) {
        if steps < BEGUN {
            return (0.0, [0.0; BLOCK]);
        }
        let [one, two, three, four]: [f64; BEGUN] = std::array::from_fn(|step| self.one[first + step]);
        let [ones, twos, threes, fours]: [&[f64]; BEGUN] =
            std::array::from_fn(|step| &self.other[places.start + step..places.end + step]);
        let mut losses = [f64::INFINITY; BLOCK];
        for (loss, (((a, b), c), d)) in losses.iter_mut().zip(ones.iter().zip(twos).zip(threes).zip(fours)) {
            *loss = square(one - a) + square(two - b) + square(three - c) + square(four - d);
        }
        let mut least = [f64::INFINITY; LANES];
        for losses in losses.as_chunks::<LANES>().0 {
            least
                .iter_mut()
                .zip(losses)
                .for_each(|(least, &loss)| *least = if loss < *least { loss } else { *least });
        }
        (least.into_iter().fold(f64::INFINITY, f64::min), losses)
    }

    /// The squares of the differences of this number of consecutive intervals in ns²; at least `worst` where it is no less.
    fn loss(&self, (first, second): (usize, usize), steps: usize, worst: f64) -> f64 {
        let pairs = self.one[first..first + steps].iter().zip(&self.other[second..second + steps]);
        let mut loss = 0.0;
        for (step, (one, other)) in pairs.enumerate() {
            let contradicts = self
                .labels
                .is_some_and(|(one, other)| one.label(first + step).contradicts(other.label(second + step)));
            loss += if contradicts { WIDEST_NS.powi(2) } else { square(one - other) };
            if loss >= worst {
                break;
            }
        }
        loss
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rhythm(steps: impl IntoIterator<Item = i64>) -> Rhythm {
        let ends = steps.into_iter().scan(0, |end, step| {
            *end += step;
            Some(*end)
        });
        Rhythm::new(std::iter::once(0).chain(ends).collect(), Vec::new())
    }

    /// Intervals of a window of the longest kind.
    fn steps() -> impl Strategy<Value = Vec<i64>> {
        let step = prop_oneof![0_i64..100_000, 1_000_000_i64..1_500_000, 0_i64..2_000_000_000];
        prop::collection::vec(step, WINDOW)
    }

    /// Differences between intervals of a block and a window: often as large as counts.
    fn differences() -> impl Strategy<Value = Vec<i64>> {
        let widest = WIDEST_NS as i64;
        let difference =
            prop_oneof![Just(1 - widest), Just(widest - 1), -250_000_i64..250_000, -9_000_000_i64..9_000_000];
        prop::collection::vec(difference, BLOCK + WINDOW)
    }

    proptest! {
        #[test]
        fn a_block_with_a_place_that_fits_better_is_never_ruled_out(
            steps in steps(),
            differences in differences(),
            compared in 1..=WINDOW,
        ) {
            let one = rhythm(steps.iter().copied());
            let differing = steps.iter().cycle().zip(differences).map(|(step, difference)| (step + difference).max(0));
            let other = rhythm(differing);
            let intervals = Intervals::new(&one, &other);
            for first in 0..=WINDOW - compared {
                let loss = |second| intervals.loss((first, second), compared, f64::INFINITY);
                let least = (0..BLOCK).map(loss).fold(f64::INFINITY, f64::min);
                prop_assert!(intervals.is_any_near(first, compared, 0..BLOCK, least + 1.0));
            }
        }
    }

    #[test]
    fn a_block_without_a_near_interval_is_ruled_out() {
        let (one, other) = (rhythm([10_000_000; WINDOW]), rhythm([20_000_000; BLOCK + WINDOW]));
        let intervals = Intervals::new(&one, &other);
        let is_any_near = |far: f64| intervals.is_any_near(0, WINDOW, 0..BLOCK, far * WIDEST_NS.powi(2));
        assert_eq!([3.0, 6.0, 6.5].map(is_any_near), [false, false, true]);
    }
}
