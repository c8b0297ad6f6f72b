//! Ranks that compute for different times, so that those with less work wait.

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::straggler::{differences, kernels};
use super::words::{percent, time};
use crate::trust::Evidence;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let Some(job) = &inputs.job else { return Vec::new() };
    let finding = Finding::of_gpus("imbalance", inputs, job.by_imbalance.clone());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let needs = || {
        job.ranks
            .needs
            .ranks
            .iter()
            .enumerate()
            .filter_map(|(at, need)| Some((at, need.as_ref()?.compute_ns)))
    };
    let count = needs().count().max(1) as i64;
    let mean = needs().fold(0, |sum: i64, (_, ns)| sum.saturating_add(ns)) / count;
    let Some((slowest, most)) = needs().max_by_key(|&(at, ns)| (ns, std::cmp::Reverse(at))) else {
        return Vec::new();
    };
    let uneven = differences(inputs, job, slowest);
    let above = || needs().filter(|&(_, ns)| ns > mean).map(|(at, _)| &job.ranks.ranks[at]);
    let mut ranks: Vec<u32> = above().filter_map(|rank| rank.rank).collect();
    let mut gpus: Vec<i64> = above().map(|rank| rank.gpu).collect();
    ranks.sort_unstable();
    gpus.sort_unstable();
    gpus.dedup();
    vec![Finding {
        sentence: format!(
            "ranks differ in what they compute: {} computes {} longer than the mean of {}{}; a rank waits {} for that with nothing \
             beside it ({} of the wall time)",
            job.ranks.ranks[slowest].name,
            time(most - mean),
            time(mean),
            kernels(inputs, most - mean, &uneven),
            time(finding.cost_ns),
            percent(finding.share),
        ),
        ranks,
        gpus,
        evidence: uneven
            .iter()
            .take(PLACES)
            .map(|kernel| Evidence { name: kernel.name.clone(), ..Evidence::default() })
            .collect(),
        look: "rtl-summary --by rank TRACE".to_owned(),
        help: "spread the work evenly: the lengths of the sequences, the tokens of the experts, the layers of the stages"
            .to_owned(),
        ..finding
    }]
}
