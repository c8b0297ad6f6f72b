//! The questions, each a function from a number of pairs to a count.

use std::ops::AddAssign;

use analysis::compare::{Interval, Judgement, Noise, Rules, Run, Status, judge};

use crate::workload::{KERNELS, Shift, Workload};

/// How many runs a calibration has.
const CALIBRATION: usize = 10;

/// How often something was so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// How often it was.
    pub yes: u64,
    /// How often it could have been.
    pub of: u64,
}

impl Count {
    /// One trial.
    pub fn of(yes: bool) -> Self {
        Self { yes: u64::from(yes), of: 1 }
    }

    /// As a fraction.
    pub fn part(self) -> f64 {
        self.yes as f64 / self.of.max(1) as f64
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.yes += other.yes;
        self.of += other.of;
    }
}

/// What is compared with what.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// How runs differ.
    pub shift: Shift,
    /// Runs per side.
    pub runs: usize,
    /// The threshold, or the default.
    pub threshold: Option<f64>,
    /// Whether the noise was calibrated before.
    pub calibrated: bool,
}

impl Setting {
    /// The default gate.
    pub fn gate(shift: Shift, runs: usize) -> Self {
        Self { shift, runs, threshold: None, calibrated: false }
    }

    /// Threshold 2 % after a calibration.
    pub fn calibrated(shift: Shift, runs: usize) -> Self {
        Self { shift, runs, threshold: Some(0.02), calibrated: true }
    }

    fn rules(&self) -> Rules {
        let defaults = Rules::default();
        Rules { threshold: self.threshold.unwrap_or(defaults.threshold), ..defaults }
    }
}

/// Both sides of one comparison of two equal builds.
pub struct Trial {
    workload: Workload,
    seed: u64,
    setting: Setting,
    noise: Option<Noise>,
    /// By kernel.
    pub baseline: Vec<Vec<Run>>,
    /// By kernel.
    pub candidate: Vec<Vec<Run>>,
}

impl Trial {
    /// The pair with this number.
    pub fn new(setting: Setting, pair: u64) -> Self {
        let seed = 1_000_003 * (pair + 1);
        let workload = Workload::new(seed);
        let noise = setting.calibrated.then(|| {
            let runs = workload.runs(setting.shift, CALIBRATION, seed + 1);
            Noise::calibrate(&workload.named(&runs))
        });
        let baseline = workload.runs(setting.shift, setting.runs, seed + 2);
        let candidate = workload.runs(setting.shift, setting.runs, seed + 3);
        Self { workload, seed, setting, noise, baseline, candidate }
    }

    /// What the tool says.
    pub fn judge(&self) -> Vec<Judgement> {
        let pairs = self.workload.pairs(&self.baseline, &self.candidate);
        judge(&pairs, &self.setting.rules(), self.noise.as_ref())
    }

    /// Slows one kernel of at least 1 % of the time down and says which.
    pub fn slow_one(&mut self, factor: f64) -> usize {
        let kernel = self.workload.kernel_of_share(0.01, self.seed);
        self.slow(kernel, factor);
        kernel
    }

    /// Slows every kernel down.
    pub fn slow_all(&mut self, factor: f64) {
        (0..KERNELS).for_each(|kernel| self.slow(kernel, factor));
    }

    fn slow(&mut self, kernel: usize, factor: f64) {
        let Setting { shift, runs, .. } = self.setting;
        self.candidate[kernel] = self.workload.runs_of(kernel, factor, shift, runs, self.seed + 3);
    }

    /// How many calls a kernel has in a run.
    pub fn calls(&self, kernel: usize) -> usize {
        self.workload.calls(kernel)
    }
}

/// Whether a gate on kernels would fail.
pub fn fails(judgements: &[Judgement]) -> bool {
    judgements.iter().any(|judgement| judgement.status == Status::Regressed)
}

/// How many of the intervals of two equal builds contain 1.
pub fn coverage(judgements: &[Judgement]) -> Count {
    let mut count = Count::default();
    for Interval { low, high } in judgements.iter().filter_map(|judgement| judgement.interval) {
        count += Count::of(low <= 1.0 && 1.0 <= high);
    }
    count
}
