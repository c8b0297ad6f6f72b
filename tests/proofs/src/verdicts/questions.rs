//! The questions, each a function from a number of pairs to a count.

use std::ops::AddAssign;

use rtl_analysis::compare::{Interval, Judgement, Noise, Rules, Run, Status, judge};

use crate::workload::{KERNELS, Shift, Workload};

/// How often something was so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// How often it was.
    pub(crate) yes: u64,
    /// How often it could have been.
    pub(crate) of: u64,
}

impl Count {
    pub(crate) fn of(yes: bool) -> Self {
        Self { yes: u64::from(yes), of: 1 }
    }

    pub(crate) fn part(self) -> f64 {
        self.yes as f64 / self.of.max(1) as f64
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.yes += other.yes;
        self.of += other.of;
    }
}

/// Settings of a comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question {
    /// The threshold; `None` for the default.
    pub(crate) threshold: Option<f64>,
    /// True if the noise was calibrated before.
    pub(crate) calibrated: bool,
}

/// `--gate` and nothing else.
pub(crate) const GATE: Question = Question { threshold: None, calibrated: false };
/// A threshold of 2 % after a calibration.
pub(crate) const CALIBRATED: Question = Question { threshold: Some(0.02), calibrated: true };

/// Both sides of one comparison of two equal builds.
pub(crate) struct Trial {
    workload: Workload,
    shift: Shift,
    seed: u64,
    noise: Noise,
    /// Indexed by kernel.
    pub(crate) baseline: Vec<Vec<Run>>,
    /// Indexed by kernel.
    pub(crate) candidate: Vec<Vec<Run>>,
}

impl Trial {
    /// The pair with this number, `runs` on each side.
    pub(crate) fn new(shift: Shift, runs: usize, calibration: usize, pair: u64) -> Self {
        let seed = 1_000_003 * (pair + 1);
        let workload = Workload::new(seed);
        let repeated = workload.runs(shift, calibration, seed + 1);
        let noise = Noise::calibrate(&workload.named(&repeated));
        let baseline = workload.runs(shift, runs, seed + 2);
        let candidate = workload.runs(shift, runs, seed + 3);
        Self { workload, shift, seed, noise, baseline, candidate }
    }

    /// Judges all kernels as rtl-diff does.
    pub(crate) fn judge(&self, asked: Question) -> Vec<Judgement> {
        let pairs = self.workload.pairs(&self.baseline, &self.candidate);
        let defaults = Rules::default();
        let rules = Rules { threshold: asked.threshold.unwrap_or(defaults.threshold), ..defaults };
        judge(&pairs, &rules, asked.calibrated.then_some(&self.noise))
    }

    /// Judges a trial in which one kernel of at least 1 % of the time is slower: that kernel, and the others.
    pub(crate) fn judge_slowed(&mut self, factor: f64, asked: Question) -> (Judgement, Vec<Judgement>) {
        let kernel = self.workload.kernel_of_share(0.01, self.seed);
        let slow = self.slowed(kernel, factor);
        let equal = std::mem::replace(&mut self.candidate[kernel], slow);
        let mut judgements = self.judge(asked);
        self.candidate[kernel] = equal;
        (judgements.remove(kernel), judgements)
    }

    /// Slows every kernel down.
    pub(crate) fn slow_all(&mut self, factor: f64) {
        self.candidate = (0..KERNELS).map(|kernel| self.slowed(kernel, factor)).collect();
    }

    fn slowed(&self, kernel: usize, factor: f64) -> Vec<Run> {
        self.workload.runs_of(kernel, factor, self.shift, self.candidate[kernel].len(), self.seed + 3)
    }

    /// How many calls a kernel has in a run.
    pub(crate) fn calls(&self, kernel: usize) -> usize {
        self.workload.calls(kernel)
    }
}

/// Returns whether a gate on kernels would fail.
pub(crate) fn fails(judgements: &[Judgement]) -> bool {
    judgements.iter().any(|judgement| judgement.status == Status::Slower)
}

/// How many of the intervals of two equal builds contain 1.
pub(crate) fn coverage(judgements: &[Judgement]) -> Count {
    let mut count = Count::default();
    for Interval { low, high } in judgements.iter().filter_map(|judgement| judgement.interval) {
        count += Count::of(low <= 1.0 && 1.0 <= high);
    }
    count
}
