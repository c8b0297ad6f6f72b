//! Matches the calls of two sequences of collectives although each may lack some: at its beginning, at its end, and single
//! ones between.
//!
//! From the end of one collective to the end of the next the same time passes on every member, whatever its clock shows. A few
//! consecutive intervals of one sequence are searched in the other; from the places where they fit, both sequences are
//! followed in both directions. What the trace states of a call (its communicator and sequence number, its size) must not
//! contradict. Cost is linear in the number of calls.

use super::anchors::{Intervals, LEAST, WINDOW, numbered, predicted, searched};
use super::follow::followed;
use super::rhythm::{DRIFT, Lag, Rhythm, TOLERANCE_NS, WIDEST_NS, square};
use crate::stats::{median, robust_deviation};

/// How much intervals of two members differ, as a standard deviation in ns: what leaving a collective adds on a loaded
/// node, and far less than two groups that only do the same differ by.
const IN_STEP_NS: f64 = 30_000.0;

/// Two results are as good as each other where their mean squares differ by less than this factor.
const AS_GOOD: f64 = 1.3;

/// Squares in ns² that are no difference.
const NO_DIFFERENCE: f64 = 1e6;

/// With this number of matched calls the difference of two clocks is known.
const TELLING: usize = 10;

/// Calls of two sequences that belong together.
#[derive(Debug, Clone, Default)]
pub(super) struct Fit {
    /// Positions in both, ascending.
    pub(super) pairs: Vec<(u32, u32)>,
    /// The mean square of the differences of intervals in ns², with a penalty for calls between that one of them lacks.
    pub(super) loss: f64,
    /// The calls between the first and the last pair that one of the two lacks.
    lacking: usize,
}

/// Matches `other` with `one`, where they are the same collectives; `known` is the difference of their clocks.
pub(super) fn fit(one: &Rhythm, other: &Rhythm, known: Option<&Lag>) -> Option<Fit> {
    let numbered = numbered(one, other);
    let is_numbered = !numbered.is_empty();
    let intervals = || Intervals::of(one, other);
    let anchors = match known {
        _ if is_numbered => numbered,
        Some(lag) => predicted(one, other, &intervals(), lag),
        None => {
            let intervals = intervals();
            let mut anchors = predicted(one, other, &intervals, &Lag::default());
            anchors.extend(searched(one, other, &intervals));
            anchors
        }
    };
    // How far the difference of the clocks is from what is known; machines without a name may share a clock.
    let expected = known.copied().unwrap_or_default();
    let mut fits: Vec<(f64, Fit)> = Vec::new();
    for (first, second) in anchors {
        if fits.iter().any(|(_, fit)| fit.pairs.binary_search(&(first as u32, second as u32)).is_ok()) {
            continue;
        }
        let lag = lag_at(one, other, (first, second));
        let off = (lag - expected.of(one.ends[first])).abs();
        fits.push((off, Fit::of(one, other, followed(one, other, (first, second), lag))));
    }
    let least = if known.is_some() || is_numbered {
        1
    } else {
        (LEAST + 1).max((one.len().min(other.len()) / 2).min(32))
    };
    fits.retain(|(_, fit)| fit.pairs.len() >= least && fit.is_in_step(one, other, is_numbered));
    chosen(one, other, fits)
}

/// The best result, unless another one is as good.
fn chosen(one: &Rhythm, other: &Rhythm, mut fits: Vec<(f64, Fit)>) -> Option<Fit> {
    let most = fits.iter().map(|(_, fit)| fit.pairs.len()).max()?;
    fits.retain(|(_, fit)| fit.pairs.len() * 2 >= most);
    let least = fits.iter().map(|(_, fit)| fit.loss).fold(f64::INFINITY, f64::min);
    fits.retain(|(_, fit)| fit.loss <= least * AS_GOOD + NO_DIFFERENCE);
    if fits.len() > 1 {
        // Regular calls fit at several places. Where a clock is known, the nearest ones belong together, else those of one
        // position in sequences of one length; else nothing is known.
        let near = fits.iter().map(|(off, _)| *off).fold(f64::INFINITY, f64::min);
        let span = one.ends[one.len() - 1].saturating_sub(one.ends[0]) as f64;
        let is_near = near <= TOLERANCE_NS.min(span / one.len() as f64 / 4.0);
        let is_same = |fit: &Fit| fit.lacking == 0 && fit.pairs.first() == Some(&(0, 0));
        let same_length = one.len() == other.len();
        fits.retain(|(off, fit)| if is_near { *off == near } else { same_length && is_same(fit) });
    }
    fits.into_iter().next().map(|(_, fit)| fit)
}

