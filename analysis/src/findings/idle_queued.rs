//! The GPU is idle although an op is enqueued.

use super::finding::{Finding, PLACES};
use super::idle;
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let total = inputs.idle().iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.waiting_ns));
    let finding = Finding::new("idle-queued", inputs, total);
    let queued =
        inputs.idle().iter().flat_map(|gpu| gpu.causes.iter().filter(|cause| cause.cause == Cause::Queued));
    Some(Finding {
        sentence: format!(
            "the GPU is idle for {} ({} of the wall time) although the next op is enqueued: it waits for another queue, a \
             barrier or another device, or is long on its way",
            time(finding.cost_ns),
            percent(finding.share),
        ),
        look: "rtl-summary --section queues,gaps,idle TRACE".to_owned(),
        help: "look at events and dependencies between streams; launch independent work on streams of its own".to_owned(),
        evidence: queued.flat_map(|cause| &cause.longest).take(PLACES).map(idle::evidence).collect(),
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
