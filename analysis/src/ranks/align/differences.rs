//! The differences of the clocks of ranks, as far as common collectives tell them.

use super::rhythm::Lag;

#[derive(Debug, Clone, Default)]
pub(super) struct Differences {
    /// The rank that a clock is related to, and what must be added to have its time; itself at first.
    of: Vec<(usize, Lag)>,
    /// Indexed by rank: those whose clocks are related to its clock, itself at first.
    members: Vec<Vec<usize>>,
    related: usize,
}

impl Differences {
    pub(super) fn new(ranks: usize) -> Self {
        let of = (0..ranks).map(|rank| (rank, Lag::default())).collect();
        Self { of, members: (0..ranks).map(|rank| vec![rank]).collect(), related: 0 }
    }

    /// How often two clocks were related that were not before: where it is the same, nothing has changed.
    pub(super) fn related(&self) -> usize {
        self.related
    }

    /// The ranks whose clocks are related to that of a rank, itself among them.
    pub(super) fn related_to(&self, rank: usize) -> &[usize] {
        &self.members[self.of[rank].0]
    }

    /// Returns what must be added to the time of `one` to have that of `other`.
    pub(super) fn between(&self, one: usize, other: usize) -> Option<Lag> {
        let (from, to) = (self.of[one], self.of[other]);
        (from.0 == to.0).then(|| joined(from.1, inverse(to.1)))
    }

    /// Takes down a difference; the first one of two ranks stays.
    pub(super) fn relate(&mut self, one: usize, other: usize, lag: Lag) {
        let (root, from) = self.of[one];
        let (moved, to) = self.of[other];
        if root == moved {
            return;
        }
        self.related += 1;
        // From the root of `other` to `other`, to `one`, to its root.
        let change = joined(joined(inverse(to), inverse(lag)), from);
        for rank in std::mem::take(&mut self.members[moved]) {
            let (of, own) = &mut self.of[rank];
            (*of, *own) = (root, joined(*own, change));
            self.members[root].push(rank);
        }
    }
}

/// From the clock that `lag` leads to back to the one it comes from.
fn inverse(lag: Lag) -> Lag {
    let at = lag.at.saturating_add(lag.offset as i64);
    Lag { at, offset: -lag.offset, rate: -lag.rate / (1.0 + lag.rate) }
}

fn joined(first: Lag, second: Lag) -> Lag {
    // Rates hold near the times that they come from only: a constant has none.
    let at = match first.rate == 0.0 {
        true => second.at.saturating_sub(first.offset as i64),
        false => first.at,
    };
    let between = at.saturating_add(first.of(at) as i64);
    let rate = first.rate + second.rate * (1.0 + first.rate);
    Lag { at, offset: first.of(at) + second.of(between), rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_related_over_others() {
        let lag = |offset: f64| Lag { at: 1_000, offset, rate: 0.0 };
        let mut differences = Differences::new(5);
        differences.relate(0, 1, lag(100.0));
        differences.relate(2, 3, lag(7.0));
        assert_eq!(differences.between(1, 3), None);
        differences.relate(1, 3, lag(30.0));
        let between = |one, other| differences.between(one, other).map(|lag| lag.of(5_000));
        assert_eq!(between(0, 3), Some(130.0));
        assert_eq!((between(2, 0), between(3, 2)), (Some(-123.0), Some(-7.0)));
        assert_eq!((between(0, 0), between(0, 4)), (Some(0.0), None));
    }

    #[test]
    fn a_drift_is_followed_near_the_times_that_it_comes_from() {
        const NOW: i64 = 1_795_338_450_000_000_000;
        let mut differences = Differences::new(3);
        differences.relate(0, 1, Lag { at: NOW, offset: 3e9, rate: 4e-5 });
        differences.relate(2, 1, Lag { at: NOW + 1_000, offset: -7e12, rate: 1e-5 });
        for (one, other, expected) in
            [(0, 1, 3e9 + 4e4), (2, 1, -7e12 + 1e4), (1, 0, -3e9 + 1.2e5 - 4e4), (0, 2, 7e12 + 3e9)]
        {
            let found = differences.between(one, other).map(|lag| lag.of(NOW + 1_000_000_000));
            let near = found.is_some_and(|found| (found - expected).abs() < 1e-4 * (7e12_f64 + 3e9));
            assert!(near, "{one} {other}: {found:?}");
        }
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            let to = differences.between(one, other).unwrap_or_default().of(NOW);
            let back = differences.between(other, one).unwrap_or_default().of(NOW + to as i64);
            assert!((to + back).abs() < 10.0, "{one} {other}: {to} {back}");
        }
    }
}
