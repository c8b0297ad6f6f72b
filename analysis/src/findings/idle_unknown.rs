//! Idle time of which the trace does not tell the cause.

use super::finding::Finding;
use super::idle::IdleLoss;
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::idle::Cause;

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let lost = IdleLoss::of_its_own(inputs, Cause::Unknown);
    let finding = Finding::new("idle-unknown", inputs, lost.ns);
    let why = match inputs.analysis.tables.api_calls.is_empty() {
        true => "the trace has no calls of the host",
        false => "nothing ties the ops that ended the gaps to calls of the host",
    };
    Some(Finding {
        sentence: format!(
            "idle for {} ({} of the wall time) for unknown causes: {why}",
            time(finding.cost_ns),
            percent(finding.share),
        ),
        look: "rtl-summary --section gaps TRACE".to_owned(),
        help: "record the host's calls too: `rtl trace --mode hip`, or the profiler with CPU activities"
            .to_owned(),
        gpus: lost.gpus,
        evidence: lost.evidence,
        ..finding
    })
    .filter(|finding| finding.cost_ns > 0)
}
