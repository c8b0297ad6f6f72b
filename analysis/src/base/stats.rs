//! One set of durations in numbers.

use serde::{Deserialize, Serialize};

/// Statistics of a set of durations. All zero for an empty set.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Stats {
    /// The number of durations.
    pub calls: u64,
    /// Their sum in ns.
    pub total_ns: i64,
    /// Their mean in ns.
    pub mean_ns: f64,
    /// The shortest in ns.
    pub min_ns: i64,
    /// The median in ns: nearest rank, the ceil(0.50 n)-th smallest.
    pub p50_ns: i64,
    /// The ceil(0.95 n)-th smallest in ns.
    pub p95_ns: i64,
    /// The ceil(0.99 n)-th smallest in ns.
    pub p99_ns: i64,
    /// The longest in ns.
    pub max_ns: i64,
    /// Sample standard deviation (n - 1) in ns; 0 for fewer than two.
    pub stddev_ns: f64,
}

impl Stats {
    /// Describes the durations in `short` and `long`, none negative; every value of `long` must exceed every
    /// value of `short`. Reorders both.
    pub fn of(short: &mut [u32], long: &mut [i64]) -> Self {
        if short.is_empty() && long.is_empty() {
            return Self::default();
        }
        long.sort_unstable();
        let mut moments = Moments::of_short(short);
        long.iter().for_each(|&duration| moments.add(duration));
        Self::of_moments(&moments, percentiles(short, long))
    }

    /// All but the median, the 95th and the 99th percentile follow from moments.
    pub(crate) fn of_moments(moments: &Moments, [p50_ns, p95_ns, p99_ns]: [i64; 3]) -> Self {
        let &Moments { calls, min_ns, max_ns, .. } = moments;
        let (total_ns, stddev_ns) = (moments.total_ns(), moments.stddev_ns());
        let mean_ns = moments.mean_ns();
        Self { calls, total_ns, mean_ns, min_ns, p50_ns, p95_ns, p99_ns, max_ns, stddev_ns }
    }

    /// Describes `durations`, which are in any order; negative ones are left out.
    pub fn of_durations(durations: impl IntoIterator<Item = i64>) -> Self {
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for duration in durations {
            match u32::try_from(duration) {
                Ok(duration) => short.push(duration),
                Err(_) if duration > 0 => long.push(duration),
                Err(_) => {}
            }
        }
        Self::of(&mut short, &mut long)
    }
}

/// The number of calls and their total duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CallTotal {
    /// Calls with a known duration.
    pub calls: u64,
    /// Their sum in ns.
    pub total_ns: i64,
}

impl CallTotal {
    /// Adds a call of this many ns.
    #[inline]
    pub fn add(&mut self, duration: i64) {
        self.calls += 1;
        self.total_ns = self.total_ns.saturating_add(duration);
    }

    /// Adds the calls of another.
    pub fn append(&mut self, other: Self) {
        self.calls += other.calls;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
    }

    /// ns of a call on average.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.total_ns as f64 / self.calls.max(1) as f64
    }
}

/// Sums and extremes of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moments {
    /// The number of durations.
    pub calls: u64,
    total: u128,
    squares: u128,
    /// The shortest in ns.
    pub min_ns: i64,
    /// The longest in ns.
    pub max_ns: i64,
}

impl Moments {
    /// Squares of 4-byte values fill 8 bytes, so they are added in two halves, which the compiler can do for several
    /// values at once.
    fn of_short(short: &[u32]) -> Self {
        let (mut total, mut squares) = (0_u128, 0_u128);
        for chunk in short.chunks(1 << 16) {
            let (mut sum, mut low, mut high) = (0_u64, 0_u64, 0_u64);
            for &duration in chunk {
                let duration = u64::from(duration);
                let square = duration * duration;
                sum += duration;
                low += square & 0xffff_ffff;
                high += square >> 32;
            }
            total += u128::from(sum);
            squares += u128::from(low) + (u128::from(high) << 32);
        }
        let extreme = |value: Option<&u32>| value.map_or(0, |&value| i64::from(value));
        let (min_ns, max_ns) = (extreme(short.iter().min()), extreme(short.iter().max()));
        Self { calls: short.len() as u64, total, squares, min_ns, max_ns }
    }

