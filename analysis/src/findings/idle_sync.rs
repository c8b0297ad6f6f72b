//! The host waits for the GPU, which then has nothing to do.

use super::advice::waiting_for_the_gpu;
use super::finding::{Finding, WORTH};
use super::inputs::Inputs;
use super::lost::Lost;
use super::words::{percent, time};
use crate::idle::{Cause, LossKind};

/// Fewer waits in each step hardly keep a host from being ahead of the GPU.
const MANY: u64 = 5;

fn lost<'a>(inputs: &'a Inputs<'a>) -> Lost<'a> {
    Lost::new(inputs, |part| part.loss.kind == LossKind::Blocking(Cause::Synchronise))
}

/// `; the host waits for the GPU as well, so it cannot be ahead: 157 waits, 31 a step, most at ...`: of a host that is slow, waits
/// themselves take little, and are in no finding of their own then.
pub(super) fn beside(inputs: &Inputs<'_>, slow: &Finding) -> String {
    let lost = lost(inputs);
    let is_told = lost.finding("idle-sync").is_some_and(|finding| finding.share >= WORTH);
    if is_told || lost.calls_a_step(slow).is_none_or(|each| each < MANY) {
        return String::new();
    }
    format!("; it cannot get ahead, because it also waits for the GPU: {}{}", lost.waits(slow), lost.at())
}

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let lost = lost(inputs);
    let described = |finding: Finding| Finding {
        sentence: format!(
            "the host waits for the GPU, which then has nothing queued: idle for {}{} in and after {} ({} of the wall time){}",
            time(finding.cost_ns),
            finding.on(inputs),
            lost.waits(&finding),
            percent(finding.share),
            lost.at(),
        ),
        look: "rtl-summary --section idle TRACE".to_owned(),
        help: waiting_for_the_gpu(inputs, &lost).to_owned(),
        ..finding
    };
    lost.finding("idle-sync").map(described).into_iter().collect()
}
