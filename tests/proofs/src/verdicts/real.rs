//! A trace of a real GPU, compared with itself: whatever differs between its parts is noise.

use std::collections::BTreeMap;
use std::path::Path;

use rtl_analysis::Categories;
use rtl_analysis::categories::COLLECTIVE;
use rtl_analysis::compare::mix::{self, Calls};
use rtl_analysis::compare::{Judgement, KernelPair, Rules, Run, Status, judge};
use rtl_schema::{Select, Trace, identity};

/// How a trace is cut into two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The first half and the second, one run each.
    Halves,
    /// Twenty blocks, every other one on a side, one run each.
    Interleaved,
    /// Twenty blocks, every other one on a side, each a run.
    Blocks,
}

/// The dispatches of a trace in order of start: which kernel, which launch shape, how long in ns.
pub(crate) struct Recording {
    names: Vec<String>,
    ops: Vec<(usize, u32, i64)>,
}

/// Result of a comparison of a build with itself.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// How many kernels a gate could look at.
    pub(crate) gated: usize,
    /// Kernels that it calls slower.
    pub(crate) regressed: Vec<String>,
}

impl Recording {
    /// Reads a trace and leaves collectives out, which wait for others.
    pub(crate) fn open(path: &Path) -> Result<Self, rtl_schema::Error> {
        let tables = Trace::open(path)?.read(&Select { shapes: true, ..Select::summary() })?;
        let categories = Categories::default();
        let dispatches = &tables.dispatches;
        let mut rows: Vec<(i64, usize)> =
            (0..dispatches.len()).map(|row| (dispatches.start[row], row)).collect();
        rows.sort_unstable();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut ops = Vec::new();
        for (_, row) in rows {
            let name = identity(tables.strings.get(dispatches.name[row]));
            let Some(duration) = dispatches.duration.valid(row) else { continue };
            if categories.of(name) != COLLECTIVE {
                let count = known.len();
                let shape = dispatches.shape.get(row).map_or(0, |shape| shape.0 + 1);
                ops.push((*known.entry(name.to_owned()).or_insert(count), shape, duration));
            }
        }
        let mut names = vec![String::new(); known.len()];
        known.into_iter().for_each(|(name, position)| names[position] = name);
        Ok(Self { names, ops })
    }

    /// Judges the parts, all calls of the candidate slower by a factor.
    pub(crate) fn judge(&self, cut: Cut, factor: f64, rules: &Rules) -> Vec<(String, f64, Judgement)> {
        let blocks = if cut == Cut::Halves { 2 } else { 20 };
        let runs = if cut == Cut::Blocks { blocks / 2 } else { 1 };
        let empty = || vec![(Vec::<i64>::new(), Vec::<u32>::new()); runs];
        let mut calls: Vec<[_; 2]> = self.names.iter().map(|_| [empty(), empty()]).collect();
        for (position, &(kernel, shape, duration)) in self.ops.iter().enumerate() {
            let block = position * blocks / self.ops.len();
            let side = block % 2;
            let duration = if side == 1 { (duration as f64 * factor).round() as i64 } else { duration };
            let (durations, shapes) = &mut calls[kernel][side][block / 2 % runs];
            durations.push(duration);
            shapes.push(shape);
        }
        let sides: Vec<[Vec<Run>; 2]> = calls
            .iter()
            .map(|sides| {
                let [baseline, candidate] = sides.each_ref().map(|runs| {
                    let calls = |(durations, shapes): &(Vec<i64>, Vec<u32>)| Calls {
                        durations: durations.clone().into(),
                        shapes: shapes.clone().into(),
                    };
                    runs.iter().map(calls).collect::<Vec<_>>()
                });
                mix::runs(&baseline, &candidate)
            })
            .collect();
        let total =
            |side: usize| sides.iter().flat_map(|runs| &runs[side]).map(|run| run.total_ns).sum::<i64>();
        let totals = [total(0), total(1)];
        let share = |runs: &[Vec<Run>; 2]| {
            let part = |side: usize| {
                runs[side].iter().map(|run| run.total_ns).sum::<i64>() as f64 / totals[side] as f64
            };
            part(0).max(part(1))
        };
        let pairs: Vec<KernelPair<'_>> = self
            .names
            .iter()
            .zip(&sides)
            .map(|(name, runs)| KernelPair {
                name,
                baseline: &runs[0],
                candidate: &runs[1],
                share: share(runs),
                gated: true,
                threshold: None,
            })
            .collect();
        let judgements = judge(&pairs, rules, None);
        pairs
            .iter()
            .zip(judgements)
            .map(|(pair, judgement)| (pair.name.to_owned(), pair.share, judgement))
            .collect()
    }

    /// Runs a gate on the parts of a recording.
    pub(crate) fn compare(&self, cut: Cut, factor: f64, rules: &Rules) -> Found {
        let mut found = Found::default();
        for (name, share, judgement) in self.judge(cut, factor, rules) {
            let calls = judgement.baseline.calls.min(judgement.candidate.calls);
            found.gated += usize::from(share >= rules.min_share && calls >= rules.min_calls);
            if judgement.status == Status::Slower {
                found.regressed.push(name);
            }
        }
        found
    }
}