    /// Adds a duration in ns that is not negative.
    #[inline]
    pub(crate) fn add(&mut self, duration: i64) {
        let length = u128::from(duration.unsigned_abs());
        let (calls, squares) = (1, length * length);
        self.append(&Self { calls, total: length, squares, min_ns: duration, max_ns: duration });
    }

    #[inline]
    pub(crate) fn append(&mut self, other: &Self) {
        let Self { calls, total, squares, min_ns, max_ns } = *other;
        if calls == 0 {
            return;
        }
        self.min_ns = if self.calls == 0 { min_ns } else { self.min_ns.min(min_ns) };
        self.max_ns = self.max_ns.max(max_ns);
        self.calls += calls;
        self.total = self.total.saturating_add(total);
        self.squares = self.squares.saturating_add(squares);
    }

    /// Their sum in ns.
    pub fn total_ns(&self) -> i64 {
        i64::try_from(self.total).unwrap_or(i64::MAX)
    }

    /// Their mean in ns.
    pub fn mean_ns(&self) -> f64 {
        self.total as f64 / self.calls.max(1) as f64
    }

    /// The sum of their squares in ns².
    pub fn squares_ns2(&self) -> f64 {
        self.squares as f64
    }

    /// Their sample standard deviation in ns, from exact sums, so that it does not depend on the order of rows.
    pub fn stddev_ns(&self) -> f64 {
        let Self { total, squares, .. } = *self;
        let calls = u128::from(self.calls);
        if calls < 2 {
            return 0.0;
        }
        let pairs = calls as f64 * (calls - 1) as f64;
        let exact = calls
            .checked_mul(squares)
            .zip(total.checked_mul(total))
            .map(|(larger, smaller)| larger.saturating_sub(smaller) as f64);
        // Durations of decades: exactness no longer matters, an answer does.
        let numerator =
            exact.unwrap_or_else(|| (calls as f64 * squares as f64 - total as f64 * total as f64).max(0.0));
        (numerator / pairs).sqrt()
    }
}

/// Where groups of these sizes begin that lie side by side, and the end of the last.
pub(crate) fn begins(counts: &[usize]) -> Vec<usize> {
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// The position, from 0, of a percentile among `count` sorted values by nearest rank: the ceil(percent count / 100)-th
/// smallest.
#[inline]
pub(crate) fn nearest_rank(count: usize, percent: usize) -> usize {
    (count * percent).div_ceil(100) - 1
}

/// The median, the 95th and the 99th percentile by nearest rank.
fn percentiles(short: &mut [u32], long: &[i64]) -> [i64; 3] {
    let calls = short.len() + long.len();
    // The median first: the others then only look at the part above it.
    let mut below = 0;
    let mut found = [0; 3];
    for (slot, percent) in [50, 95, 99].into_iter().enumerate() {
        let position = nearest_rank(calls, percent);
        found[slot] = match position.checked_sub(short.len()) {
            Some(position) => long[position],
            None if position < below => i64::from(short[position]),
            None => {
                let (_, &mut value, _) = short[below..].select_nth_unstable(position - below);
                below = position + 1;
                i64::from(value)
            }
        };
    }
    found
}

/// The mean of the middle half (interquartile mean); 0 of none.
pub(crate) fn interquartile_mean(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let cut = values.len() / 4;
    let kept = &values[cut..values.len() - cut];
    if kept.is_empty() { 0.0 } else { kept.iter().sum::<f64>() / kept.len() as f64 }
}

/// The median; 0 of none. Reorders the values.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    let count = values.len();
    if count == 0 {
        return 0.0;
    }
    let (below, &mut middle, _) = values.select_nth_unstable_by(count / 2, f64::total_cmp);
    match below.iter().copied().max_by(f64::total_cmp) {
        Some(before) if count.is_multiple_of(2) => 0.5 * (before + middle),
        _ => middle,
    }
}

