//! How far an estimate may be from the truth, when its noise has two sources that are known to different degrees.

use super::distributions::{normal_quantile, student_quantile};
use super::spread::VarianceEstimate;

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Uncertainty {
    /// The part that all kernels share: known from few runs.
    shared: VarianceEstimate,
    /// The kernel's own part: known from the other kernels too.
    own: VarianceEstimate,
}

impl Uncertainty {
    /// Uncertainty of a difference of means over `baseline` and `candidate` runs.
    pub(super) fn of_runs(
        shared: VarianceEstimate,
        own: VarianceEstimate,
        baseline: usize,
        candidate: usize,
    ) -> Self {
        let average = 1.0 / baseline.max(1) as f64 + 1.0 / candidate.max(1) as f64;
        let averaged =
            |part: VarianceEstimate| VarianceEstimate { variance: part.variance * average, ..part };
        Self { shared: averaged(shared), own: averaged(own) }
    }

    /// Uncertainty of an estimate with one source of noise.
    pub(super) fn of_one(deviation: f64, freedom: f64) -> Self {
        Self {
            shared: VarianceEstimate::default(),
            own: VarianceEstimate { variance: deviation * deviation, freedom },
        }
    }

    fn variance(&self) -> f64 {
        self.shared.variance + self.own.variance
    }

    /// Which part of the variance (0 to 1) is shared.
    pub(super) fn shared(&self) -> f64 {
        let variance = self.variance();
        if variance > 0.0 { self.shared.variance / variance } else { 0.0 }
    }

    /// How far the truth is above the estimate at most, with this chance. Student's quantiles of both sources are
    /// weighted by their variances (Cochran and Cox 1950): on the safe side where the common alternative of an
    /// effective number of degrees of freedom is not, with three runs a side and most noise shared.
    pub(super) fn reach(&self, chance: f64) -> f64 {
        let variance = self.variance();
        if variance <= 0.0 {
            return 0.0;
        }
        let weighted = |part: VarianceEstimate| {
            if part.variance > 0.0 { part.variance * student_quantile(chance, part.freedom) } else { 0.0 }
        };
        (weighted(self.shared) + weighted(self.own)) / variance.sqrt()
    }

    /// The factor by which an interval must be wider than a normal one of the same variance.
    pub(super) fn wider(freedom: f64, chance: f64) -> f64 {
        student_quantile(chance, freedom) / normal_quantile(chance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_source_is_students_interval() {
        let reach = Uncertainty::of_one(0.01, 8.0).reach(0.975);
        assert!((reach - 0.023_060_041).abs() < 1e-8, "{reach}");
    }

    #[test]
    fn two_equal_sources_lie_in_the_middle() {
        // Student's 97.5 % of 4 and of 8 degrees of freedom: 2.776 and 2.306; four runs a side halve the variance of 2.
        let parts = [4.0, 8.0].map(|freedom| VarianceEstimate { variance: 1e-4, freedom });
        let both = Uncertainty::of_runs(parts[0], parts[1], 4, 4);
        assert_eq!(both.shared(), 0.5);
        assert!((both.reach(0.975) - 0.01 * 0.5 * (2.776_445 + 2.306_004)).abs() < 1e-7);
    }

    #[test]
    fn without_noise_there_is_no_doubt() {
        assert_eq!(Uncertainty::default().reach(0.999), 0.0);
        assert_eq!(Uncertainty::default().shared(), 0.0);
    }
}
