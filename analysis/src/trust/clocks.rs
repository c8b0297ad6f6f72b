//! Times of GPUs and of the host that do not agree: ops that start before they are launched, or clocks that are far apart.

use super::evidence;
use super::launched::Launched;
use super::reason::{Reason, Trust};
use crate::Analysis;
use crate::error::time;

/// From this part of the ops that are tied to a call.
const SOME: f64 = 0.01;

/// No queue is this long, in ns: times that are farther from each other are of different clocks.
const APART: i64 = 60_000_000_000;

pub(super) fn reason(analysis: &Analysis<'_>, launched: &Launched<'_>) -> Option<Reason> {
    apart(analysis, launched).or_else(|| early(launched))
}

fn early(launched: &Launched<'_>) -> Option<Reason> {
    let (early, of) = (&launched.too_early, launched.tied);
    let mut reason = Reason::new("gpu-before-launch", early.ops, of, String::new());
    reason.sentence = format!(
        "{} of {of} ops ({:.1} %) start before the call that launched them, by up to {}: the clocks of GPU and host do not agree",
        early.ops,
        reason.share * 100.0,
        time(early.most_ns),
    );
    reason.evidence = evidence::calls(launched.tables, early.calls.iter().copied());
    (early.ops > 0).then(|| reason.remark_below(SOME))
}

/// The launches of the host and the ops of its GPUs, where they have no time in common.
fn apart(analysis: &Analysis<'_>, launched: &Launched<'_>) -> Option<Reason> {
    let calls = &launched.tables.api_calls;
    let rows = launched.kernels.iter().chain(&launched.graphs).map(|&row| row as usize);
    let host = rows.fold((i64::MAX, i64::MIN), |(first, last), row| {
        let end = calls.start[row].saturating_add(calls.duration.valid(row).unwrap_or(0));
        (first.min(calls.start[row]), last.max(end))
    });
    let gpus = analysis.sweep().gpus.iter();
    let gpu =
        gpus.fold((i64::MAX, i64::MIN), |(first, last), gpu| (first.min(gpu.start_ns), last.max(gpu.end_ns)));
    if host.0 > host.1 || gpu.0 > gpu.1 {
        return None;
    }
    let distance = |host: (i64, i64)| gpu.0.saturating_sub(host.1).max(host.0.saturating_sub(gpu.1));
    if distance(host) < APART {
        return None;
    }
    // A later call that waits for the work shows that the time between is of one clock.
    let ends = (0..calls.len()).filter_map(|row| calls.start[row].checked_add(calls.duration.valid(row)?));
    let distance = distance((host.0, ends.fold(host.1, i64::max)));
    let of = (launched.tables.dispatches.len() + launched.tables.copies.len()) as u64;
    let sentence =
        format!("the times of GPU and host are {} apart: they are of different clocks", time(distance));
    (distance >= APART)
        .then(|| Reason { trust: Trust::Limited, ..Reason::new("clocks-apart", of, of, sentence) })
}
