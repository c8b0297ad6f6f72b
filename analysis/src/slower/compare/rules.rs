//! The options of the judgement.

/// When a change counts. Each default is justified by a measurement in `docs/design/statistics.md`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rules {
    /// The slowdown that is tolerated, as a fraction: 0.05 for +5 %.
    pub threshold: f64,
    /// The minimum threshold of a comparison of one uncalibrated run per side, because it does not show how runs
    /// differ.
    pub single_run_threshold: f64,
    /// How often the interval shown is to contain the true ratio.
    pub confidence: f64,
    /// How often any kernel of a comparison of equal builds may be called changed.
    pub family_error: f64,
    /// A change of the trimmed mean by less than this many ns a call does not count.
    pub min_change_ns: f64,
    /// A kernel with less than this part of the GPU time (0 to 1) does not count.
    pub min_share: f64,
    /// A kernel with fewer calls on a side does not count.
    pub min_calls: u64,
    /// How often the slowdown given as detectable is found.
    pub power: f64,
    /// Where resampling starts; the same seed gives the same result.
    pub seed: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            threshold: 0.05,
            single_run_threshold: 0.05,
            confidence: 0.95,
            family_error: 0.05,
            min_change_ns: 100.0,
            min_share: 0.005,
            min_calls: 10,
            power: 0.9,
            seed: 1,
        }
    }
}

impl Rules {
    /// Replaces every number without a meaning, so that no input makes a NaN.
    pub(super) fn sane(self) -> Self {
        let between = |value: f64, low: f64, high: f64, otherwise: f64| {
            if value.is_finite() { value.clamp(low, high) } else { otherwise }
        };
        let defaults = Self::default();
        Self {
            threshold: between(self.threshold, 0.0, 1e6, defaults.threshold),
            single_run_threshold: between(self.single_run_threshold, 0.0, 1e6, defaults.single_run_threshold),
            confidence: between(self.confidence, 0.5, 0.9999, defaults.confidence),
            family_error: between(self.family_error, 1e-6, 0.5, defaults.family_error),
            min_change_ns: between(self.min_change_ns, 0.0, f64::MAX, defaults.min_change_ns),
            min_share: between(self.min_share, 0.0, 1.0, defaults.min_share),
            power: between(self.power, 0.5, 0.9999, defaults.power),
            ..self
        }
    }
}
