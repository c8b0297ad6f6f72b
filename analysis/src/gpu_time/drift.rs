//! Kernels whose pace changes for good: from some moment on, calls of the same work take longer.
//!
//! Calls do the same work where they have the same launch shape. That is believed where nearly all calls before the moment take nearly
//! the same time, and nearly all after it, too: sequences that grow change step by step.

use rtl_schema::{AgentId, ShapeId, Tables};
use rustc_hash::FxHashMap;

use crate::base::ops::Order;
use crate::gpu_time::kernels::Group;
use crate::names::kernel_names::KernelNames;

/// Fewer calls have no pace.
const LEAST_CALLS: usize = 20;

/// Kernels with less of the time of all kernels are not looked at.
const LEAST_SHARE: f64 = 0.01;

/// Durations that vary by less of their mean do not change.
const LEAST_SPREAD: f64 = 0.03;

/// From this many times the median before, the calls after a moment are slower.
const SLOWER: f64 = 1.08;

/// Calls within this part of the median are alike; this part of the calls must be.
const NEAR: f64 = 0.06;
const MOST: f64 = 0.8;

/// The halves of each side may differ by this part.
const STEADY: f64 = 0.03;

/// The calls of one work that became slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Drift {
    pub(crate) agent: AgentId,
    /// The position of the kernel in [`KernelNames`].
    pub(crate) kernel: usize,
    /// The start of the first slower call in ns.
    pub(crate) from_ns: i64,
    /// The row of that call.
    pub(crate) row: u32,
    /// The medians in ns.
    pub(crate) before_ns: i64,
    pub(crate) after_ns: i64,
    /// The time in ns that the slower calls take beyond the median before.
    pub(crate) excess_ns: i64,
}

/// All works that became slower, by their GPU, kernel and start.
pub(crate) fn drifts(tables: &Tables, names: &KernelNames, order: &Order, kernels: &[Group]) -> Vec<Drift> {
    let total: f64 = kernels.iter().map(|group| group.stats.total_ns as f64).sum();
    let is_suspect = |group: &&Group| {
        let stats = &group.stats;
        stats.calls as usize >= LEAST_CALLS
            && stats.total_ns as f64 >= LEAST_SHARE * total
            && stats.stddev_ns >= LEAST_SPREAD * stats.mean_ns
    };
    let labels: Vec<&str> = kernels.iter().filter(is_suspect).map(|group| &*group.label).collect();
    if labels.is_empty() {
        return Vec::new();
    }
    let is_suspect: Vec<bool> = (names.kernels.iter())
        .map(|kernel| labels.contains(&&*kernel.label) && !kernel.is_collective())
        .collect();
    let suspected = names.names_of(&is_suspect);
    let is_suspect = suspected.contains();
    let dispatches = &tables.dispatches;
    let mut found = Vec::new();
    for ops in &order.agents {
        let mut works: FxHashMap<(usize, Option<ShapeId>), Vec<u32>> = FxHashMap::default();
        for &row in ops.dispatches.iter().filter(|&&row| is_suspect(dispatches.name[row as usize])) {
            if dispatches.duration.valid(row as usize).is_some() {
                let kernel = names.kernel(dispatches.name[row as usize]);
                works.entry((kernel, dispatches.shape.get(row as usize))).or_default().push(row);
            }
        }
        for ((kernel, _), rows) in works {
            let lengths: Vec<i64> =
                rows.iter().map(|&row| dispatches.duration.valid(row as usize).unwrap_or(0)).collect();
            let Some(Change { at, before, after }) = change(&lengths) else { continue };
            let excess_ns = lengths[at..].iter().fold(0, |sum: i64, ns| sum.saturating_add(ns - before));
            found.push(Drift {
                agent: ops.agent,
                kernel,
                from_ns: dispatches.start[rows[at] as usize],
                row: rows[at],
                before_ns: before,
                after_ns: after,
                excess_ns,
            });
        }
    }
    found.sort_by_key(|drift| (drift.agent, drift.kernel, drift.from_ns, drift.row));
    found
}

