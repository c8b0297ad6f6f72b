//! Repeated runs of one program on a real GPU, the same build and a slower one: every draw of some runs for each side.

use std::collections::BTreeMap;
use std::path::Path;

use rtl_analysis::compare::{KernelPair, Noise, Rules, Run, judge};
use rtl_analysis::profile::{KernelKey, Warmup, profile};
use rtl_analysis::{Analysis, Categories};
use rtl_schema::{Select, Trace};

use crate::questions::{Count, fails};

/// The gate that is asked.
const THRESHOLD: f64 = 0.02;

/// Fewer runs are no calibration.
const MIN_CALIBRATION: usize = 3;

/// The runs of a folder; a file is named after its build, `a.0.db.gz`, `b.0.db.gz` and `p5.0.db.gz`, where `a` and `b` are one.
pub(crate) struct RealRuns {
    names: Vec<String>,
    /// Indexed by kernel, of the one build.
    equal: Vec<Vec<Run>>,
    /// Indexed by kernel, of the slower build.
    slower: Vec<Vec<Run>>,
}

/// The runs that the noise is learned from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Calibration {
    /// All runs of the one build, those that are compared too.
    All,
    /// Kernels that are not compared.
    Others,
}

impl RealRuns {
    /// Reads all runs of a folder.
    pub(crate) fn open(folder: &Path) -> Result<Self, rtl_schema::Error> {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path()).collect();
        paths.sort();
        let mut kernels: BTreeMap<String, [Vec<Run>; 2]> = BTreeMap::new();
        let mut counts = [0; 2];
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let side = usize::from(name.starts_with('p'));
            let tables = Trace::open(&path)?.read(&Select::ops())?;
            let analysis = Analysis::new(&tables, &Categories::default());
            for kernel in profile(&analysis, KernelKey::Name, Warmup::Keep).kernels {
                let runs = &mut kernels.entry(kernel.name).or_default()[side];
                runs.resize(counts[side], Run::default());
                runs.push(kernel.run);
            }
            counts[side] += 1;
        }
        let mut all = Self { names: Vec::new(), equal: Vec::new(), slower: Vec::new() };
        for (name, [mut equal, mut slower]) in kernels {
            equal.resize(counts[0], Run::default());
            slower.resize(counts[1], Run::default());
            all.names.push(name);
            all.equal.push(equal);
            all.slower.push(slower);
        }
        Ok(all)
    }

    /// How many comparisons of `runs` a side fail: of the one build with itself, and with the slower build. One in `every` of
    /// all draws is compared.
    pub(crate) fn compare(&self, runs: usize, calibration: Calibration, every: usize) -> [Count; 2] {
        let all = self.equal.first().map_or(0, Vec::len);
        let slower = self.slower.first().map_or(0, Vec::len);
        let mut counts = [Count::default(); 2];
        let mut number = 0;
        for baseline in draws(all, runs) {
            let rest: Vec<usize> = (0..all).filter(|run| !baseline.contains(run)).collect();
            for drawn in draws(rest.len(), runs) {
                number += 1;
                if number % every == 0 {
                    let candidate: Vec<usize> = drawn.iter().map(|&at| rest[at]).collect();
                    let noise = self.noise(calibration, [&baseline, &candidate]);
                    counts[0] += Count::of(self.fails(&baseline, (&self.equal, &candidate), noise.as_ref()));
                }
            }
            for candidate in draws(slower, runs) {
                number += 1;
                if number % every == 0 {
                    let noise = self.noise(calibration, [&baseline, &[]]);
                    counts[1] += Count::of(self.fails(&baseline, (&self.slower, &candidate), noise.as_ref()));
                }
            }
        }
        counts
    }

    /// The noise of the one build.
    fn noise(&self, calibration: Calibration, compared: [&[usize]; 2]) -> Option<Noise> {
        let is_used =
            |run: &usize| calibration == Calibration::All || !compared.iter().any(|runs| runs.contains(run));
        let used: Vec<usize> = (0..self.equal.first().map_or(0, Vec::len)).filter(is_used).collect();
        let of_kernel: Vec<Vec<Run>> = self.equal.iter().map(|runs| chosen(runs, &used)).collect();
        let kernels: Vec<(&str, &[Run])> =
            self.names.iter().zip(&of_kernel).map(|(name, runs)| (name.as_str(), runs.as_slice())).collect();
        (used.len() >= MIN_CALIBRATION).then(|| Noise::calibrate(&kernels))
    }

    fn fails(
        &self,
        baseline: &[usize],
        (of_candidate, candidate): (&[Vec<Run>], &[usize]),
        noise: Option<&Noise>,
    ) -> bool {
        let sides: Vec<[Vec<Run>; 2]> = self
            .equal
            .iter()
            .zip(of_candidate)
            .map(|(one, other)| [chosen(one, baseline), chosen(other, candidate)])
            .collect();
        let time = |side: &[Run]| side.iter().map(|run| run.total_ns).sum::<i64>() as f64;
        let totals = [0, 1].map(|side| sides.iter().map(|runs| time(&runs[side])).sum::<f64>());
        let share = |runs: &[Vec<Run>; 2]| (time(&runs[0]) / totals[0]).max(time(&runs[1]) / totals[1]);
        let pair = |(name, runs)| -> KernelPair<'_> {
            let runs: &[Vec<Run>; 2] = runs;
            let name: &String = name;
            KernelPair {
                name,
                baseline: &runs[0],
                candidate: &runs[1],
                share: share(runs),
                gated: true,
                threshold: None,
            }
        };
        let pairs: Vec<KernelPair<'_>> = self.names.iter().zip(&sides).map(pair).collect();
        fails(&judge(&pairs, &Rules { threshold: THRESHOLD, ..Rules::default() }, noise))
    }
}

fn chosen(runs: &[Run], which: &[usize]) -> Vec<Run> {
    which.iter().map(|&at| runs[at].clone()).collect()
}

/// All ways to draw `count` of `from`.
fn draws(from: usize, count: usize) -> Vec<Vec<usize>> {
    let Some(less) = count.checked_sub(1) else { return vec![Vec::new()] };
    let beginning = |last: usize| {
        draws(last, less).into_iter().map(move |mut drawn| {
            drawn.push(last);
            drawn
        })
    };
    (0..from).flat_map(beginning).collect()
}
