//! Kernels become slower for good.

use super::finding::{Finding, PLACES};
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::base::stats::median;
use crate::gpu_time::drift::{Drift, drifts};
use crate::names::labels;
use crate::trust::Evidence;

/// Kernels that change within this part of the wall time change together.
const TOGETHER: f64 = 0.1;

/// From this number of kernels on it is the GPU.
const SEVERAL: usize = 3;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let analysis = inputs.analysis;
    let (tables, names) = (analysis.tables, &analysis.names);
    let all = drifts(tables, names, analysis.order(), analysis.kernels());
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
    let first = changed.iter().map(|drift| drift.from_ns).min().unwrap_or(0);
    let worst = changed.iter().max_by_key(|drift| drift.excess_ns).map_or(0, |drift| drift.kernel);
    let (what, help) = match kernels.len() {
        SEVERAL.. => (
            format!("{} take {slower} longer", counted(kernels.len() as u64, "kernel", "kernels")),
            "look at the clocks, the temperature and the power of the GPU while it runs (amd-smi, nvidia-smi), and at other processes",
        ),
        _ => (
            format!("{} takes {slower} longer", inputs.display(&names.kernels[worst].label)),
            "look at the data of that kernel from then on, and at what runs beside it",
        ),
    };
    vec![Finding {
        sentence: format!(
            "{what} from {} on and until the end: {}{} in all ({} of the wall time)",
            moment(inputs, first),
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
        ),
        look: format!("rtl-summary {} --by step TRACE", inputs.select(&names.kernels[worst].label)),
        help: help.to_owned(),
        evidence: changed.iter().take(PLACES).map(|drift| evidence(inputs, drift)).collect(),
        ..finding
    }]
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

/// `ProfilerStep#12`, else how long after the first op: `1.23 s`.
fn moment(inputs: &Inputs<'_>, ns: i64) -> String {
    let analysis = inputs.analysis;
    let step = analysis.steps().and_then(|steps| {
        let number = analysis.processes().into_iter().find_map(|process| steps.of_moment(process, ns))?;
        Some(steps.label(analysis.tables, number))
    });
    let start = inputs.gpus().iter().map(|gpu| gpu.start_ns).min().unwrap_or(0);
    step.unwrap_or_else(|| time(ns.saturating_sub(start)))
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
