//! Divides the wall of a step of two typical runs into the work of both sides and the work of one.

use std::collections::BTreeMap;

use rtl_analysis::compare::{KernelPair, judge};
use rtl_analysis::profile::Activity;

use super::sides::Sides;
use super::work::{Item, Whole, WorkTerms};
use crate::input::Run;
use crate::settings::Settings;

pub(super) fn terms(runs: [&Run; 2]) -> WorkTerms {
    let mut items: BTreeMap<&str, [Option<i64>; 2]> = BTreeMap::new();
    let mut sums = [0_i64; 2];
    for (side, run) in runs.into_iter().enumerate() {
        for part in run.profile.gpus.iter().flat_map(|gpu| &gpu.work) {
            let Activity::Kernel(kernel) = part.item else { continue };
            let name = run.profile.kernels[kernel].name.as_str();
            let time = items.entry(name).or_default()[side].get_or_insert(0);
            *time = time.saturating_add(part.total_ns);
            sums[side] = sums[side].saturating_add(part.total_ns);
        }
    }
    let sides = |figure: &dyn Fn(usize) -> i64| Sides { baseline: figure(0), candidate: figure(1) };
    let busy =
        runs.map(|run| run.profile.gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.busy_ns)));
    let item = |(name, [baseline_ns, candidate_ns]): (&str, [Option<i64>; 2])| Item {
        name: name.to_owned(),
        baseline_ns,
        candidate_ns,
    };
    WorkTerms {
        items: items.into_iter().map(item).collect(),
        overlap_ns: sides(&|side| sums[side].saturating_sub(busy[side])),
        idle_ns: sides(&|side| runs[side].wall_ns().saturating_sub(busy[side])),
        wall_ns: sides(&|side| runs[side].wall_ns()),
    }
}

/// Judges all work of a step, as if it were one kernel.
pub(super) fn whole(sides: [&[Run]; 2], settings: &Settings) -> Option<Whole> {
    let [baseline, candidate] =
        sides.map(|runs| runs.iter().filter_map(|run| run.whole.clone()).collect::<Vec<_>>());
    let pair = KernelPair {
        name: "all work",
        baseline: &baseline,
        candidate: &candidate,
        share: 1.0,
        gated: true,
        threshold: None,
    };
    let judgement = judge(&[pair], &settings.rules, None).pop()?;
    let is_known = judgement.baseline.calls > 0 && judgement.candidate.calls > 0;
    is_known.then_some(Whole {
        ratio: judgement.ratio,
        ci_low: judgement.interval.map(|interval| interval.low),
        ci_high: judgement.interval.map(|interval| interval.high),
    })
}
