//! The host waits for the GPU, which then has nothing to do.

use super::finding::Finding;
use super::idle::IdleLoss;
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let lost = IdleLoss::to_blocking(inputs, Cause::Synchronise);
    let finding = Finding::new("idle-sync", inputs, lost.ns);
    Some(Finding {
        sentence: format!(
            "the host waits for the GPU, which then has nothing queued: idle for {} in {} ({} of the wall time){}",
            time(finding.cost_ns),
            counted(lost.gaps, "gap", "gaps"),
            percent(finding.share),
            lost.at(),
        ),
        look: "rtl-summary --section idle TRACE".to_owned(),
        help: "read results later or not at all in the loop (`.item()`, `print`, `if` on a tensor), copy them without \
               blocking, wait for an event instead of the device"
            .to_owned(),
        gpus: lost.gpus,
        evidence: lost.evidence,
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
