//! Idle time of which the trace does not tell the cause.

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{percent, time};
use crate::idle::{Cause, CauseIdle, GpuIdle, IdleGap};
use crate::trust::Evidence;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let unknown = |gpu: &'_ GpuIdle| gpu.causes.iter().find(|cause| cause.cause == Cause::Unknown).cloned();
    let all: Vec<CauseIdle> = inputs.idle().iter().map(|gpu| unknown(gpu).unwrap_or_default()).collect();
    let finding = Finding::of_gpus("idle-unknown", inputs, all.iter().map(|cause| cause.own_ns).collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let why = match inputs.analysis.tables.api_calls.is_empty() {
        true => "the trace has no calls of the host",
        false => "nothing ties the ops that ended the gaps to calls of the host",
    };
    let mut longest: Vec<&IdleGap> = all.iter().flat_map(|cause| &cause.longest).collect();
    longest.sort_by_key(|gap| (std::cmp::Reverse(gap.duration_ns), gap.start_ns));
    let evidence = |gap: &&IdleGap| Evidence {
        name: gap.after.clone(),
        start_ns: gap.start_ns,
        end_ns: Some(gap.start_ns.saturating_add(gap.duration_ns)),
        correlation: gap.correlation,
    };
    vec![Finding {
        sentence: format!(
            "idle for {}{} ({} of the wall time) for unknown causes: {why}",
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
        ),
        look: "rtl-summary --section gaps TRACE".to_owned(),
        help: "record the host's calls too: `rtl trace --mode hip`, or the profiler with CPU activities"
            .to_owned(),
        evidence: longest.iter().take(PLACES).map(evidence).collect(),
        ..finding
    }]
}
