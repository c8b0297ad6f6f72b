//! Copies that the host waits for, with no kernel beside them.

use super::finding::Finding;
use super::idle::IdleLoss;
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let lost = IdleLoss::to_blocking(inputs, Cause::BlockingCopy);
    let alone = inputs.blocking_copies_alone_ns();
    let finding = Finding::new("blocking-copy", inputs, lost.ns.saturating_add(alone));
    let gpus = inputs.gpus().len().max(1) as i64;
    Some(Finding {
        sentence: format!(
            "the host waits for copies: {}{} with nothing but such copies and {} idle after them ({} of the wall \
             time){}",
            time(alone / gpus),
            inputs.each(),
            time(lost.ns / gpus),
            percent(finding.share),
            lost.at(),
        ),
        look: "rtl-summary --section copies,idle TRACE".to_owned(),
        help: "copy from and to pinned memory without blocking, on a stream of its own, while kernels run".to_owned(),
        gpus: lost.gpus,
        evidence: lost.evidence,
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