/// The standard deviation of normal values with the same median absolute deviation.
pub(crate) fn robust_deviation(values: &mut [f64]) -> f64 {
    let at = median(values);
    values.iter_mut().for_each(|value| *value = (*value - at).abs());
    1.4826 * median(values)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn four_calls_by_hand() {
        let stats = Stats::of_durations([40, 10, 20, 30]);
        assert_eq!((stats.calls, stats.total_ns, stats.mean_ns), (4, 100, 25.0));
        assert_eq!((stats.min_ns, stats.p50_ns, stats.p95_ns, stats.max_ns), (10, 20, 40, 40));
        // Squares of the distances to 25: 225 + 25 + 25 + 225 = 500, over n - 1 = 3.
        assert!((stats.stddev_ns - (500.0_f64 / 3.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn one_call_has_no_deviation_and_is_every_percentile() {
        let stats = Stats::of_durations([7]);
        assert_eq!(
            (stats.min_ns, stats.p50_ns, stats.p99_ns, stats.max_ns, stats.stddev_ns),
            (7, 7, 7, 7, 0.0)
        );
    }

    #[test]
    fn nothing_is_all_zero() {
        assert_eq!(Stats::of_durations([]), Stats::default());
        assert_eq!(Stats::of_durations([-5]), Stats::default());
    }

    #[test]
    fn a_hundred_calls_show_the_nearest_rank() {
        let stats = Stats::of_durations((1..=100).rev());
        assert_eq!((stats.p50_ns, stats.p95_ns, stats.p99_ns), (50, 95, 99));
    }

    #[test]
    fn durations_of_centuries_are_no_panic() {
        let stats = Stats::of_durations([i64::MAX, i64::MAX, 0]);
        assert_eq!((stats.total_ns, stats.max_ns, stats.min_ns), (i64::MAX, i64::MAX, 0));
        assert!(stats.stddev_ns.is_finite());
    }

    proptest! {
        #[test]
        fn the_median_is_that_of_sorting(mut values in prop::collection::vec(-1e3..1e3_f64, 1..60)) {
            let found = median(&mut values.clone());
            values.sort_unstable_by(f64::total_cmp);
            let middle = values.len() / 2;
            let expected = match values.len() % 2 {
                0 => 0.5 * (values[middle - 1] + values[middle]),
                _ => values[middle],
            };
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn percentiles_are_those_of_sorting(
            mut durations in prop::collection::vec(prop_oneof![0_i64..50, 0_i64..10_000_000_000], 1..300)
        ) {
            let stats = Stats::of_durations(durations.iter().copied());
            durations.sort_unstable();
            let rank = |percent: usize| durations[(durations.len() * percent).div_ceil(100) - 1];
            prop_assert_eq!([stats.p50_ns, stats.p95_ns, stats.p99_ns], [rank(50), rank(95), rank(99)]);
            prop_assert_eq!(stats.min_ns, durations[0]);
            prop_assert_eq!(stats.max_ns, durations[durations.len() - 1]);
            prop_assert_eq!(stats.total_ns, durations.iter().sum::<i64>());
            let mean = stats.total_ns as f64 / durations.len() as f64;
            let squares: f64 = durations.iter().map(|&duration| (duration as f64 - mean).powi(2)).sum();
            let expected = if durations.len() < 2 { 0.0 } else { (squares / (durations.len() - 1) as f64).sqrt() };
            prop_assert!((stats.stddev_ns - expected).abs() <= 1e-6 * (1.0 + expected));
        }
    }
}
