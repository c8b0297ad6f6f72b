//! How evenly each kernel is spread over the ranks that ran it.

use std::ops::Range;

use rtl_schema::Tables;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::members::Members;
use crate::base::first_use::{FirstUseMap, position_of};
use crate::base::parallel;
use crate::base::stats::CallTotal;
use crate::names::kernel_names::KernelNames;

/// One kernel on the ranks that ran it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct KernelImbalance {
    /// Name of the kernel.
    pub name: String,
    /// How many ranks ran it.
    pub ranks: u64,
    /// The fewest calls of any of them.
    pub least_calls: u64,
    /// The most calls of any of them.
    pub most_calls: u64,
    /// The most time of any of them in ns.
    pub most_ns: i64,
    /// The mean of their times in ns.
    pub mean_ns: f64,
    /// Excess of the most over the mean: 0.1 for 10 %.
    pub imbalance: f64,
    /// The rank with that time.
    pub rank: String,
    /// Excess of the longest mean duration of a call over the mean of theirs.
    pub call_imbalance: f64,
    /// The rank with those calls.
    pub call_rank: String,
}

/// A kernel that is no collective, with the totals of those that ran it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelTotals {
    /// Name of the kernel.
    pub name: String,
    /// Members, as positions among all, in order.
    pub ran: Vec<(usize, CallTotal)>,
}

/// How many totals are found without looking them up.
const RECENT: usize = 1 << 12;

/// Totals by kernel and member, of those that a member ran: of thousands of ranks each may have kernels of its own.
type ByPlace = FxHashMap<(u32, u32), CallTotal>;

/// Each kernel that is no collective, by name.
pub(super) fn totals(tables: &Tables, members: &Members, names: &KernelNames) -> Vec<KernelTotals> {
    let of_rows = |rows| totals_of_rows(rows, tables, members, names);
    let stretches = parallel::stretches_of_groups(tables.dispatches.len(), names.kernels.len());
    let mut all = ByPlace::default();
    for part in threads::map(stretches, of_rows) {
        part.into_iter().for_each(|(place, total)| all.entry(place).or_default().append(total));
    }
    let mut ran: Vec<Vec<(usize, CallTotal)>> = vec![Vec::new(); names.kernels.len()];
    all.into_iter().for_each(|((kernel, member), total)| ran[kernel as usize].push((member as usize, total)));
    let kernels = names.kernels.iter().zip(ran).filter(|(_, ran)| !ran.is_empty());
    let mut totals: Vec<KernelTotals> = kernels
        .map(|(kernel, mut ran)| {
            ran.sort_unstable_by_key(|&(member, _)| member);
            KernelTotals { name: kernel.label.to_string(), ran }
        })
        .collect();
    totals.sort_by(|one, other| one.name.cmp(&other.name));
    totals
}

fn totals_of_rows(rows: Range<usize>, tables: &Tables, members: &Members, names: &KernelNames) -> ByPlace {
    let dispatches = &tables.dispatches;
    let mut totals: FirstUseMap<(u32, u32), CallTotal> = FirstUseMap::default();
    // Most rows repeat one of the recent pairs.
    let mut recent = vec![((u32::MAX, u32::MAX), 0); RECENT];
    let tracks = &dispatches.track[rows.clone()];
    for ((row, &name), &track) in rows.clone().zip(&dispatches.name[rows]).zip(tracks) {
        if let Some(kernel) = names.own_kernel(name)
            && let Some(member) = members.of_track(track)
            && let Some(duration) = dispatches.duration.valid(row)
        {
            let place = (kernel as u32, member as u32);
            let known = &mut recent[kernel.wrapping_mul(61).wrapping_add(member) % RECENT];
            if known.0 != place {
                *known = (place, position_of(&mut totals, place));
            }
            totals[known.1].add(duration);
        }
    }
    totals.into_iter().collect()
}

