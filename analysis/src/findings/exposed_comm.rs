//! Collectives that transfer data while nothing else runs.

use rustc_hash::FxHashSet;

use super::finding::Finding;
use super::inputs::Inputs;
use super::job;
use super::words::{percent, time};
use crate::gpu_time::sweep::Gpu;

/// From this part on waiting is stated.
const MUCH: f64 = 0.02;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let gpus = inputs.gpus();
    let waits = |gpu: usize| inputs.job.as_ref().map_or(0, |job| job.waits[gpu]);
    let alone = |(at, gpu): (usize, &Gpu)| (gpu.exposed_collective_ns - waits(at)).max(0);
    let finding = Finding::of_gpus("exposed-comm", inputs, gpus.iter().enumerate().map(alone).collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let mean = |total: i64| total / gpus.len().max(1) as i64;
    let sum = |ns: &dyn Fn(usize, &Gpu) -> i64| {
        mean(gpus.iter().enumerate().fold(0, |sum: i64, (at, gpu)| sum.saturating_add(ns(at, gpu))))
    };
    let collectives = sum(&|_, gpu| gpu.collective_ns);
    let alone = sum(&|_, gpu| gpu.exposed_collective_ns);
    let waited = sum(&|at, gpu| waits(at).min(gpu.exposed_collective_ns));
    let part = match (time(collectives), time(alone)) {
        (all, alone) if all == alone => "all of it".to_owned(),
        (_, alone) => format!("{alone} of it"),
    };
    let share = percent(finding.share);
    let of_it = match waited as f64 >= MUCH * alone as f64 {
        true => format!(
            ": {} of that is waiting for late ranks, and {} is transfer (hiding it wins at most {share} of the wall time)",
            time(waited),
            time(finding.cost_ns),
        ),
        false => format!(" (hiding that wins at most {share} of the wall time){}", waiting(inputs)),
    };
    let kernel = most(inputs);
    let is_hidden = alone.saturating_mul(2) < collectives;
    let sample = match inputs.is_sampled {
        true => "; the file is a sample, and kernels beside them may be missing",
        false => "",
    };
    let help = Help {
        is_hidden,
        may_have_experts: || inputs.analysis.tables.strings.iter().any(|(_, text)| names_experts(text)),
        is_incomplete: job::missing(inputs.analysis.ranks(), inputs.analysis.tables).is_some(),
        kernel,
    };
    vec![Finding {
        sentence: format!(
            "collectives run for {}{}, {part} with no other kernel beside them{of_it}{sample}{}",
            time(collectives),
            inputs.each(),
            kernel.map_or_else(String::new, |kernel| format!("; most in {}", inputs.display(kernel))),
        ),
        look: "rtl-summary --by rank TRACE".to_owned(),
        help: help.text(),
        ..finding
    }]
}

/// The collective with most time.
fn most<'a>(inputs: &Inputs<'a>) -> Option<&'a str> {
    let analysis = inputs.analysis;
    let kernels = analysis.names.kernels.iter().filter(|kernel| kernel.is_collective());
    let collectives: FxHashSet<&str> = kernels.map(|kernel| &*kernel.label).collect();
    let groups = analysis.kernels().iter().filter(|group| collectives.contains(&*group.label));
    groups.max_by_key(|group| group.stats.total_ns).map(|group| &*group.label)
}

/// The advice for a collective.
struct Help<'a, F> {
    /// They run beside kernels for most of their time.
    is_hidden: bool,
    /// Names of the trace say that a mixture of experts runs.
    may_have_experts: F,
    /// Ranks have no trace.
    is_incomplete: bool,
    kernel: Option<&'a str>,
}

impl<F: Fn() -> bool> Help<'_, F> {
    fn text(&self) -> String {
        let name = self.kernel.unwrap_or_default().to_ascii_lowercase();
        let is_any = |words: &[&str]| words.iter().any(|word| name.contains(word));
        let how = match () {
            () if is_any(&["sendrecv", "alltoall", "all_to_all"]) && (self.may_have_experts)() => {
                "exchange while other work runs: tokens in two halves, experts that all ranks share, the next micro batch"
            }
            () if is_any(&["sendrecv", "alltoall", "all_to_all"]) => {
                "exchange while other work runs (the next batch ahead of time, the batch in two parts), and less of it: fewer bytes an \
                 element, fewer and larger exchanges"
            }
            () if self.is_hidden => {
                "most of it is hidden already: look at the collectives that are not (the last bucket, the first after a step), and send \
                 less"
            }
            () if is_any(&["allgather", "all_gather", "reducescatter", "reduce_scatter"]) => {
                "fetch the next shard while a layer computes (prefetching), with fewer and larger shards"
            }
            () => {
                "start collectives while kernels that do not need them still run: buckets of gradients during the backward pass, the \
                 batch in two parts where layers are split among ranks"
            }
        };
        match self.is_incomplete {
            true => format!("add the traces of the other ranks, which tell transfer from waiting; {how}"),
            false => how.to_owned(),
        }
    }
}

/// Returns whether a name is one of a mixture of experts.
fn names_experts(name: &str) -> bool {
    let mut words = name.split(|c: char| !c.is_ascii_alphabetic());
    name.contains("xpert") || name.contains("MoE") || words.any(|word| word.eq_ignore_ascii_case("moe"))
}

/// `; how much of it is waiting ...`: how much of that may be waiting for other ranks.
fn waiting(inputs: &Inputs<'_>) -> String {
    let analysis = inputs.analysis;
    if let Some((missing, of)) = job::missing(analysis.ranks(), analysis.tables) {
        let has = if missing == 1 { "has" } else { "have" };
        return format!(
            "; only the traces of all ranks tell how much of it is waiting for late ranks: {missing} of {of} {has} none"
        );
    }
    match (inputs.job.is_some(), analysis.ranks().ranks.len() > 1) {
        (true, _) => "; next to nothing of it is waiting for late ranks".to_owned(),
        (false, true) => "; some of it may be waiting for late ranks, whose calls do not match".to_owned(),
        (false, false) => {
            "; only the traces of all ranks tell how much of it is waiting for late ranks".to_owned()
        }
    }
}