/// Where a series changes, and the medians of its sides.
#[derive(Debug, PartialEq)]
struct Change {
    at: usize,
    before: i64,
    after: i64,
}

/// The moment from which on a series of durations in ns is slower for good.
fn change(lengths: &[i64]) -> Option<Change> {
    if lengths.len() < LEAST_CALLS {
        return None;
    }
    let at = split(lengths);
    let (first, second) = lengths.split_at(at);
    let (before, after) = (median(first), median(second));
    let is_change = after as f64 >= SLOWER * before as f64 && is_steady(first) && is_steady(second);
    is_change.then_some(Change { at, before, after })
}

/// The split with the most distance between the means of its sides, of which each has a quarter of the calls at least.
fn split(lengths: &[i64]) -> usize {
    // A single long call must not pull a mean.
    let most = 2.0 * median(lengths) as f64;
    let clipped = |ns: &i64| (*ns as f64).min(most);
    let total: f64 = lengths.iter().map(clipped).sum();
    let count = lengths.len();
    let mut best = (f64::MIN, count / 2);
    let mut sum = 0.0;
    for (at, ns) in lengths.iter().enumerate() {
        let (left, right) = (at as f64, (count - at) as f64);
        if at >= count / 4 && at <= count - count / 4 {
            let distance = (total - sum) / right - sum / left;
            let score = left * right * distance * distance;
            if score > best.0 {
                best = (score, at);
            }
        }
        sum += clipped(ns);
    }
    best.1
}

/// Returns whether nearly all durations are alike, in the first half as in the second.
fn is_steady(lengths: &[i64]) -> bool {
    let middle = median(lengths) as f64;
    let near = lengths.iter().filter(|&&ns| (ns as f64 - middle).abs() <= NEAR * middle).count();
    let (first, second) = lengths.split_at(lengths.len() / 2);
    let differ = (median(first) - median(second)).abs() as f64;
    near as f64 >= MOST * lengths.len() as f64 && differ <= STEADY * middle
}

fn median(lengths: &[i64]) -> i64 {
    let mut sorted = lengths.to_vec();
    let middle = sorted.len() / 2;
    if sorted.is_empty() { 0 } else { *sorted.select_nth_unstable(middle).1 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Durations around `ns` by at most 2 %.
    fn around(ns: i64, count: usize) -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(ns * 98 / 100..=ns * 102 / 100, count)
    }

    proptest! {
        #[test]
        fn a_step_is_found_where_it_is(
            (first, second, before) in (20_usize..60, 20_usize..60, 1_000_i64..1_000_000).prop_flat_map(|(one, other, ns)| {
                (around(ns, one), around(ns * 5 / 4, other), Just(ns))
            })
        ) {
            let found = change(&[first.clone(), second].concat()).unwrap();
            prop_assert_eq!(found.at, first.len());
            prop_assert!((found.before - before).abs() <= before / 50);
        }

        #[test]
        fn steady_alternating_and_growing_calls_have_no_step(
            steady in around(10_000, 80), pattern in 2_usize..7, growth in 1_i64..10
        ) {
            prop_assert_eq!(change(&steady), None);
            let alternating: Vec<i64> =
                steady.iter().enumerate().map(|(at, ns)| if at % pattern == 0 { ns * 2 } else { *ns }).collect();
            prop_assert_eq!(change(&alternating), None);
            let growing: Vec<i64> =
                steady.iter().zip(0_i64..).map(|(ns, at)| ns + ns * at * growth / 80).collect();
            prop_assert_eq!(change(&growing), None);
            let faster: Vec<i64> = steady.iter().rev().enumerate().map(|(at, ns)| if at < 40 { ns * 2 } else { *ns }).collect();
            prop_assert_eq!(change(&faster), None);
        }
    }
}
