//! Kernels are shorter than the time that launching them takes.

use super::finding::Finding;
use super::idle::IdleLoss;
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let lost = IdleLoss::of_its_own(inputs, Cause::Launch);
    let queued = IdleLoss::of_its_own(inputs, Cause::Queued);
    let finding = Finding::new("launch-bound", inputs, lost.ns.saturating_add(queued.ns));
    let mean = |total: i64, count: u64| time(total / i64::try_from(count.max(1)).unwrap_or(i64::MAX));
    let ops = inputs.gpus().iter().map(|gpu| gpu.ops).sum();
    let busy = inputs.gpus().iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.busy_ns));
    Some(Finding {
        sentence: format!(
            "launching takes longer than the ops run ({} each on average): idle for {} between launches, {} of {} \
             ({} of the wall time)",
            mean(busy, ops),
            time(finding.cost_ns),
            counted(lost.gaps, "gap", "gaps"),
            mean(lost.ns, lost.gaps),
            percent(finding.share),
        ),
        look: "rtl-summary --section idle,launches,queues TRACE".to_owned(),
        help: "launch the ops as one graph, fuse small kernels (torch.compile, foreach optimizers), or give each launch more \
               work"
            .to_owned(),
        gpus: lost.gpus,
        evidence: lost.evidence,
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
