//! Durations of any number in bounded memory.
//!
//! A histogram whose buckets grow with what they hold, as those of Tene's HdrHistogram do: every power of two is cut
//! into 256 pieces of equal width. Each bucket also knows the sum of its durations, so the mean of
//! a bucket stands for each of them, and what is cut out of whole buckets is exact. Two histograms add up to that of
//! all durations, in whatever order they come.

use crate::Stats;
use crate::base::stats::{Moments, nearest_rank};

/// Into how many pieces each power of two is cut, as a power of two.
const PIECES: u32 = 8;

/// The largest relative error of a percentile or trimmed mean of a [`Sketch`]: no bucket is wider
/// than that part of its durations.
pub const PERCENTILE_ERROR: f64 = 1.0 / (1_u32 << PIECES) as f64;

/// The number of buckets that are added at once.
const BESIDE: usize = 32;

/// A trimmed mean omits one call in this number at each end.
const CUT: u64 = 10;

/// Durations in ns, none of them negative, as counts and sums of similar ones. At most 231 KiB, whatever there is; 8 KiB
/// where the longest is four times the shortest.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sketch {
    moments: Moments,
    zero: u64,
    first: usize,
    buckets: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Bucket {
    calls: u64,
    total: u64,
}

impl Bucket {
    fn mean(self) -> f64 {
        self.total as f64 / self.calls.max(1) as f64
    }
}

/// The bucket of a duration: its highest bits behind their place. Durations below 512 ns have one each.
#[inline]
fn bucket(duration: u64) -> usize {
    let exponent = (u64::BITS - duration.leading_zeros()).saturating_sub(PIECES + 1);
    ((exponent as usize) << PIECES) + (duration >> exponent) as usize
}

impl Sketch {
    /// Adds a duration in ns; a negative one is left out.
    #[inline]
    pub fn add(&mut self, duration: i64) {
        let Ok(length) = u64::try_from(duration) else { return };
        self.moments.add(duration);
        self.zero += u64::from(duration == 0);
        let bucket = self.bucket(bucket(length));
        bucket.calls += 1;
        bucket.total = bucket.total.saturating_add(length);
    }

    /// Adds all that another one holds.
    pub fn append(&mut self, other: &Self) {
        if other.moments.calls == 0 {
            return;
        }
        self.moments.append(&other.moments);
        self.zero += other.zero;
        // Room for both ends at once.
        self.bucket(other.first + other.buckets.len() - 1);
        self.bucket(other.first);
        let mine = &mut self.buckets[other.first - self.first..];
        for (bucket, more) in mine.iter_mut().zip(&other.buckets) {
            bucket.calls += more.calls;
            bucket.total = bucket.total.saturating_add(more.total);
        }
    }

    #[inline]
    fn bucket(&mut self, number: usize) -> &mut Bucket {
        let last = self.first + self.buckets.len();
        if !(self.first..last).contains(&number) {
            self.widen(number);
        }
        &mut self.buckets[number - self.first]
    }

    /// Makes room for a bucket, and no more than for some beside it: there are many sketches.
    #[cold]
    fn widen(&mut self, number: usize) {
        let (first, end) = match self.buckets.len() {
            0 => (number, number + 1),
            kept => (self.first.min(number), (self.first + kept).max(number + 1)),
        };
        let (first, end) = (first / BESIDE * BESIDE, end.next_multiple_of(BESIDE));
        let mut wider = vec![Bucket::default(); end - first];
        if !self.buckets.is_empty() {
            wider[self.first - first..][..self.buckets.len()].copy_from_slice(&self.buckets);
        }
        (self.first, self.buckets) = (first, wider);
    }

    /// Their sums and extremes, which are exact.
    #[must_use]
    pub fn moments(&self) -> &Moments {
        &self.moments
    }

    /// How many of them are zero.
    #[must_use]
    pub fn zero(&self) -> u64 {
        self.zero
    }

    /// All in numbers: the percentiles with an error of [`PERCENTILE_ERROR`] of themselves at most, the others exact.
    #[must_use]
    pub fn stats(&self) -> Stats {
        if self.moments.calls == 0 {
            return Stats::default();
        }
        Stats::of_moments(&self.moments, [50, 95, 99].map(|percent| self.percentile(percent)))
    }

    /// The ceil(percent n / 100)-th smallest in ns, as its bucket's mean.
    fn percentile(&self, percent: usize) -> i64 {
        let rank = nearest_rank(self.moments.calls as usize, percent) as u64;
        let mut below = 0;
        let found = self.buckets.iter().find(|bucket| {
            below += bucket.calls;
            below > rank
        });
        let Moments { min_ns, max_ns, .. } = self.moments;
        found.map_or(max_ns, |bucket| bucket.mean().round() as i64).clamp(min_ns, max_ns)
    }

