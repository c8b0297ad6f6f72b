//! Follows two sequences of collectives from a pair of calls that belong together, past calls that one of them lacks.

use std::cmp::Ordering;

use super::rhythm::{DRIFT, Rhythm, TOLERANCE_NS, square};

/// The cost at which a match is given up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// The sum of the squares of differences of intervals in ns².
    pub(super) squares: f64,
    /// Cost of each call between matched ones that one of the sequences lacks.
    pub(super) lacking: f64,
}

impl Limit {
    pub(super) const NONE: Self = Self { squares: f64::INFINITY, lacking: 0.0 };
}

/// Matches the calls before and behind a pair of them, where the clocks differ by `lag` ns. The result is positions in both, if they
/// stay within the limit.
pub(super) fn followed(
    one: &Rhythm,
    other: &Rhythm,
    (first, second): (usize, usize),
    lag: f64,
    mut limit: Limit,
) -> Option<Vec<(u32, u32)>> {
    let side = |rhythm: &Rhythm, at: isize, by: isize| Side { at, by, len: rhythm.len() as isize };
    let (at, beside) = (first as isize, second as isize);
    let mut pairs = Vec::new();
    let before = (side(one, at - 1, -1), side(other, beside - 1, -1));
    let is_within = follow(one, other, before, lag, &mut limit, &mut pairs);
    pairs.reverse();
    let behind = (side(one, at, 1), side(other, beside, 1));
    (is_within && follow(one, other, behind, lag, &mut limit, &mut pairs)).then_some(pairs)
}

/// A position in a sequence that moves forth or back.
#[derive(Clone, Copy)]
struct Side {
    at: isize,
    by: isize,
    len: isize,
}

impl Side {
    /// The position a number of calls on, if it is one.
    fn ahead(self, calls: isize) -> Option<usize> {
        let at = self.at + self.by * calls;
        (0..self.len).contains(&at).then_some(at as usize)
    }

    fn pass(&mut self) {
        self.at += self.by;
    }
}

/// Adds the pairs of one direction, and says whether they are within the limit.
fn follow(
    one: &Rhythm,
    other: &Rhythm,
    (mut first, mut second): (Side, Side),
    mut lag: f64,
    limit: &mut Limit,
    pairs: &mut Vec<(u32, u32)>,
) -> bool {
    let direction = first.by as f64;
    let mut last = first.ahead(0).map(|at| one.ends[at]);
    let begin = pairs.len();
    while let (Some(here), Some(there)) = (first.ahead(0), second.ahead(0)) {
        let off = |skip: isize, beside: isize, on: isize| {
            let (here, there) = (first.ahead(skip + on)?, second.ahead(beside + on)?);
            Some(other.ends[there].saturating_sub(one.ends[here]) as f64 - lag)
        };
        let (label, beside) = (one.label(here), other.label(there));
        let miss = off(0, 0, 0).unwrap_or(0.0);
        let elapsed = last.map_or(0.0, |last| one.ends[here].saturating_sub(last).unsigned_abs() as f64);
        let is_match = match label.compare(beside) {
            Some(Ordering::Equal) => true,
            Some(order) => {
                // The one with the number that comes first in this direction has no partner.
                match (order == Ordering::Less) == (direction > 0.0) {
                    true => first.pass(),
                    false => second.pass(),
                }
                continue;
            }
            None => !label.contradicts(beside) && miss.abs() <= TOLERANCE_NS + DRIFT * elapsed,
        };
        if !is_match {
            match miss * direction > 0.0 {
                true => first.pass(),
                false => second.pass(),
            }
            continue;
        }
        // Dense calls may be within the tolerance of the wrong ones: what follows says which.
        if label.compare(beside).is_none() && miss.abs() > 0.25 * nearest_step(one, other, (first, second)) {
            let sum = |skip: isize, beside: isize| -> f64 {
                (0..4).map(|on| off(skip, beside, on).map_or(miss.powi(2), square)).sum()
            };
            let (both, without_first, without_second) = (sum(0, 0), sum(1, 0), sum(0, 1));
            if without_first.min(without_second) < 0.5 * both {
                match without_first <= without_second {
                    true => first.pass(),
                    false => second.pass(),
                }
                continue;
            }
        }
        if let Some(&(before, beside)) = pairs[begin..].last() {
            let (before, beside) = (before as usize, beside as usize);
            let step = |ends: &[i64], at: usize, last: usize| ends[at].abs_diff(ends[last]) as f64;
            let lacking = (here.abs_diff(before) + there.abs_diff(beside) - 2) as f64;
            limit.squares -= square(step(&one.ends, here, before) - step(&other.ends, there, beside));
            limit.squares -= lacking * limit.lacking;
            if limit.squares < 0.0 {
                return false;
            }
        }
        pairs.push((here as u32, there as u32));
        // Clocks drift: the longer ago, the more the last end tells of the difference.
        lag += miss * (0.1 + elapsed * 1e-9).min(0.5);
        last = Some(one.ends[here]);
        first.pass();
        second.pass();
    }
    true
}

/// The shorter of the two next intervals in ns.
fn nearest_step(one: &Rhythm, other: &Rhythm, (first, second): (Side, Side)) -> f64 {
    let step = |rhythm: &Rhythm, side: Side| {
        let (Some(at), Some(next)) = (side.ahead(0), side.ahead(1)) else { return f64::INFINITY };
        rhythm.ends[next].abs_diff(rhythm.ends[at]) as f64
    };
    step(one, first).min(step(other, second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rhythm(ends: impl Iterator<Item = i64>) -> Rhythm {
        Rhythm::new(ends.collect(), Vec::new())
    }

    #[test]
    fn a_match_is_given_up_where_it_costs_more_than_its_limit() {
        // Intervals of 1 ms that differ by 2 us; the second sequence lacks a call.
        let one = rhythm((0..100).map(|call| call * 1_000_000));
        let other = (0..100).filter(|&call| call != 60).map(|call| call * 1_000_000 + call % 2 * 2_000);
        let other = rhythm(other);
        let with = |squares, lacking| {
            let pairs = followed(&one, &other, (20, 20), 0.0, Limit { squares, lacking });
            pairs.map(|pairs| pairs.len())
        };
        let all = followed(&one, &other, (20, 20), 0.0, Limit::NONE);
        assert_eq!(all.map(|pairs| pairs.len()), Some(99));
        // Of 98 intervals that at the anchor is not counted, and that over the missing call is the same in both.
        let squares = 96.0 * 2_000.0 * 2_000.0;
        assert_eq!([with(squares, 0.0), with(squares - 1.0, 0.0)], [Some(99), None]);
        assert_eq!([with(squares + 5.0, 5.0), with(squares + 5.0, 6.0)], [Some(99), None]);
    }
}
