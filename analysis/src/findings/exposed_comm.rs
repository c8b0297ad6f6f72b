//! Collectives that transfer data while nothing else runs.

use super::finding::Finding;
use super::inputs::Inputs;
use super::job;
use super::words::{counted, percent, time};

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let gpus = inputs.gpus();
    let waits = |gpu: usize| inputs.job.as_ref().map_or(0, |job| job.waits[gpu]);
    let alone =
        |(at, gpu): (usize, &crate::gpu_time::sweep::Gpu)| (gpu.exposed_collective_ns - waits(at)).max(0);
    let finding = Finding::of_gpus("exposed-comm", inputs, gpus.iter().enumerate().map(alone).collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let collectives = gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(gpu.collective_ns));
    vec![Finding {
        sentence: format!(
            "collectives run for {}{}, {} of it with no other kernel beside them ({} of the wall time), {}",
            time(collectives / gpus.len().max(1) as i64),
            inputs.each(),
            time(finding.cost_ns),
            percent(finding.share),
            waiting(inputs),
        ),
        look: "rtl-summary --by rank TRACE".to_owned(),
        help: "start collectives while kernels that do not need them still run: buckets of gradients during the backward pass, \
               prefetched shards, several streams"
            .to_owned(),
        ..finding
    }]
}

/// How much of that may be waiting for other ranks.
fn waiting(inputs: &Inputs<'_>) -> String {
    let analysis = inputs.analysis;
    if let Some((missing, of)) = job::missing(analysis.ranks(), analysis.tables) {
        return format!(
            "which may be waiting: traces of {missing} of {} are missing, and only these would tell",
            counted(of as u64, "rank", "ranks")
        );
    }
    match (inputs.job.is_some(), analysis.ranks().ranks.len() > 1) {
        (true, _) => "without the waiting for late ranks".to_owned(),
        (false, true) => "which may be waiting: the calls of different ranks do not match".to_owned(),
        (false, false) => "which may be waiting: the traces of all ranks would tell".to_owned(),
    }
}
