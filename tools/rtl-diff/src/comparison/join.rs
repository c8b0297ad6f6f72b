//! Joins the kernels of all runs of a side by name and launch shape, so that each is compared over all runs.

use std::collections::{BTreeSet, HashMap};

use rtl_analysis::compare::Run as KernelRun;
use rtl_analysis::identity::{KernelFeatures, Matching, Method, Pair};
use rtl_analysis::profile::Kernel;

use super::types::Waits;
use crate::input::{Run, label};

#[derive(Debug, Default)]
pub(super) struct JoinedSide<'a> {
    pub(super) kernels: Vec<JoinedKernel<'a>>,
    /// The position of each kernel of each run in `kernels`.
    pub(super) positions: Vec<Vec<usize>>,
    /// The time of all kernels but collectives, and of all kernels, in all runs, in ns.
    totals: [i128; 2],
}

#[derive(Debug)]
pub(super) struct JoinedKernel<'a> {
    /// The kernel in the first run that has it; those of other runs have the same name and launch shape.
    pub(super) first: &'a Kernel,
    /// The name with the launch shape, by which calibration identifies the kernel.
    pub(super) label: String,
    /// The kernel in each run, `None` where it did not run.
    pub(super) in_runs: Vec<Option<&'a Kernel>>,
    /// The calls in each run; one position is the same run for every kernel.
    pub(super) runs: Vec<KernelRun>,
    /// The waits of a collective that is compared by transfer; then `runs` are transfers.
    pub(super) waits: Option<Waits>,
}

impl<'a> JoinedSide<'a> {
    pub(super) fn new(runs: &'a [Run]) -> Self {
        let mut side = Self::default();
        let mut known = HashMap::new();
        for (at, run) in runs.iter().enumerate() {
            let mut positions = Vec::with_capacity(run.profile.kernels.len());
            for kernel in &run.profile.kernels {
                let position = *known.entry(key(kernel)).or_insert(side.kernels.len());
                if position == side.kernels.len() {
                    side.kernels.push(JoinedKernel {
                        first: kernel,
                        label: label(&kernel.name, kernel.launch.as_deref()),
                        in_runs: vec![None; runs.len()],
                        runs: vec![KernelRun::default(); runs.len()],
                        waits: None,
                    });
                }
                side.kernels[position].in_runs[at] = Some(kernel);
                side.kernels[position].runs[at].clone_from(&kernel.run);
                let total = i128::from(kernel.run.total_ns);
                side.totals[1] += total;
                side.totals[0] += if kernel.collective { 0 } else { total };
                positions.push(position);
            }
            side.positions.push(positions);
        }
        side
    }

    pub(super) fn features(&self) -> Vec<KernelFeatures> {
        let features = |kernel: &JoinedKernel<'_>| KernelFeatures {
            name: kernel.first.name.clone(),
            launch: kernel.first.launch.clone(),
            shapes: kernel.first.shapes.clone(),
            neighbours: kernel.first.neighbours.clone(),
            calls: kernel.runs.iter().fold(0, |calls, run| calls.saturating_add(run.calls)),
        };
        self.kernels.iter().map(features).collect()
    }

    /// The share of a kernel in the GPU time of all kernels but collectives, because waits would change every other share.
    /// The share of a collective is that in the time of all kernels, without its waits where these are known.
    pub(super) fn share(&self, kernel: &JoinedKernel<'_>) -> f64 {
        let own = match &kernel.waits {
            Some(waits) => i128::from(waits.transfer_ns),
            None => kernel.runs.iter().map(|run| i128::from(run.total_ns)).sum(),
        };
        match self.totals[usize::from(kernel.first.collective)] {
            0 => 0.0,
            all => own as f64 / all as f64,
        }
    }
}

pub(super) fn exact([baseline, candidate]: &[JoinedSide<'_>; 2]) -> Vec<(usize, usize)> {
    let candidate: HashMap<_, usize> =
        candidate.kernels.iter().map(|kernel| key(kernel.first)).zip(0..).collect();
    let baseline = baseline.kernels.iter().enumerate();
    baseline.filter_map(|(at, kernel)| Some((at, *candidate.get(&key(kernel.first))?))).collect()
}

/// A matching of nothing but the exact pairs.
pub(super) fn only(sides: &[JoinedSide<'_>; 2], exact: &[(usize, usize)]) -> Matching {
    let pair = |&(baseline, candidate): &(usize, usize)| Pair {
        baseline,
        candidate,
        method: Method::Exact,
        score: 1.0,
    };
    let rest = |side: usize, is_paired: &dyn Fn(usize) -> bool| {
        (0..sides[side].kernels.len()).filter(|&at| !is_paired(at)).collect()
    };
    let [baseline, candidate]: [BTreeSet<usize>; 2] =
        [exact.iter().map(|pair| pair.0).collect(), exact.iter().map(|pair| pair.1).collect()];
    Matching {
        pairs: exact.iter().map(pair).collect(),
        removed: rest(0, &|at| baseline.contains(&at)),
        new: rest(1, &|at| candidate.contains(&at)),
        ..Matching::default()
    }
}

fn key(kernel: &Kernel) -> (&str, &str) {
    (&kernel.name, kernel.launch.as_deref().unwrap_or_default())
}
