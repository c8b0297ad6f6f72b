//! The kernels of all runs of both sides, side by side.

use cli::{Exit, Failure};
use rtl_analysis::compare::Run as KernelRun;
use rtl_analysis::identity::KernelFeatures;
use rtl_analysis::profile::Kernel;

use super::waits::Waits;
use crate::input::Run;

/// Kernels by side. A kernel has the same position in all lists of its side.
#[derive(Debug, Default)]
pub(super) struct Joined {
    /// What they are.
    pub(super) subjects: [Vec<KernelFeatures>; 2],
    /// Name with launch shape: what calibration knows them by.
    pub(super) titles: [Vec<String>; 2],
    /// Whether they wait for other ranks.
    pub(super) collective: [Vec<bool>; 2],
    /// What they waited, where they are collectives that are compared by transfer: then their runs are transfers.
    pub(super) waits: [Vec<Option<Waits>>; 2],
    /// Their runs; one position is the same run for every kernel.
    pub(super) runs: [Vec<Vec<KernelRun>>; 2],
    /// For each run and each of its kernels the position in the lists.
    pub(super) of_run: [Vec<Vec<usize>>; 2],
    /// The number of each kernel among those of both sides.
    numbers: [Vec<usize>; 2],
    /// Time of all kernels but collectives, and of all, in all runs of a side, in ns.
    totals: [[i128; 2]; 2],
    counts: [usize; 2],
}

/// Joins the kernels of all runs.
///
/// # Errors
/// Where the columns cannot be joined.
pub(super) fn join(baseline: &[Run], candidate: &[Run]) -> Result<Joined, Failure> {
    let runs: Vec<&Run> = baseline.iter().chain(candidate).collect();
    let keys: Vec<Vec<frames::kernels::Key>> = runs
        .iter()
        .map(|run| {
            let kernels = run.profile.kernels.iter();
            kernels.map(|kernel| (kernel.name.clone(), kernel.launch.clone().unwrap_or_default())).collect()
        })
        .collect();
    let numbered = frames::kernels::number(&keys)
        .map_err(|error| Failure::new(Exit::Input, error).context("cannot join the kernels of the runs"))?;
    let mut joined = Joined { counts: [baseline.len(), candidate.len()], ..Joined::default() };
    let (before, after) = numbered.of_run.split_at(baseline.len());
    for (side, (runs, numbers)) in [(baseline, before), (candidate, after)].into_iter().enumerate() {
        joined.add(side, runs, numbers, numbered.keys.len());
    }
    Ok(joined)
}

impl Joined {
    fn add(&mut self, side: usize, runs: &[Run], numbers: &[Vec<usize>], kernels: usize) {
        let mut position: Vec<Option<usize>> = vec![None; kernels];
        for (at, (run, numbers)) in runs.iter().zip(numbers).enumerate() {
            let mut of_run = Vec::with_capacity(numbers.len());
            for (kernel, &number) in run.profile.kernels.iter().zip(numbers) {
                let place = *position[number].get_or_insert_with(|| {
                    self.subjects[side].push(KernelFeatures {
                        name: kernel.name.clone(),
                        launch: kernel.launch.clone(),
                        shapes: kernel.shapes.clone(),
                        neighbours: kernel.neighbours.clone(),
                        calls: 0,
                    });
                    let launch = kernel.launch.as_ref().map(|launch| format!(" [{launch}]"));
                    self.titles[side].push(format!("{}{}", kernel.name, launch.unwrap_or_default()));
                    self.collective[side].push(kernel.collective);
                    self.waits[side].push(None);
                    self.runs[side].push(vec![KernelRun::default(); runs.len()]);
                    self.numbers[side].push(number);
                    self.subjects[side].len() - 1
                });
                let calls = &mut self.subjects[side][place].calls;
                *calls = calls.saturating_add(kernel.run.calls);
                self.runs[side][place][at] = kernel.run.clone();
                let total = i128::from(kernel.run.total_ns);
                self.totals[side][1] += total;
                self.totals[side][0] += if kernel.collective { 0 } else { total };
                of_run.push(place);
            }
            self.of_run[side].push(of_run);
        }
    }

    /// Positions of kernels that both sides have.
    pub(super) fn exact(&self) -> Vec<(usize, usize)> {
        let most = self.numbers.iter().flatten().max().map_or(0, |&number| number + 1);
        let mut of_candidate: Vec<Option<usize>> = vec![None; most];
        for (at, &number) in self.numbers[1].iter().enumerate() {
            of_candidate[number] = Some(at);
        }
        let baseline = self.numbers[0].iter().enumerate();
        baseline.filter_map(|(at, &number)| Some((at, of_candidate[number]?))).collect()
    }

    /// How many runs a side has.
    pub(super) fn run_count(&self, side: usize) -> usize {
        self.counts[side]
    }

    /// The part of a kernel of the GPU time of its side: of all kernels but collectives, which wait and would make
    /// every other share depend on that; a collective's own is of all kernels, and without its waits where those are known.
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
}

/// The kernel of each position of a side in each run, `None` where it did not run.
pub(super) fn by_position<'a>(joined: &Joined, side: usize, runs: &'a [Run]) -> Vec<Vec<Option<&'a Kernel>>> {
    let mut all = vec![vec![None; runs.len()]; joined.subjects[side].len()];
    for (at, (run, places)) in runs.iter().zip(&joined.of_run[side]).enumerate() {
        for (kernel, &place) in run.profile.kernels.iter().zip(places) {
            all[place][at] = Some(kernel);
        }
    }
    all
}
