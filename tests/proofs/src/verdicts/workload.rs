//! Runs of a made-up workload: what real kernels were seen to do, with a truth that is known.

use rtl_analysis::compare::random::Random;
use rtl_analysis::compare::{KernelPair, Run};

/// How kernels differ from run to run when nothing changed: by 1 % (standard deviation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    /// Each kernel by itself.
    PerKernel,
    /// All kernels of a run by the same factor.
    Shared,
}

/// How far runs differ.
const BETWEEN_RUNS: f64 = 0.01;
/// How far calls differ within a run.
const WITHIN_RUN: f64 = 0.03;
/// How much a call resembles the one before it.
const ALIKE: f64 = 0.6;
/// How many calls take half as long again to three times as long.
const OUTLIERS: f64 = 0.01;
/// The step of the clock in ns.
const TICK: f64 = 40.0;
pub(crate) const KERNELS: usize = 80;

/// Eighty kernels of 20 to 5,000 calls each.
pub(crate) struct Workload {
    kernels: Vec<Kernel>,
    names: Vec<String>,
    shares: Vec<f64>,
}

struct Kernel {
    calls: usize,
    mean_ns: f64,
}

impl Workload {
    /// Calls are spread evenly over their orders of magnitude, mean durations lie around 20 us (half of them between 10
    /// and 40 us).
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random::part(seed, 0);
        let kernels: Vec<Kernel> = (0..KERNELS)
            .map(|_| Kernel {
                calls: (20.0 * 250_f64.powf(random.unit())) as usize,
                mean_ns: 20_000.0 * random.normal().exp(),
            })
            .collect();
        let time: f64 = kernels.iter().map(|kernel| kernel.calls as f64 * kernel.mean_ns).sum();
        Self {
            names: (0..KERNELS).map(|kernel| format!("kernel_{kernel}")).collect(),
            shares: kernels.iter().map(|kernel| kernel.calls as f64 * kernel.mean_ns / time).collect(),
            kernels,
        }
    }

    /// Runs of every kernel: for each kernel `count` of them. `seed` names the side.
    pub(crate) fn runs(&self, shift: Shift, count: usize, seed: u64) -> Vec<Vec<Run>> {
        (0..KERNELS).map(|kernel| self.runs_of(kernel, 1.0, shift, count, seed)).collect()
    }

    /// Runs of one kernel as [`Workload::runs`] makes them, slower by a factor.
    pub(crate) fn runs_of(
        &self,
        kernel: usize,
        factor: f64,
        shift: Shift,
        count: usize,
        seed: u64,
    ) -> Vec<Run> {
        (0..count as u64)
            .map(|run| {
                let common = Random::part(seed, run).normal();
                let mut random = Random::part(seed, 1_000 * (kernel as u64 + 1) + run);
                let moved = match shift {
                    Shift::Shared => common,
                    Shift::PerKernel => random.normal(),
                };
                let mean = self.kernels[kernel].mean_ns * factor * (BETWEEN_RUNS * moved).exp();
                Run::of(&durations(&mut random, self.kernels[kernel].calls, mean))
            })
            .collect()
    }

    /// How many calls a kernel has in a run.
    pub(crate) fn calls(&self, kernel: usize) -> usize {
        self.kernels[kernel].calls
    }

    /// One kernel of at least this share of the time, drawn at random.
    pub(crate) fn kernel_of_share(&self, least: f64, seed: u64) -> usize {
        let large: Vec<usize> = (0..KERNELS).filter(|&kernel| self.shares[kernel] >= least).collect();
        large[Random::part(seed, 1).below(large.len())]
    }

    /// Both sides as the comparison wants them.
    pub(crate) fn pairs<'a>(
        &'a self,
        baseline: &'a [Vec<Run>],
        candidate: &'a [Vec<Run>],
    ) -> Vec<KernelPair<'a>> {
        (0..KERNELS)
            .map(|kernel| KernelPair {
                name: &self.names[kernel],
                baseline: &baseline[kernel],
                candidate: &candidate[kernel],
                share: self.shares[kernel],
                gated: true,
                threshold: None,
            })
            .collect()
    }

    /// Names with runs, as calibration wants them.
    pub(crate) fn named<'a>(&'a self, runs: &'a [Vec<Run>]) -> Vec<(&'a str, &'a [Run])> {
        self.names.iter().map(String::as_str).zip(runs.iter().map(Vec::as_slice)).collect()
    }
}

/// A random walk that is pulled back to the mean; its steps are sums of four even ones, which after a few steps is
/// normal for all that trimmed means can tell, and cheap.
fn durations(random: &mut Random, calls: usize, mean: f64) -> Vec<i64> {
    const OUTLIER: u64 = (OUTLIERS * 65_536.0) as u64;
    let step = WITHIN_RUN * (1.0 - ALIKE * ALIKE).sqrt();
    let mut state = WITHIN_RUN * random.normal();
    let ticks = mean / TICK;
    let mut bits = 0;
    (0..calls)
        .map(|call| {
            if call % 4 == 0 {
                bits = random.next();
            }
            let rare = bits & 0xffff;
            bits >>= 16;
            let factor = if rare < OUTLIER { 1.5 + 1.5 * rare as f64 / OUTLIER as f64 } else { 1.0 + state };
            state = ALIKE * state + step * almost_normal(random.next());
            (ticks * factor + 0.5) as i64 * TICK as i64
        })
        .collect()
}

/// The sum of four even numbers of 16 bits, brought to mean 0 and variance 1.
fn almost_normal(bits: u64) -> f64 {
    let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    (sum as f64 - 131_070.0) / 37_837.227
}
