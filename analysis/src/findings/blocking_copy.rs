//! Copies that the host waits for, with no kernel beside them.

use super::finding::Finding;
use super::inputs::Inputs;
use super::lost::Lost;
use super::words::{percent, time};
use crate::idle::{Cause, LossKind};

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let lost = Lost::new(inputs, |part| part.loss.kind == LossKind::Blocking(Cause::BlockingCopy));
    let (idle, gpus) = (lost.by_gpu(), inputs.idle());
    let both = idle.iter().zip(gpus).map(|(idle, gpu)| idle.saturating_add(gpu.blocking_copies_alone_ns));
    let finding = Finding::of_gpus("blocking-copy", inputs, both.collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let concerned = |gpu: i64| finding.gpus.is_empty() || finding.gpus.contains(&gpu);
    let after = idle.iter().zip(gpus).filter(|(_, gpu)| concerned(gpu.gpu)).map(|(ns, _)| ns).sum::<i64>();
    let after = after / finding.concerned(inputs).max(1) as i64;
    vec![Finding {
        sentence: format!(
            "the host waits for copies: {}{} with nothing but such copies and {} idle after them ({} of the wall \
             time){}{}",
            time(finding.cost_ns - after),
            finding.on(inputs),
            time(after),
            percent(finding.share),
            lost.at(),
            lost.when(),
        ),
        look: "rtl-summary --section copies,idle TRACE".to_owned(),
        help: "copy from and to pinned memory without blocking, on a stream of its own, while kernels run"
            .to_owned(),
        evidence: lost.finding("blocking-copy").map(|idle| idle.evidence).unwrap_or_default(),
        ..finding
    }]
}