/// The difference of the clocks at two calls that belong together, by them and the next ones.
fn lag_at(one: &Rhythm, other: &Rhythm, (first, second): (usize, usize)) -> f64 {
    let steps = (one.len() - first).min(other.len() - second).min(WINDOW + 1);
    let lag = |step: usize| other.ends[second + step].saturating_sub(one.ends[first + step]) as f64;
    let own = lag(0);
    let mut lags: Vec<f64> = (0..steps).map(lag).filter(|lag| (lag - own).abs() <= TOLERANCE_NS).collect();
    median(&mut lags)
}

impl Fit {
    fn of(one: &Rhythm, other: &Rhythm, pairs: Vec<(u32, u32)>) -> Self {
        let (Some(&begin), Some(&end)) = (pairs.first(), pairs.last()) else { return Self::default() };
        let within = (end.0 - begin.0 + 1) as usize + (end.1 - begin.1 + 1) as usize;
        let lacking = within - 2 * pairs.len();
        let squares: f64 = pairs
            .windows(2)
            .map(|pair| {
                let step = |ends: &[i64], of: fn(&(u32, u32)) -> u32| {
                    ends[of(&pair[1]) as usize].saturating_sub(ends[of(&pair[0]) as usize]) as f64
                };
                square(step(&one.ends, |pair| pair.0) - step(&other.ends, |pair| pair.1))
            })
            .sum();
        let penalty = lacking as f64 * WIDEST_NS.powi(2) / 4.0;
        let loss = (squares + penalty) / (pairs.len() - 1 + lacking).max(1) as f64;
        Self { pairs, loss, lacking }
    }

    /// Whether the intervals between matched calls agree, and most calls between them are matched.
    fn is_in_step(&self, one: &Rhythm, other: &Rhythm, is_numbered: bool) -> bool {
        if is_numbered {
            return true;
        }
        let lag = |&(first, second): &(u32, u32)| {
            other.ends[second as usize].saturating_sub(one.ends[first as usize]) as f64
        };
        let mut steps: Vec<f64> = self.pairs.windows(2).map(|pair| lag(&pair[1]) - lag(&pair[0])).collect();
        self.lacking <= self.pairs.len() && (steps.is_empty() || robust_deviation(&mut steps) <= IN_STEP_NS)
    }

    /// The difference of the clocks, where enough calls tell it.
    pub(super) fn lag(&self, one: &Rhythm, other: &Rhythm) -> Option<Lag> {
        if self.pairs.len() < TELLING {
            return None;
        }
        let middle = |part: &[(u32, u32)]| {
            let first = one.ends[part[0].0 as usize];
            let mut times: Vec<f64> =
                part.iter().map(|pair| one.ends[pair.0 as usize].saturating_sub(first) as f64).collect();
            let mut lags: Vec<f64> = part
                .iter()
                .map(|pair| other.ends[pair.1 as usize].saturating_sub(one.ends[pair.0 as usize]) as f64)
                .collect();
            (first.saturating_add(median(&mut times) as i64), median(&mut lags))
        };
        let third = self.pairs.len().div_ceil(3);
        let (early, late) = (middle(&self.pairs[..third]), middle(&self.pairs[self.pairs.len() - third..]));
        let apart = late.0.saturating_sub(early.0) as f64;
        let rate = if apart > 0.0 { ((late.1 - early.1) / apart).clamp(-DRIFT, DRIFT) } else { 0.0 };
        Some(Lag { at: early.0, offset: early.1, rate })
    }
}