/// Kernels that several of `members` ran, largest excess over the mean first.
#[must_use]
pub fn imbalances(totals: &[KernelTotals], members: &[&str]) -> Vec<KernelImbalance> {
    let mut kernels: Vec<KernelImbalance> =
        totals.iter().filter_map(|kernel| imbalance(kernel, members)).collect();
    kernels.sort_by(|one, other| {
        let excess = |kernel: &KernelImbalance| kernel.most_ns as f64 - kernel.mean_ns;
        excess(other).total_cmp(&excess(one)).then_with(|| one.name.cmp(&other.name))
    });
    kernels
}

/// How even one kernel is on `members`; `None` where fewer than two ran it.
#[must_use]
pub fn imbalance(kernel: &KernelTotals, members: &[&str]) -> Option<KernelImbalance> {
    let ran: Vec<(&CallTotal, &str)> =
        kernel.ran.iter().filter_map(|(at, total)| Some((total, *members.get(*at)?))).collect();
    let count = ran.len() as f64;
    let (first, _) = *ran.first().filter(|_| ran.len() > 1)?;
    // Of equal ones the first.
    let most = ran.iter().rev().max_by_key(|(total, _)| total.total_ns)?;
    let longest =
        ran.iter().rev().max_by(|(one, _), (other, _)| one.mean_ns().total_cmp(&other.mean_ns()))?;
    let mean_ns = ran.iter().map(|(total, _)| i128::from(total.total_ns)).sum::<i128>() as f64 / count;
    let mean_call = ran.iter().map(|(total, _)| total.mean_ns()).sum::<f64>() / count;
    let calls = ran.iter().map(|(total, _)| total.calls);
    Some(KernelImbalance {
        name: kernel.name.clone(),
        ranks: ran.len() as u64,
        least_calls: calls.clone().min().unwrap_or(first.calls),
        most_calls: calls.max().unwrap_or(first.calls),
        most_ns: most.0.total_ns,
        mean_ns,
        imbalance: beyond(most.0.total_ns as f64, mean_ns),
        rank: most.1.to_owned(),
        call_imbalance: beyond(longest.0.mean_ns(), mean_call),
        call_rank: longest.1.to_owned(),
    })
}

/// Excess of the most over the mean; 0 where there is nothing.
pub(super) fn beyond(most: f64, mean: f64) -> f64 {
    // The mean of equal values may differ from them by a rounding.
    if mean > 0.0 { (most / mean - 1.0).max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(totals: &[(u64, i64)]) -> KernelTotals {
        let all = totals.iter().map(|&(calls, total_ns)| CallTotal { calls, total_ns }).enumerate();
        let ran = all.filter(|(_, total)| total.calls > 0).collect();
        KernelTotals { name: "gemm".to_owned(), ran }
    }

    #[test]
    fn more_calls_and_longer_calls_are_told_apart() {
        // Totals 100, 140 and 60 on the three that ran it; calls of 10, 7 and 20 ns.
        let found =
            imbalance(&kernel(&[(10, 100), (20, 140), (0, 0), (3, 60)]), &["a", "b", "c", "d"]).unwrap();
        assert_eq!((found.ranks, found.least_calls, found.most_calls), (3, 3, 20));
        assert_eq!((found.most_ns, found.mean_ns, found.rank.as_str()), (140, 100.0, "b"));
        assert!((found.imbalance - 0.4).abs() < 1e-12);
        assert_eq!(found.call_rank, "d");
        assert!((found.call_imbalance - (20.0 / (37.0 / 3.0) - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn what_one_rank_runs_alone_is_not_uneven() {
        assert_eq!(imbalance(&kernel(&[(10, 100), (0, 0)]), &["a", "b"]), None);
        let even = imbalance(&kernel(&[(10, 100), (10, 100)]), &["a", "b"]).unwrap();
        assert_eq!((even.imbalance, even.rank.as_str()), (0.0, "a"));
    }
}
