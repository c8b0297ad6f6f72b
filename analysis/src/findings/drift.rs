//! Kernels become slower for good.

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::base::stats::median;
use crate::gpu_time::drift::{Drift, drifts};
use crate::names::labels;
use crate::trust::Evidence;

/// A GPU that was idle runs faster at first, until its power is regulated: within this time in ns, as long as that is no more than
/// this part of the wall time.
const SETTLES: i64 = 500_000_000;
const EARLY: f64 = 0.4;

/// Kernels that change within this part of the wall time change together.
const TOGETHER: f64 = 0.1;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let analysis = inputs.analysis;
    let (tables, names) = (analysis.tables, &analysis.names);
    let mut all = drifts(tables, names, analysis.order(), analysis.kernels());
    all.retain(|drift| !is_settling(inputs, drift));
    let Some(from) = together(inputs, &all) else { return Vec::new() };
    let changed: Vec<&Drift> = all.iter().filter(|drift| is_near(inputs, from, drift)).collect();
    let cost = |label: &str| {
        let of_gpu = changed.iter().filter(|drift| labels::agent(tables, drift.agent) == label);
        of_gpu.fold(0, |sum: i64, drift| sum.saturating_add(drift.excess_ns))
    };
    let by_gpu = inputs.gpus().iter().map(|gpu| cost(&gpu.label)).collect();
    let finding = Finding::of_gpus("drift", inputs, by_gpu);
    let mut kernels: Vec<usize> = changed.iter().map(|drift| drift.kernel).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let mut ratios: Vec<f64> =
        changed.iter().map(|drift| drift.after_ns as f64 / drift.before_ns.max(1) as f64).collect();
    let slower = percent(median(&mut ratios) - 1.0);
    let worst = changed.iter().max_by_key(|drift| drift.excess_ns).map_or(0, |drift| drift.kernel);
    let (what, help) = match kernels[..] {
        [kernel] => (
            format!("{} takes {slower} longer", inputs.display(&names.kernels[kernel].label)),
            "look at the clocks and the power of the GPU while it runs (amd-smi, nvidia-smi), at the data of that kernel from then \
             on, and at what runs beside it",
        ),
        _ => (
            format!("{} take {slower} longer", counted(kernels.len() as u64, "kernel", "kernels")),
            "look at the clocks, the temperature and the power of the GPU while it runs (amd-smi, nvidia-smi), and at other processes",
        ),
    };
    // A key is that of a kernel in one trace.
    let select = if inputs.gpus().len() > 1 {
        String::new()
    } else {
        inputs.select(&names.kernels[worst].label) + " "
    };
    vec![Finding {
        sentence: format!(
            "{what} from {} until the end: {}{} in all ({} of the wall time)",
            moment(inputs, &changed),
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
        ),
        look: format!("rtl-summary {select}--by step TRACE"),
        help: help.to_owned(),
        evidence: changed.iter().take(PLACES).map(|drift| evidence(inputs, drift)).collect(),
        ..finding
    }]
}

fn is_settling(inputs: &Inputs<'_>, drift: &Drift) -> bool {
    let label = labels::agent(inputs.analysis.tables, drift.agent);
    let Some(gpu) = inputs.gpus().iter().find(|gpu| gpu.label == label) else { return false };
    let after = drift.from_ns.saturating_sub(gpu.start_ns);
    after < SETTLES && (after as f64) < EARLY * gpu.wall_ns as f64
}

/// The moment around which the changes cost most, in ns.
fn together(inputs: &Inputs<'_>, all: &[Drift]) -> Option<i64> {
    let cost = |from: i64| {
        let near = all.iter().filter(|drift| is_near(inputs, from, drift));
        near.fold(0, |sum: i64, drift| sum.saturating_add(drift.excess_ns))
    };
    all.iter().map(|drift| drift.from_ns).max_by_key(|&from| (cost(from), std::cmp::Reverse(from)))
}

fn is_near(inputs: &Inputs<'_>, from: i64, drift: &Drift) -> bool {
    let wall = inputs.gpus().iter().map(|gpu| gpu.wall_ns).max().unwrap_or(0);
    (drift.from_ns.saturating_sub(from)).abs() as f64 <= TOGETHER * wall as f64
}

/// The step in which the first of these ops was launched, `ProfilerStep#12`, else how long after the first op of the GPUs: `1.23 s`.
fn moment(inputs: &Inputs<'_>, changed: &[&Drift]) -> String {
    let analysis = inputs.analysis;
    let Some(first) = changed.iter().min_by_key(|drift| drift.from_ns) else { return String::new() };
    let step = analysis.steps().and_then(|steps| {
        // Ops run later than the host's step, which may be over by then.
        let number = steps.of_dispatch(analysis.tables, first.row as usize)?;
        Some(steps.label(analysis.tables, number))
    });
    let start = inputs.gpus().iter().map(|gpu| gpu.start_ns).min().unwrap_or(0);
    step.unwrap_or_else(|| format!("{} after the first op", time(first.from_ns.saturating_sub(start))))
}

fn evidence(inputs: &Inputs<'_>, drift: &Drift) -> Evidence {
    let analysis = inputs.analysis;
    let dispatches = &analysis.tables.dispatches;
    let row = drift.row as usize;
    Evidence {
        name: analysis.names.kernels[drift.kernel].label.to_string(),
        start_ns: drift.from_ns,
        end_ns: dispatches.duration.valid(row).map(|ns| drift.from_ns.saturating_add(ns)),
        correlation: dispatches.correlation.get(row),
    }
}
