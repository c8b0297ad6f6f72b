//! The part of intervals that nothing covers.

/// Intervals, and the length of the part of them that no op covers; ops come in order of start.
#[derive(Debug, Default)]
pub(crate) struct Uncovered {
    /// Disjoint, in order of start.
    intervals: Vec<(i64, i64)>,
    /// The first that does not lie before `until`.
    next: usize,
    until: i64,
    length: i64,
}

impl Uncovered {
    pub(crate) fn of(mut intervals: Vec<(i64, i64)>) -> Self {
        intervals.sort_unstable();
        intervals.dedup_by(|next, last| {
            let touches = next.0 <= last.1;
            if touches {
                last.1 = last.1.max(next.1);
            }
            touches
        });
        Self { intervals, next: 0, until: i64::MIN, length: 0 }
    }

    #[inline]
    pub(crate) fn add(&mut self, start: i64, end: i64) {
        // Behind the last interval nothing matters.
        if self.next < self.intervals.len() {
            self.uncovered_to(start);
            self.until = self.until.max(end);
        }
    }

    /// Nothing covers the time from `until` to this moment.
    fn uncovered_to(&mut self, moment: i64) {
        while let Some(&(start, end)) = self.intervals.get(self.next) {
            if start >= moment {
                break;
            }
            let (from, to) = (start.max(self.until), end.min(moment));
            self.length = self.length.saturating_add(to.saturating_sub(from).max(0));
            if end > moment {
                break;
            }
            self.next += 1;
        }
        self.until = self.until.max(moment);
    }

    /// The length in ns.
    pub(crate) fn finish(mut self) -> i64 {
        self.uncovered_to(i64::MAX);
        self.length
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_moment_of_an_interval_without_an_op_counts_once(
            intervals in prop::collection::vec((0_i64..60, 0_i64..20), 0..8),
            mut ops in prop::collection::vec((0_i64..80, 0_i64..20), 0..8),
        ) {
            let lies_in = |all: &[(i64, i64)], moment| {
                all.iter().any(|&(start, length)| start <= moment && moment < start + length)
            };
            let expected =
                (0..100).filter(|&moment| lies_in(&intervals, moment) && !lies_in(&ops, moment)).count();
            ops.sort_unstable();
            let mut uncovered =
                Uncovered::of(intervals.iter().map(|&(start, length)| (start, start + length)).collect());
            ops.iter().for_each(|&(start, length)| uncovered.add(start, start + length));
            prop_assert_eq!(uncovered.finish(), expected as i64);
        }
    }
}
