//! The length of a union of intervals that come in any order.

use crate::base::union_length::to_ns;

/// How many parts of the union are kept. Older ones count, but nothing can be added to their time.
const KEPT: usize = 1 << 20;

/// A union of intervals of time, in ns.
#[derive(Debug, Clone)]
pub(super) struct Union {
    /// Disjoint, by start, none of them empty.
    parts: Vec<(i64, i64)>,
    kept: usize,
    length: u64,
    /// Where the last part ends that is no longer kept.
    horizon: i64,
    /// Intervals that began before the horizon: what they add before it is missing.
    late: u64,
}

impl Default for Union {
    fn default() -> Self {
        Self::keeping(KEPT)
    }
}

impl Union {
    /// Keeps at least this many parts.
    pub(super) fn keeping(kept: usize) -> Self {
        Self { parts: Vec::new(), kept, length: 0, horizon: i64::MIN, late: 0 }
    }

    pub(super) fn add(&mut self, start: i64, end: i64) {
        self.late += u64::from(start < self.horizon && end > start);
        let start = start.max(self.horizon);
        if end <= start {
            return;
        }
        match self.parts.last_mut() {
            // Ops come about in the order of their starts.
            Some(last) if start >= last.0 && start <= last.1 => {
                self.length += length((last.1, end.max(last.1)));
                last.1 = last.1.max(end);
            }
            Some(last) if start < last.0 => self.insert(start, end),
            _ => {
                self.length += length((start, end));
                self.parts.push((start, end));
            }
        }
        if self.parts.len() >= 2 * self.kept {
            self.fold();
        }
    }

    fn insert(&mut self, start: i64, end: i64) {
        let first = self.parts.partition_point(|part| part.1 < start);
        let after = first + self.parts[first..].partition_point(|part| part.0 <= end);
        let joined = &self.parts[first..after];
        let start = joined.first().map_or(start, |part| part.0.min(start));
        let end = joined.last().map_or(end, |part| part.1.max(end));
        let known: u64 = joined.iter().copied().map(length).sum();
        self.length += length((start, end)) - known;
        self.parts.splice(first..after, [(start, end)]);
    }

    #[cold]
    fn fold(&mut self) {
        let folded = self.parts.len() - self.kept;
        self.horizon = self.parts[folded - 1].1;
        self.parts.drain(..folded);
    }

    /// Length in ns; less than that of the union where intervals were late.
    pub(super) fn length_ns(&self) -> i64 {
        to_ns(self.length)
    }

    /// Intervals that began before all parts that are kept.
    pub(super) fn late(&self) -> u64 {
        self.late
    }

    /// The parts that are kept between two times, cut off there.
    pub(super) fn between(&self, from: i64, until: i64) -> impl Iterator<Item = (i64, i64)> {
        let first = self.parts.partition_point(|part| part.1 <= from);
        let parts = self.parts[first..].iter().take_while(move |part| part.0 < until);
        parts.map(move |part| (part.0.max(from), part.1.min(until)))
    }
}

/// The length of an interval in ns, whatever its ends.
fn length((start, end): (i64, i64)) -> u64 {
    end.wrapping_sub(start) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The union, moment by moment.
    fn moments(intervals: &[(i64, i64)], from: i64, until: i64) -> i64 {
        (from..until).filter(|at| intervals.iter().any(|&(start, end)| start <= *at && *at < end)).count()
            as i64
    }

    #[test]
    fn the_ends_of_the_numbers_are_times_too() {
        let mut union = Union::default();
        union.add(i64::MIN, i64::MIN + 5);
        union.add(i64::MAX - 5, i64::MAX);
        assert_eq!(union.length_ns(), 10);
        union.add(i64::MIN, i64::MAX);
        assert_eq!(union.length_ns(), i64::MAX, "cut off to what a column holds");
    }

    proptest! {
        #[test]
        fn intervals_in_any_order_have_the_union_of_their_moments(
            intervals in proptest::collection::vec((0_i64..200, -3_i64..30), 0..40),
            from in 0_i64..200,
            length in 0_i64..100,
        ) {
            let intervals: Vec<(i64, i64)> = intervals.iter().map(|&(start, length)| (start, start + length)).collect();
            let mut union = Union::default();
            intervals.iter().for_each(|&(start, end)| union.add(start, end));
            prop_assert_eq!(union.length_ns(), moments(&intervals, 0, 300));
            let between: i64 = union.between(from, from + length).map(|(start, end)| end - start).sum();
            prop_assert_eq!(between, moments(&intervals, from, from + length));
        }

        #[test]
        fn a_union_that_keeps_few_parts_is_exact_unless_intervals_are_late(
            steps in proptest::collection::vec((-20_i64..20, 0_i64..8), 0..60),
        ) {
            let mut at = 0;
            let intervals: Vec<(i64, i64)> = steps.iter().map(|&(step, length)| {
                at += 6 + step;
                (at, at + length)
            }).collect();
            let (mut few, mut all) = (Union::keeping(4), Union::default());
            for &(start, end) in &intervals {
                few.add(start, end);
                all.add(start, end);
            }
            prop_assert!(few.parts.len() < 8);
            prop_assert!(few.length_ns() <= all.length_ns());
            prop_assert!(few.late() > 0 || few.length_ns() == all.length_ns());
        }
    }
}
