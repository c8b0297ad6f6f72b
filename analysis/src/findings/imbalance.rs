//! Ranks that compute for different times, so that those with less work wait.

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::base::stats::median;
use crate::ranks::{KernelImbalance, Rank};
use crate::trust::Evidence;

/// From this part of the waiting, what ranks compute more than others explains it.
const EXPLAINS: f64 = 0.5;

/// A rank that waits less than this part of what is usual is one of the late ones.
const LITTLE: f64 = 0.5;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    if !is_of_several(inputs) {
        return None;
    }
    let kernels = || inputs.ranks.iter().flat_map(|ranks| &ranks.kernels);
    let most = kernels().next().filter(|kernel| kernel.most_ns as f64 > kernel.mean_ns)?;
    let mut finding = Finding::new("imbalance", inputs, inputs.all_waiting_ns());
    finding.sentence = format!(
        "ranks differ in what they compute, most in {}: {}; a rank waits {} with nothing beside it ({} of the wall time)",
        inputs.display(&most.name),
        difference(most),
        time(finding.cost_ns),
        percent(finding.share),
    );
    let mean = mean_compute_ns(inputs);
    let above = || inputs.ranks().iter().filter(|rank| rank.collectives > 0 && rank.compute_ns > mean);
    finding.ranks = above().filter_map(|rank| rank.rank).collect();
    finding.gpus = above().map(|rank| rank.gpu).collect();
    finding.ranks.sort_unstable();
    finding.gpus.sort_unstable();
    finding.gpus.dedup();
    let uneven = kernels().filter(|kernel| kernel.most_ns as f64 > kernel.mean_ns).take(PLACES);
    finding.evidence =
        uneven.map(|kernel| Evidence { name: kernel.name.clone(), ..Evidence::default() }).collect();
    finding.look = "rtl-summary --by rank TRACE".to_owned();
    finding.help = "spread the work evenly: the lengths of the sequences, the tokens of the experts, the layers of the stages"
        .to_owned();
    Some(finding)
}

/// Returns whether ranks wait because several others compute longer; a single late rank is the rule for stragglers.
pub(super) fn is_of_several(inputs: &Inputs<'_>) -> bool {
    let ranks = || inputs.ranks().iter().filter(|rank| rank.collectives > 0);
    let count = ranks().count();
    if count < 2 || inputs.straggler().is_some() && late(ranks()) < 2 {
        return false;
    }
    let most = ranks().map(|rank| rank.compute_ns).max().unwrap_or(0);
    let longer = most.saturating_sub(mean_compute_ns(inputs));
    let waiting = inputs.all_waiting_ns() / count as i64;
    waiting > 0 && longer as f64 >= EXPLAINS * waiting as f64
}

fn mean_compute_ns(inputs: &Inputs<'_>) -> i64 {
    let times = || inputs.ranks().iter().filter(|rank| rank.collectives > 0).map(|rank| rank.compute_ns);
    times().fold(0, i64::saturating_add) / times().count().max(1) as i64
}

/// How many ranks wait little.
fn late<'a>(ranks: impl Iterator<Item = &'a Rank>) -> usize {
    let wait = |rank: &Rank| rank.clock_free_wait_ns as f64 / rank.collectives.max(1) as f64;
    let mut waits: Vec<f64> = ranks.map(wait).collect();
    let usual = median(&mut waits);
    waits.iter().filter(|&&wait| wait < LITTLE * usual).count()
}

fn difference(kernel: &KernelImbalance) -> String {
    let calls = match kernel.most_calls > kernel.least_calls {
        true => format!(", {} calls where another rank has {}", kernel.most_calls, kernel.least_calls),
        false => String::new(),
    };
    format!(
        "{} has {} of it, the mean is {}{calls}",
        kernel.rank,
        time(kernel.most_ns),
        time(kernel.mean_ns as i64)
    )
}
