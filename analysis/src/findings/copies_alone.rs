//! Copies that no kernel runs beside.

use rtl_schema::table::{Copy, Direction};
use rustc_hash::FxHashMap;

use super::finding::{Finding, LEAST, PLACES};
use super::inputs::Inputs;
use super::words::{counted, percent, time};
use crate::base::ops::{AgentOps, length};
use crate::base::uncovered::Uncovered;
use crate::gpu_time::sweep::Gpu;
use crate::names::labels;
use crate::trust::Evidence;

pub(super) fn findings(inputs: &Inputs<'_>) -> Vec<Finding> {
    let of_gpus = inputs.gpus().iter().zip(inputs.idle());
    // Those that the host waits for are a finding of their own.
    let alone =
        of_gpus.map(|(gpu, idle)| alone_ns(inputs, gpu).saturating_sub(idle.blocking_copies_alone_ns).max(0));
    let finding = Finding::of_gpus("copies-alone", inputs, alone.collect());
    if finding.cost_ns == 0 {
        return Vec::new();
    }
    let (direction, count) = most(inputs);
    vec![Finding {
        sentence: format!(
            "nothing but copies runs for {}{} ({} of the wall time), most of them {} ({})",
            time(finding.cost_ns),
            finding.on(inputs),
            percent(finding.share),
            direction.label(),
            counted(count, "copy", "copies"),
        ),
        look: "rtl-summary --section copies,gpus TRACE".to_owned(),
        help: "copy while kernels run (pinned memory, a stream of its own, the next batch ahead of time), copy less, or keep the data \
               on the GPU"
            .to_owned(),
        evidence: longest(inputs),
        ..finding
    }]
}

/// Copies within one GPU are its work.
fn leaves_gpu(copy: &Copy) -> bool {
    match copy.direction {
        Direction::HostToDevice | Direction::DeviceToHost | Direction::Unknown => true,
        Direction::DeviceToDevice => copy.source.is_some() && copy.source != copy.destination,
        Direction::HostToHost | Direction::Fill => false,
    }
}

fn rows<'a>(inputs: &'a Inputs<'_>) -> impl Iterator<Item = &'a Copy> {
    inputs
        .analysis
        .tables
        .copies
        .iter()
        .filter(|copy| leaves_gpu(copy) && copy.duration.is_some_and(|ns| ns > 0))
}

/// Time in ns in which no kernel runs beside such copies.
fn alone_ns(inputs: &Inputs<'_>, gpu: &Gpu) -> i64 {
    // The sweep knows how long copies of any kind are alone.
    if (gpu.copies_alone_ns() as f64) < LEAST * gpu.wall_ns as f64 {
        return 0;
    }
    let tables = inputs.analysis.tables;
    let is_gpu = |ops: &&AgentOps| labels::agent(tables, ops.agent) == gpu.label;
    let Some(ops) = inputs.analysis.order().agents.iter().find(is_gpu) else { return 0 };
    let copies = ops.copies.iter().map(|&row| &tables.copies[row as usize]).filter(|copy| leaves_gpu(copy));
    let interval = |copy: &Copy| (copy.start, copy.start.saturating_add(copy.duration.unwrap_or(0).max(0)));
    let mut uncovered = Uncovered::of(copies.map(interval).collect());
    for &row in &ops.dispatches {
        let start = tables.dispatches.start[row as usize];
        uncovered.add(start, start.saturating_add_unsigned(length(&tables.dispatches.duration, row)));
    }
    uncovered.finish()
}

/// The direction in which most time goes, with its number of copies.
fn most(inputs: &Inputs<'_>) -> (Direction, u64) {
    let mut times: FxHashMap<&str, (i64, Direction, u64)> = FxHashMap::default();
    for copy in rows(inputs) {
        let (ns, _, count) = times.entry(copy.direction.label()).or_insert((0, copy.direction, 0));
        (*ns, *count) = (ns.saturating_add(copy.duration.unwrap_or(0)), *count + 1);
    }
    let most = times.into_iter().max_by_key(|(label, (ns, ..))| (*ns, std::cmp::Reverse(*label)));
    most.map_or((Direction::Unknown, 0), |(_, (_, direction, count))| (direction, count))
}

fn longest(inputs: &Inputs<'_>) -> Vec<Evidence> {
    let mut copies: Vec<&Copy> = rows(inputs).collect();
    copies.sort_by_key(|copy| (std::cmp::Reverse(copy.duration), copy.start));
    let evidence = |copy: &&Copy| Evidence {
        name: copy.direction.label().to_owned(),
        start_ns: copy.start,
        end_ns: copy.duration.map(|ns| copy.start.saturating_add(ns)),
        correlation: copy.correlation,
    };
    copies.iter().take(PLACES).map(evidence).collect()
}