    /// The mean in ns without the shortest and the longest tenth (rounded down), with an error of
    /// [`PERCENTILE_ERROR`] of itself at most: where a tenth ends within a bucket, its mean stands for what is kept of it.
    #[must_use]
    pub fn trimmed_mean_ns(&self) -> f64 {
        let calls = self.moments.calls;
        let kept = calls / CUT..calls - calls / CUT;
        let (mut whole, mut parts, mut below) = (0_u128, 0.0, 0);
        for bucket in &self.buckets {
            let first = below.max(kept.start);
            below += bucket.calls;
            let calls = below.min(kept.end).saturating_sub(first);
            if calls == bucket.calls {
                whole += u128::from(bucket.total);
            } else {
                parts += bucket.mean() * calls as f64;
            }
        }
        (whole as f64 + parts) / (kept.end - kept.start).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sketch(durations: &[i64]) -> Sketch {
        let mut sketch = Sketch::default();
        durations.iter().for_each(|&duration| sketch.add(duration));
        sketch
    }

    #[test]
    fn buckets_follow_each_other_and_are_narrow() {
        assert_eq!([0, 1, 255, 256, 511, 512, 513, 514].map(bucket), [0, 1, 255, 256, 511, 512, 512, 513]);
        assert_eq!([1_023, 1_024, 1_027, 1_028].map(bucket), [767, 768, 768, 769]);
        assert_eq!(bucket(i64::MAX as u64), 14_335);
        assert!(14_336 * size_of::<Bucket>() <= 231 << 10);
    }

    #[test]
    fn short_durations_and_equal_ones_are_exact() {
        let stats = sketch(&[40, 10, 20, 30]).stats();
        assert_eq!(stats, Stats::of_durations([40, 10, 20, 30]));
        let equal = sketch(&[123_457; 30]);
        assert_eq!(equal.stats(), Stats::of_durations([123_457; 30]));
        assert_eq!(equal.trimmed_mean_ns(), 123_457.0);
        assert_eq!(Sketch::default().stats(), Stats::default());
        assert_eq!(Sketch::default().trimmed_mean_ns(), 0.0);
    }

    #[test]
    fn the_trimmed_mean_leaves_out_the_shortest_and_the_longest_tenth() {
        let ten = sketch(&[100, 20, 30, 40, 50, 60, 70, 80, 90, 1_000_000]);
        assert_eq!(ten.trimmed_mean_ns(), 65.0);
        assert_eq!(sketch(&[5, 6, 100]).trimmed_mean_ns(), 37.0);
    }

    #[test]
    fn durations_of_centuries_are_no_panic() {
        let stats = sketch(&[i64::MAX, i64::MAX, i64::MAX, 0, -1]).stats();
        assert_eq!((stats.calls, stats.total_ns, stats.max_ns, stats.min_ns), (4, i64::MAX, i64::MAX, 0));
    }

    /// Durations as kernels have them: most alike, some of another size, some odd.
    fn durations() -> impl Strategy<Value = Vec<i64>> {
        let any = prop_oneof![
            0_i64..2_000,
            15_000_i64..25_000,
            0_i64..10_000_000_000,
            Just(77_777),
            0_i64..=i64::MAX / 1_000
        ];
        prop::collection::vec(any, 1..400)
    }

    proptest! {
        #[test]
        fn percentiles_and_trimmed_means_are_within_the_stated_error(mut durations in durations()) {
            let (sketch, exact) = (sketch(&durations), Stats::of_durations(durations.iter().copied()));
            let told = sketch.stats();
            for (told, exact) in [
                (told.p50_ns, exact.p50_ns),
                (told.p95_ns, exact.p95_ns),
                (told.p99_ns, exact.p99_ns),
            ] {
                let off = (told - exact).unsigned_abs() as f64;
                prop_assert!(off <= PERCENTILE_ERROR * exact as f64, "{told} for {exact}");
            }
            let Stats { p50_ns, p95_ns, p99_ns, .. } = exact;
            prop_assert_eq!(Stats { p50_ns, p95_ns, p99_ns, ..told }, exact);
            durations.sort_unstable();
            let cut = durations.len() / 10;
            let kept = &durations[cut..durations.len() - cut];
            let mean = kept.iter().map(|&duration| duration as f64).sum::<f64>() / kept.len() as f64;
            let off = (sketch.trimmed_mean_ns() - mean).abs();
            prop_assert!(off <= PERCENTILE_ERROR * mean + 1e-6 * mean, "{} for {mean}", sketch.trimmed_mean_ns());
        }

        #[test]
        fn parts_add_up_to_the_whole_in_any_order(durations in durations(), at in any::<prop::sample::Index>()) {
            let (one, other) = durations.split_at(at.index(durations.len() + 1));
            let (mut forth, mut back) = (sketch(one), sketch(other));
            forth.append(&sketch(other));
            back.append(&sketch(one));
            prop_assert_eq!(&forth, &back);
            prop_assert_eq!(forth, sketch(&durations));
        }
    }
}
