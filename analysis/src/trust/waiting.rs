//! Waiting for other ranks, which counts as busy time: a remark, because findings and ranks state it.

use super::reason::{Reason, Trust};
use crate::Analysis;
use crate::ranks::Ranks;

/// From this part of the busy time.
const MUCH: f64 = 0.05;

/// From this part of the busy time collectives are worth a remark, where their waiting is not known.
const WORTH: f64 = 0.1;

pub(super) fn reason(analysis: &Analysis<'_>, ranks: Option<&Ranks>) -> Option<Reason> {
    let matched =
        |ranks: &&Ranks| ranks.ranks.len() > 1 && ranks.ranks.iter().any(|rank| rank.collectives > 0);
    if let Some(ranks) = ranks.filter(matched) {
        return between(ranks);
    }
    let gpus = &analysis.sweep().gpus;
    let sum = |time: fn(&crate::gpu_time::sweep::Gpu) -> i64| -> u64 {
        gpus.iter().map(|gpu| time(gpu).max(0).unsigned_abs()).fold(0, u64::saturating_add)
    };
    let (collectives, busy) = (sum(|gpu| gpu.collective_ns), sum(|gpu| gpu.busy_ns));
    let mut reason = Reason::new("collectives-unmatched", collectives, busy, String::new());
    reason.sentence = format!(
        "collectives run in {:.1} % of the busy time; only the other ranks' traces tell how much of it is waiting",
        reason.share * 100.0
    );
    (reason.share >= WORTH).then_some(Reason { trust: Trust::Good, ..reason })
}

/// The reason for ranks whose collectives are matched.
pub(super) fn between(ranks: &Ranks) -> Option<Reason> {
    of_sums(sums(ranks))
}

/// The ns that all ranks waited, and that they were busy.
pub(super) fn sums(ranks: &Ranks) -> (u64, u64) {
    let sum =
        |times: &mut dyn Iterator<Item = i64>| times.map(|time| time.max(0).unsigned_abs()).sum::<u64>();
    let waits = sum(&mut ranks.ranks.iter().map(|rank| rank.clock_free_wait_ns));
    (waits, sum(&mut ranks.ranks.iter().map(|rank| rank.busy_ns)))
}

pub(super) fn of_sums((waits, busy): (u64, u64)) -> Option<Reason> {
    let mut reason = Reason::new("collective-waiting", waits, busy, String::new());
    reason.sentence = format!(
        "kernels of collectives wait for later ranks for {:.1} % of the busy time, and count as busy meanwhile",
        reason.share * 100.0
    );
    (reason.share >= MUCH).then_some(Reason { trust: Trust::Good, ..reason })
}
