//! Copies that the host waits for, with no kernel beside them.

use rtl_schema::table::Direction;

use super::copies_alone::{Kind, Memory, kinds};
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
    let kinds = kinds(inputs);
    let of_host: i64 = kinds.iter().filter(|kind| kind.is_of_host()).map(|kind| kind.ns).sum();
    let kind = kinds.iter().find(|kind| kind.is_of_host() && kind.ns >= of_host - of_host / 2);
    vec![Finding {
        sentence: format!(
            "the host waits for copies: {}{} with nothing but such copies{} ({} of the wall time){}{}{}",
            time(finding.cost_ns - after),
            finding.on(inputs),
            if after > 0 { format!(" and {} idle after them", time(after)) } else { String::new() },
            percent(finding.share),
            kind.map_or_else(String::new, |kind| format!(", most of them {}", kind.label())),
            lost.at(),
            lost.when(),
        ),
        look: "rtl-summary --section copies,idle TRACE".to_owned(),
        help: help(kind).to_owned(),
        evidence: lost.finding("blocking-copy").map(|idle| idle.evidence).unwrap_or_default(),
        ..finding
    }]
}

fn help(kind: Option<&Kind>) -> &'static str {
    match kind.map(|kind| (kind.direction, kind.memory)) {
        Some((_, Memory::Pinned)) => {
            "the memory is pinned already: copy without blocking (`non_blocking=True`, an asynchronous copy), and wait for an event later"
        }
        Some((Direction::HostToDevice, _)) => {
            "pin the memory that is copied from and copy without blocking (`non_blocking=True`), ahead of time or on a stream of its own"
        }
        Some((Direction::DeviceToHost, _)) => {
            "copy to pinned memory without blocking (`non_blocking=True`), and read it later, while kernels run"
        }
        _ => "copy from and to pinned memory without blocking, on a stream of its own, while kernels run",
    }
}
