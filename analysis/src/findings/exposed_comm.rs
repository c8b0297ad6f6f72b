//! Collectives that transfer data while nothing else runs.

use super::finding::Finding;
use super::inputs::Inputs;
use super::words::{percent, time};

pub(super) fn finding(inputs: &Inputs<'_>) -> Option<Finding> {
    let gpus = inputs.gpus();
    let exposed = gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.exposed_collective_ns));
    let total = exposed.saturating_sub(inputs.all_waiting_ns());
    let collectives = gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.collective_ns));
    if total <= 0 {
        return None;
    }
    let mut finding = Finding::new("exposed-comm", inputs, total);
    let of = time(collectives / gpus.len().max(1) as i64);
    let apart = match inputs.ranks {
        Some(_) => "without the waiting for late ranks",
        None => "which may be waiting: the traces of all ranks would tell",
    };
    finding.sentence = format!(
        "collectives run for {of}{}, {} of it with no other kernel beside them ({} of the wall time), {apart}",
        inputs.each(),
        time(finding.cost_ns),
        percent(finding.share),
    );
    finding.look = "rtl-summary --by rank TRACE".to_owned();
    finding.help =
        "start collectives while kernels that do not need them still run: buckets of gradients during the \
                    backward pass, prefetched shards, several streams"
            .to_owned();
    Some(finding)
}
