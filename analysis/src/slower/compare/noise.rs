//! The noise floor: the differences between repeated runs of one build.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::spread::{Observed, Spread, VarianceEstimate};
use super::uncertainty::Uncertainty;
use super::{KernelPair, Run};

/// How rarely two sides of the same build differ by more than the floor: one comparison of a kernel in a thousand.
const FLOOR_TAIL: f64 = 0.001;

/// The noise of a workload, learned from runs of one build. Plain numbers, so that a caller can store it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Noise {
    /// From how many runs.
    pub runs: usize,
    /// The part that all kernels of a run share.
    pub shared: VarianceEstimate,
    /// Kernel by kernel, by name.
    pub kernels: Vec<KernelNoise>,
}

/// The noise of one kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelNoise {
    /// Name of the kernel.
    pub name: String,
    /// The kernel's own part, from its own runs, as in [`VarianceEstimate`].
    pub variance: f64,
    /// Degrees of freedom of the estimate.
    pub freedom: f64,
    /// The variance of ln(trimmed mean) that calls within a run explain.
    pub within: f64,
}

impl KernelNoise {
    fn own(&self) -> VarianceEstimate {
        VarianceEstimate { variance: self.variance, freedom: self.freedom }
    }
}

/// How far apart two sides of one build may lie, for any number of runs per side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Floors {
    spread: Spread,
    rows: FxHashMap<String, usize>,
}

impl Floors {
    /// The floor of a kernel as a fraction (0.02 for +2 %). Runs average out: four runs per side have half the floor of
    /// one. `None` where calibration has not seen the kernel twice.
    pub fn get(&self, kernel: &str, baseline: usize, candidate: usize) -> Option<f64> {
        let own = *self.spread.own.get(*self.rows.get(kernel)?)?;
        if own.freedom <= 0.0 {
            return None;
        }
        let bound =
            Uncertainty::of_runs(self.spread.shared, own, baseline, candidate).reach(1.0 - 0.5 * FLOOR_TAIL);
        Some(bound.min(20.0).exp_m1())
    }
}

impl Noise {
    /// Learns from runs of one build. For each kernel its name and its runs in the same order; a run in which it has no
    /// calls is left out. Fewer than two runs teach nothing.
    pub fn calibrate(kernels: &[(&str, &[Run])]) -> Self {
        let groups: Vec<Vec<&[Run]>> = kernels.iter().map(|(_, runs)| vec![*runs]).collect();
        let observed = Observed::new(&groups);
        let mut kernels: Vec<KernelNoise> = kernels
            .iter()
            .zip(observed.own.iter().zip(&observed.within))
            .map(|((name, _), (&own, &within))| {
                let VarianceEstimate { variance, freedom } = own;
                KernelNoise { name: (*name).to_owned(), variance, freedom, within }
            })
            .collect();
        kernels.sort_by(|one, other| one.name.cmp(&other.name));
        let runs = groups.first().map_or(0, |groups| groups[0].len());
        Self { runs, shared: observed.shared, kernels }
    }

    /// How far apart two sides of this build may lie.
    pub fn floors(&self) -> Floors {
        let observed = Observed {
            shared: self.shared,
            own: self.kernels.iter().map(KernelNoise::own).collect(),
            within: self.kernels.iter().map(|kernel| kernel.within).collect(),
        };
        let rows = self.kernels.iter().enumerate().map(|(row, kernel)| (kernel.name.clone(), row)).collect();
        Floors { spread: observed.shrink(), rows }
    }

    pub(super) fn join(&self, pairs: &[KernelPair<'_>], observed: &mut Observed) {
        observed.shared = observed.shared.pooled(self.shared);
        let known: FxHashMap<&str, VarianceEstimate> =
            self.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.own())).collect();
        for (pair, own) in pairs.iter().zip(&mut observed.own) {
            *own = own.pooled(known.get(pair.name).copied().unwrap_or_default());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibrated(shifts: &[f64]) -> Noise {
        let runs: Vec<Run> = shifts
            .iter()
            .map(|shift| Run { calls: 10, trimmed_mean_ns: 10_000.0 * shift.exp(), ..Run::default() })
            .collect();
        Noise::calibrate(&[("gemm", &runs)])
    }

    #[test]
    fn four_runs_a_side_have_half_the_floor_of_one() {
        let noise = calibrated(&[0.01, -0.01, 0.01, -0.01]);
        // Squares of the distances to the mean: 4e-4 over 3 degrees of freedom.
        assert!((noise.kernels[0].variance - 4e-4 / 3.0).abs() < 1e-9);
        let floor = |runs| noise.floors().get("gemm", runs, runs).unwrap().ln_1p();
        assert!((floor(1) / floor(4) - 2.0).abs() < 1e-9);
        // Student's 99.95 % for 3 degrees of freedom is 12.924.
        assert!((floor(1) - 12.924 * (2.0 * 4e-4_f64 / 3.0).sqrt()).abs() < 1e-3);
    }

    #[test]
    fn one_run_teaches_nothing() {
        assert_eq!(calibrated(&[0.01]).floors().get("gemm", 5, 5), None);
        assert_eq!(Noise::calibrate(&[]), Noise::default());
    }
}
