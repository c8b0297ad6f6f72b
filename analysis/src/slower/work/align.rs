//! Aligns the work of two sides.
//!
//! Work belongs to the innermost node that both sides have: where one side calls a library of its own (`cudnn_convolution`,
//! `miopen_convolution`), the operator around it (`_convolution`) is what they have in common. What has nothing in common stays
//! under its own name and is matched with nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{Work, WorkKey, WorkNode};
use crate::slower::profile::{Activity, ActivityTotal, GpuProfile, Kernel, Profile};
use crate::slower::run::Run;

/// Both sides in terms of each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Aligned {
    /// The profile of each run of each side, whose kernels are the aligned work. A call of these is a step, and wall, busy
    /// time and totals are those of one step on average; of the whole run where the trace has no steps.
    pub profiles: [Vec<Profile>; 2],
    /// All work of each run of each side, a step for a call.
    pub wholes: [Vec<Run>; 2],
    /// True if shapes were ignored, because a side does not record them.
    pub without_shapes: bool,
}

/// Aligns the runs of both sides, the baseline first.
pub fn align(sides: [&[&Work]; 2], key: WorkKey) -> Aligned {
    let has_shapes =
        |runs: &[&Work]| runs.iter().flat_map(|work| &work.nodes).any(|node| node.shapes.is_some());
    let both = sides.map(has_shapes);
    let shapes = both == [true, true];
    let labels = sides.map(|runs| runs.iter().map(|work| labels(work, key, shapes)).collect::<Vec<_>>());
    let known = labels.each_ref().map(|runs| runs.iter().flatten().map(String::as_str).collect());
    let profiles = [0, 1].map(|side: usize| {
        let runs = sides[side].iter().zip(&labels[side]);
        runs.map(|(work, labels)| profile(work, labels, &known, shapes)).collect()
    });
    let wholes = sides.map(|runs| runs.iter().map(|work| whole(work, key)).collect());
    Aligned { profiles, wholes, without_shapes: key == WorkKey::Operator && both.contains(&true) && !shapes }
}

/// Labels of the nodes: a module has its path, an operator its name and shapes.
fn labels(work: &Work, key: WorkKey, shapes: bool) -> Vec<String> {
    let mut labels: Vec<String> = Vec::with_capacity(work.nodes.len());
    for WorkNode { name, shapes: sizes, parent, .. } in &work.nodes {
        labels.push(match (key, parent, sizes) {
            (WorkKey::Module, Some(parent), _) => format!("{}/{name}", labels[*parent]),
            (WorkKey::Operator, _, Some(sizes)) if shapes => format!("{name} {sizes}"),
            _ => name.clone(),
        });
    }
    labels
}

#[derive(Default)]
struct Sum {
    times_ns: Vec<i64>,
    ops: u64,
    collectives: u64,
}

/// The innermost node around `node`, itself included, whose label both sides know; else the node. Where `shapes` count, work of
/// known shapes has something in common only with work of known shapes.
fn common(work: &Work, labels: &[String], known: &[BTreeSet<&str>; 2], shapes: bool, node: usize) -> usize {
    let needs_shapes = shapes && work.nodes[node].shapes.is_some();
    let mut next = Some(node);
    while let Some(at) = next {
        let is_known = known.iter().all(|known| known.contains(labels[at].as_str()));
        if is_known && (!needs_shapes || work.nodes[at].shapes.is_some()) {
            return at;
        }
        next = work.nodes[at].parent;
    }
    node
}

fn whole(work: &Work, key: WorkKey) -> Run {
    let add = |sum: i64, time: &i64| sum.saturating_add(*time);
    let nodes = &work.nodes;
    let times: Vec<i64> = match key {
        WorkKey::Step => nodes.iter().map(|node| node.times_ns.iter().fold(0, add)).collect(),
        _ => {
            let count = nodes.iter().map(|node| node.times_ns.len()).max().unwrap_or(0);
            let of_step = |step| nodes.iter().filter_map(|node| node.times_ns.get(step)).fold(0, add);
            (0..count).map(of_step).collect()
        }
    };
    Run::of(&times)
}

fn profile(work: &Work, labels: &[String], known: &[BTreeSet<&str>; 2], shapes: bool) -> Profile {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for (at, node) in work.nodes.iter().enumerate().filter(|(_, node)| node.ops > 0) {
        let sum = sums.entry(&labels[common(work, labels, known, shapes, at)]).or_default();
        sum.times_ns.resize(node.times_ns.len(), 0);
        for (sum, time) in sum.times_ns.iter_mut().zip(&node.times_ns) {
            *sum = sum.saturating_add(*time);
        }
        sum.ops += node.ops;
        sum.collectives += node.collectives;
    }
    let steps = sums.values().map(|sum| sum.times_ns.len()).max().unwrap_or(1);
    let a_step = |total: i64| rounded(total, steps);
    let mut profile = Profile::default();
    let mut parts = Vec::new();
    for (label, sum) in sums {
        let total_ns = a_step(sum.times_ns.iter().fold(0, |all, time| all.saturating_add(*time)));
        parts.push(ActivityTotal {
            item: Activity::Kernel(profile.kernels.len()),
            shape: None,
            calls: 1,
            total_ns,
        });
        profile.kernels.push(Kernel {
            name: label.to_owned(),
            collective: sum.collectives == sum.ops,
            run: Run { total_ns, ..Run::of(&sum.times_ns) },
            ..Kernel::default()
        });
    }
    profile.gpus.push(GpuProfile {
        gpu: 0,
        wall_ns: a_step(work.wall_ns),
        busy_ns: a_step(work.busy_ns),
        idle: Vec::new(),
        work: parts,
    });
    profile
}

/// The part of one step, to the nearest ns.
fn rounded(total: i64, steps: usize) -> i64 {
    let steps = i128::try_from(steps.max(1)).unwrap_or(1);
    let part = (i128::from(total) + steps / 2).div_euclid(steps);
    i64::try_from(part).unwrap_or(i64::MAX)
}
