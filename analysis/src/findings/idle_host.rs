//! The host does something else than to launch work.

use super::finding::Finding;
use super::idle::IdleLoss;
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let lost = IdleLoss::of_its_own(inputs, Cause::Host);
    let finding = Finding::new("idle-host", inputs, lost.ns);
    Some(Finding {
        sentence: format!(
            "the GPU waits for the host, which is busy with something else: idle for {} in {} ({} of the wall time){}",
            time(finding.cost_ns),
            counted(lost.gaps, "gap", "gaps"),
            percent(finding.share),
            lost.at(),
        ),
        look: "rtl-summary --section idle,gaps TRACE".to_owned(),
        help: "load and prepare data in other threads or processes and ahead of time; move the rest of the host's work out \
               of the loop"
            .to_owned(),
        gpus: lost.gpus,
        evidence: lost.evidence,
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
