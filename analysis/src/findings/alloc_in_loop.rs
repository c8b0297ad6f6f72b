//! Memory is allocated and released while the GPU has work to do.

use super::finding::Finding;
use super::idle::IdleLoss;
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let lost = IdleLoss::to_blocking(inputs, Cause::Allocation);
    let finding = Finding::new("alloc-in-loop", inputs, lost.ns);
    Some(Finding {
        sentence: format!(
            "memory is allocated and released between launches: idle for {} in {} ({} of the wall time){}",
            time(finding.cost_ns),
            counted(lost.gaps, "gap", "gaps"),
            percent(finding.share),
            lost.at(),
        ),
        look: "rtl-summary --section idle,api,memory TRACE".to_owned(),
        help: "keep memory in a pool (leave out `empty_cache()`, expand the allocator's segments), allocate before the loop"
            .to_owned(),
        gpus: lost.gpus,
        evidence: lost.evidence,
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
