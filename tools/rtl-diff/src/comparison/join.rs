//! The kernels of all runs of both sides, side by side.

use std::collections::HashMap;

use rtl_analysis::compare::Run as KernelRun;
use rtl_analysis::identity::KernelFeatures;
use rtl_analysis::profile::Kernel;

use super::types::Waits;
use crate::input::{Run, label};

/// Kernels by side. A kernel has the same position in all lists of its side.
#[derive(Debug, Default)]
pub(super) struct JoinedKernels {
    pub(super) subjects: [Vec<KernelFeatures>; 2],
    /// Name with launch shape: the name by which calibration identifies them.
    pub(super) labels: [Vec<String>; 2],
    pub(super) collective: [Vec<bool>; 2],
    /// The waits of collectives that are compared by transfer: then their runs are transfers.
    pub(super) waits: [Vec<Option<Waits>>; 2],
    /// Their runs; one position is the same run for every kernel.
    pub(super) runs: [Vec<Vec<KernelRun>>; 2],
    /// For each run and each of its kernels the position in the lists.
    pub(super) of_run: [Vec<Vec<usize>>; 2],
    /// Number of runs of each side.
    pub(super) run_counts: [usize; 2],
    /// Time of all kernels but collectives, and of all, in all runs of a side, in ns.
    totals: [[i128; 2]; 2],
}

impl JoinedKernels {
    /// Joins the kernels of all runs, by name and launch shape.
    pub(super) fn of(sides: [&[Run]; 2]) -> Self {
        let mut joined = Self { run_counts: sides.map(<[Run]>::len), ..Self::default() };
        for (side, runs) in sides.into_iter().enumerate() {
            let mut positions = HashMap::new();
            for (at, run) in runs.iter().enumerate() {
                let mut of_run = Vec::with_capacity(run.profile.kernels.len());
                for kernel in &run.profile.kernels {
                    let key = (&*kernel.name, kernel.launch.as_deref().unwrap_or_default());
                    let position =
                        *positions.entry(key).or_insert_with(|| joined.push(side, kernel, runs.len()));
                    joined.add(side, position, at, kernel);
                    of_run.push(position);
                }
                joined.of_run[side].push(of_run);
            }
        }
        joined
    }

    fn push(&mut self, side: usize, kernel: &Kernel, runs: usize) -> usize {
        self.subjects[side].push(KernelFeatures {
            name: kernel.name.clone(),
            launch: kernel.launch.clone(),
            shapes: kernel.shapes.clone(),
            neighbours: kernel.neighbours.clone(),
            calls: 0,
        });
        self.labels[side].push(label(&kernel.name, kernel.launch.as_deref()));
        self.collective[side].push(kernel.collective);
        self.waits[side].push(None);
        self.runs[side].push(vec![KernelRun::default(); runs]);
        self.subjects[side].len() - 1
    }

    fn add(&mut self, side: usize, position: usize, run: usize, kernel: &Kernel) {
        let calls = &mut self.subjects[side][position].calls;
        *calls = calls.saturating_add(kernel.run.calls);
        self.runs[side][position][run] = kernel.run.clone();
        let total = i128::from(kernel.run.total_ns);
        self.totals[side][1] += total;
        self.totals[side][0] += if kernel.collective { 0 } else { total };
    }

    /// Positions of kernels that both sides have.
    pub(super) fn exact(&self) -> Vec<(usize, usize)> {
        let [baseline, candidate] = &self.subjects;
        let candidate: HashMap<_, usize> = candidate.iter().map(key).zip(0..).collect();
        let pair = |(at, subject)| Some((at, *candidate.get(&key(subject))?));
        baseline.iter().enumerate().filter_map(pair).collect()
    }

    /// The share of a kernel of the GPU time of its side: of all kernels but collectives, because waits would change
    /// every other share; a collective's own is of all kernels, and without its waits where those are known.
    pub(super) fn share(&self, side: usize, at: usize) -> f64 {
        let own = match &self.waits[side][at] {
            Some(waits) => i128::from(waits.transfer_ns),
            None => self.runs[side][at].iter().map(|run| i128::from(run.total_ns)).sum(),
        };
        match self.totals[side][usize::from(self.collective[side][at])] {
            0 => 0.0,
            all => own as f64 / all as f64,
        }
    }

    /// The kernel of each position of a side in each run, `None` where it did not run.
    pub(super) fn by_position<'a>(&self, side: usize, runs: &'a [Run]) -> Vec<Vec<Option<&'a Kernel>>> {
        let mut all = vec![vec![None; runs.len()]; self.subjects[side].len()];
        for (at, (run, positions)) in runs.iter().zip(&self.of_run[side]).enumerate() {
            for (kernel, &position) in run.profile.kernels.iter().zip(positions) {
                all[position][at] = Some(kernel);
            }
        }
        all
    }
}

fn key(subject: &KernelFeatures) -> (&str, &str) {
    (&subject.name, subject.launch.as_deref().unwrap_or_default())
}
