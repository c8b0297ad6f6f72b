//! One kernel in one run, in a few numbers.

pub mod mix;
mod order_statistics;
mod shared_slice;
pub mod trimmed;

pub use self::shared_slice::SharedSlice;
use crate::Stats;
use crate::base::stats::nearest_rank;

/// One kernel in one run. Made once from the durations, which are not needed afterwards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// How many calls; 0 where the kernel did not run, and then everything else is 0.
    pub calls: u64,
    /// Their sum in ns.
    pub total_ns: i64,
    /// The mean in ns without the shortest and the longest tenth of the calls.
    pub trimmed_mean_ns: f64,
    /// The shortest in ns.
    pub min_ns: i64,
    /// The median in ns: nearest rank, the ceil(0.50 n)-th smallest.
    pub median_ns: i64,
    /// The ceil(0.95 n)-th smallest in ns.
    pub p95_ns: i64,
    /// The trimmed mean when every call counts in units of what its launch shape takes: see [`mix`]. `None` where
    /// shapes play no part.
    pub at_equal_mix: Option<f64>,
    /// How much of the variance of ln(trimmed mean) comes from the calls of this run, neighbours allowed to resemble
    /// each other; 0 where nothing is known.
    pub within: f64,
    /// The run in up to [`trimmed::CELLS`] equal pieces in launch order: the mean of each in ns, calls beyond the
    /// trimming points pulled in to them. Empty where only moments are known.
    pub cells: Vec<f64>,
}

impl Run {
    /// Summarises durations in ns in launch order; negative ones are left out.
    pub fn of(durations: &[i64]) -> Self {
        let durations = &*trimmed::valid(durations);
        let count = durations.len();
        if count == 0 {
            return Self::default();
        }
        let [shortest, longest] = [count / trimmed::CUT, count - 1 - count / trimmed::CUT];
        let [median, p95] = [50, 95].map(|percent| nearest_rank(count, percent));
        let mut places = [shortest, median, p95, longest];
        // With few calls the 95th percentile lies within the part that is kept.
        places.sort_unstable();
        let found = order_statistics::at(durations, places);
        let at = |place: usize| found[places.iter().position(|&known| known == place).unwrap_or_default()];
        let (trimmed_mean_ns, cells) = trimmed::level_between(durations, at(shortest), at(longest));
        let total: i128 = durations.iter().map(|&duration| i128::from(duration)).sum();
        Self {
            calls: count as u64,
            total_ns: i64::try_from(total).unwrap_or(i64::MAX),
            trimmed_mean_ns,
            min_ns: durations.iter().copied().min().unwrap_or_default(),
            median_ns: at(median),
            p95_ns: at(p95),
            at_equal_mix: None,
            within: within(trimmed_mean_ns, &cells, count),
            cells,
        }
    }

    /// Takes level and variation from the calls brought to one level.
    fn bring(&mut self, brought: &[i64]) {
        let (mean_ns, cells) = trimmed::level(brought);
        self.at_equal_mix = Some(mean_ns);
        self.within = within(mean_ns, &cells, brought.len());
        self.cells = cells;
    }

    /// As [`Self::bring`] for calls that are all brought to another level by the same factor.
    fn scale(&mut self, factor: f64) {
        self.at_equal_mix = Some(self.trimmed_mean_ns * factor);
        self.cells.iter_mut().for_each(|cell| *cell *= factor);
    }

    /// A run from a saved report: enough to compare runs with each other, not to look inside one. In reports that lack the
    /// trimmed mean the mean stands in.
    pub fn of_report(stats: &Stats, trimmed_mean_ns: Option<f64>) -> Self {
        let &Stats { calls, total_ns, min_ns, p50_ns, p95_ns, stddev_ns, .. } = stats;
        if calls == 0 {
            return Self::default();
        }
        let finite = |value: f64| if value.is_finite() { value.max(0.0) } else { 0.0 };
        let mean = trimmed_mean_ns.map_or_else(|| total_ns as f64 / calls as f64, finite).max(0.0);
        Self {
            calls,
            total_ns,
            trimmed_mean_ns: mean,
            min_ns,
            median_ns: p50_ns,
            p95_ns,
            within: (finite(stddev_ns) / mean.max(1.0)).powi(2) / calls as f64,
            ..Self::default()
        }
    }

    /// ln of the trimmed mean, at equal mix where that is known. Less than 1 ns, the clock's unit, counts as 1 ns.
    pub fn log_mean(&self) -> f64 {
        self.at_equal_mix.unwrap_or(self.trimmed_mean_ns).max(1.0).ln()
    }
}

fn within(mean_ns: f64, cells: &[f64], calls: usize) -> f64 {
    trimmed::variance_of_mean(cells, calls as u64) / mean_ns.max(1.0).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_calls_lose_the_shortest_and_the_longest() {
        let run = Run::of(&[100, 20, 30, 40, 50, 60, 70, 80, 90, 1_000_000]);
        assert_eq!(run.trimmed_mean_ns, 65.0);
        assert_eq!((run.calls, run.min_ns, run.median_ns, run.p95_ns), (10, 20, 60, 1_000_000));
        assert_eq!(run.total_ns, 1_000_540);
    }

    #[test]
    fn nothing_one_call_and_zero_durations_have_answers() {
        assert_eq!(Run::of(&[]), Run::default());
        assert_eq!(Run::of(&[-5]), Run::default());
        let one = Run::of(&[500]);
        assert_eq!((one.calls, one.trimmed_mean_ns, one.within), (1, 500.0, 0.0));
        let zero = Run::of(&[0, 0, 0]);
        assert_eq!((zero.calls, zero.trimmed_mean_ns, zero.log_mean(), zero.within), (3, 0.0, 0.0, 0.0));
    }

    #[test]
    fn a_report_without_trimmed_mean_gives_the_mean() {
        let run = Run::of_report(&Stats { calls: 4, total_ns: 400, ..Stats::default() }, None);
        assert_eq!((run.trimmed_mean_ns, run.cells.len()), (100.0, 0));
        let odd = Stats { calls: 1, stddev_ns: f64::NAN, ..Stats::default() };
        assert!(Run::of_report(&odd, Some(f64::INFINITY)).log_mean().is_finite());
    }
}
