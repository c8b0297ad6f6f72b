//! Kernel time by kernel, category, GPU, queue, range, operator, module, step, launch shape, process or rank.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use rtl_schema::table::Track;
use rtl_schema::{Durations, Tables};

use crate::Stats;
use crate::base::first_use::distinct;
use crate::base::parallel;
use crate::base::stats::begins;
use crate::gpu_time::distribution::{self, BARS};
use crate::names::kernel_index::Kernel;
use crate::names::kernel_names::KernelNames;

/// The key of groups of dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GroupBy {
    /// The kernel: the name without descriptor suffix ([`rtl_schema::identity`]).
    #[default]
    Kernel,
    /// The category of the kernel's name.
    Category,
    /// One group for each GPU.
    Gpu,
    /// The queue of a GPU, for each process.
    Queue,
    /// The innermost range around the launch.
    Range,
    /// The innermost operator around the launch.
    Operator,
    /// The innermost module of a framework around the launch.
    Module,
    /// The step of the run: one of the ranges that come again and again.
    Step,
    /// The kernel and its launch shape.
    Shape,
    /// One group for each process.
    Process,
    /// The rank in the distributed job.
    Rank,
}

/// The number of durations of groups that are worth being handed to a thread.
const SHARE: usize = 1 << 14;

/// The order of groups; equal ones by label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sort {
    /// Largest total time first.
    #[default]
    Total,
    /// Most calls first, then the largest total.
    Calls,
    /// Largest mean duration first.
    Mean,
    /// Largest minimum duration first.
    Min,
    /// Largest median duration first.
    P50,
    /// Largest 95th percentile first.
    P95,
    /// Largest 99th percentile first.
    P99,
    /// Largest maximum duration first.
    Max,
    /// Labels in byte order.
    Name,
}

/// All dispatches that share a key. Dispatches without a valid duration are not in it; [`crate::trust::sanity`] counts them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// The key in words: a kernel's stored name, `GPU 0`, `GPU 0 queue 2`, `rank 3`, `64x1x1 groups of 256x1x1`.
    pub label: Arc<str>,
    /// The kernel's name where the key holds one (kernel, shape).
    pub kernel: Option<Arc<str>>,
    /// The category where the key decides it (kernel, shape, category).
    pub category: Option<Arc<str>>,
    /// Statistics of the durations.
    pub stats: Stats,
    /// Part of the total time of all groups, 0 to 1.
    pub share: f64,
    /// How many of the calls have length zero.
    pub zero: u64,
    /// The shape of the durations ([`crate::gpu_time::distribution`]) of a kernel; all zero of other groups.
    pub bars: [u8; BARS],
}

/// Orders `groups` by `sort`, equal ones by label.
pub fn sort(groups: &mut [impl Borrow<Group>], sort: Sort) {
    groups.sort_unstable_by(|one, other| {
        let (one, other) = (one.borrow(), other.borrow());
        let (a, b) = (&one.stats, &other.stats);
        let by_value = match sort {
            Sort::Total => b.total_ns.cmp(&a.total_ns),
            Sort::Calls => b.calls.cmp(&a.calls),
            Sort::Mean => b.mean_ns.total_cmp(&a.mean_ns),
            Sort::Min => b.min_ns.cmp(&a.min_ns),
            Sort::P50 => b.p50_ns.cmp(&a.p50_ns),
            Sort::P95 => b.p95_ns.cmp(&a.p95_ns),
            Sort::P99 => b.p99_ns.cmp(&a.p99_ns),
            Sort::Max => b.max_ns.cmp(&a.max_ns),
            Sort::Name => Ordering::Equal,
        };
        by_value.then_with(|| one.kernel.cmp(&other.kernel)).then_with(|| one.label.cmp(&other.label))
    });
}

pub(crate) fn by_kernel(tables: &Tables, names: &KernelNames) -> Vec<Group> {
    groups_of_kernels(&mut sorted_by_kernel(tables, names), names)
}

/// Groups by kernel and by category, for little more than the price of one: the kernels of a category stand side by side.
pub(crate) fn by_kernel_and_category(tables: &Tables, names: &KernelNames) -> [Vec<Group>; 2] {
    let mut sorted = sorted_by_kernel(tables, names);
    let by_kernel = groups_of_kernels(&mut sorted, names);
    let mut categories: Vec<Range<usize>> = Vec::new();
    for kernels in names.kernels.chunk_by(|one, other| one.category == other.category) {
        let first = categories.last().map_or(0, |last| last.end);
        categories.push(first..first + kernels.len());
    }
    let mut by_category = Vec::with_capacity(categories.len());
    sorted.for_each(categories.iter().cloned(), false, |Figures { stats, zero, .. }| {
        let [label, category] =
            [&names.kernels[categories[by_category.len()].start].category; 2].map(Arc::clone);
        by_category.push(Group { label, category: Some(category), stats, zero, ..Group::default() });
    });
    [by_kernel, finish(by_category)]
}

fn sorted_by_kernel(tables: &Tables, names: &KernelNames) -> Sorted {
    let dispatches = &tables.dispatches;
    let (kernel_of_name, names_of_rows) = (names.kernel_of_name(), dispatches.name.as_slice());
    let kernel = move |row: usize| kernel_of_name(names_of_rows[row]);
    Sorted::counted(&dispatches.duration, names.kernels.len(), kernel, names.parts())
}

fn groups_of_kernels(sorted: &mut Sorted, names: &KernelNames) -> Vec<Group> {
    let mut kernels = names.kernels.iter();
    let mut groups = Vec::with_capacity(names.kernels.len());
    sorted.for_each(single(names.kernels.len()), true, |Figures { stats, zero, bars }| {
        groups.extend(kernels.next().map(|kernel| Group { stats, zero, bars, ..Group::of_kernel(kernel) }));
    });
    finish(groups)
}

pub(crate) fn by_track<K: Copy + Eq + Hash>(
    tables: &Tables,
    key: impl Fn(Track) -> K,
    label: impl Fn(K) -> String,
) -> Vec<Group> {
    let dispatches = &tables.dispatches;
    let (keys, key_of_track) = distinct(tables.tracks.rows().iter().map(|&track| key(track)));
    let key_of_row = |row: usize| key_of_track[dispatches.track[row].index()];
    let mut sorted = Sorted::new(&dispatches.duration, keys.len(), key_of_row);
    finish(sorted.labelled(|position| Group::of(label(keys[position]))))
}

pub(crate) fn by_key<K: Copy + Eq + Hash>(
    tables: &Tables,
    keys: impl Iterator<Item = K>,
    label: impl Fn(K) -> Group,
) -> Vec<Group> {
    let (keys, key_of_row) = distinct(keys);
    let mut sorted = Sorted::new(&tables.dispatches.duration, keys.len(), |row| key_of_row[row]);
    finish(sorted.labelled(|position| label(keys[position])))
}

impl Group {
    pub(crate) fn of(label: impl Into<Arc<str>>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    pub(crate) fn of_kernel(Kernel { label, category }: &Kernel) -> Self {
        let [label, kernel, category] = [label, label, category].map(Arc::clone);
        Self { label, kernel: Some(kernel), category: Some(category), ..Self::default() }
    }
}

/// Leaves out empty groups, adds shares and sorts.
fn finish(mut groups: Vec<Group>) -> Vec<Group> {
    groups.retain(|group| group.stats.calls > 0);
    let all: i128 = groups.iter().map(|group| i128::from(group.stats.total_ns)).sum();
    if all != 0 {
        groups.iter_mut().for_each(|group| group.share = group.stats.total_ns as f64 / all as f64);
    }
    sort(&mut groups, Sort::Total);
    groups
}

/// Durations by group: a counting sort of the four-byte ones into one buffer for each part of the rows, in which every group
/// is a slice.
pub(crate) struct Sorted {
    parts: Vec<SortedPart>,
    groups: usize,
}

struct SortedPart {
    buffer: Vec<u32>,
    /// Where each group begins, and the end of the last.
    begins: Vec<usize>,
    /// The durations of more than four bytes, of the few groups that have any.
    long: BTreeMap<usize, Vec<i64>>,
}

struct Figures {
    stats: Stats,
    /// How many of the durations are zero.
    zero: u64,
    bars: [u8; BARS],
}

impl Sorted {
    pub(crate) fn new(
        durations: &Durations,
        groups: usize,
        group_of: impl Fn(usize) -> usize + Sync,
    ) -> Self {
        let part = |rows| SortedPart::new(durations, groups, &group_of, rows);
        Self { parts: threads::map(parallel::stretches_of_groups(durations.len(), groups), part), groups }
    }

    /// As [`Self::new`], without counting: it is known how many rows of each group there are in `parts` of the rows.
    fn counted(
        durations: &Durations,
        groups: usize,
        group_of: impl Fn(usize) -> usize + Copy + Sync,
        parts: impl Iterator<Item = (Range<usize>, Vec<usize>)>,
    ) -> Self {
        if !durations.all_short() {
            return Self::new(durations, groups, group_of);
        }
        let part = |(rows, counts): (Range<usize>, Vec<usize>)| {
            SortedPart::with_counts(durations, &counts, BTreeMap::new(), group_of, rows)
        };
        Self { parts: threads::map(parts, part), groups }
    }

    pub(crate) fn stats(&mut self) -> Vec<Stats> {
        let mut all = Vec::with_capacity(self.groups);
        self.for_each(single(self.groups), false, |figures| all.push(figures.stats));
        all
    }

    fn labelled(&mut self, label: impl Fn(usize) -> Group) -> Vec<Group> {
        let mut all = Vec::with_capacity(self.groups);
        self.for_each(single(self.groups), false, |Figures { stats, zero, .. }| {
            all.push(Group { stats, zero, ..label(all.len()) });
        });
        all
    }

    /// Passes the figures of `wanted` to `take` in order, each several neighbours as one group; with bars where they are
    /// wanted. Those of a million kernels are never in memory together.
    fn for_each(
        &mut self,
        mut wanted: impl Iterator<Item = Range<usize>>,
        has_bars: bool,
        mut take: impl FnMut(Figures),
    ) {
        if let [only] = self.parts.as_mut_slice() {
            return wanted.for_each(|groups| {
                let long = only.long(&groups).collect();
                let short = &mut only.buffer[only.begins[groups.start]..only.begins[groups.end]];
                take(Figures::new(short, long, has_bars));
            });
        }
        let parts = self.parts.as_slice();
        let count = |groups: &Range<usize>| parts.iter().map(|part| part.short(groups).len()).sum::<usize>();
        let figures = |groups: &Range<usize>| {
            let mut short = Vec::with_capacity(count(groups));
            parts.iter().for_each(|part| short.extend_from_slice(part.short(groups)));
            Figures::new(&mut short, parts.iter().flat_map(|part| part.long(groups)).collect(), has_bars)
        };
        // Handing over a group of few durations takes longer than describing it.
        let shares = std::iter::from_fn(|| {
            let (mut share, mut durations) = (Vec::new(), 0);
            while durations < SHARE
                && let Some(groups) = wanted.next()
            {
                durations += count(&groups).max(1);
                share.push(groups);
            }
            (!share.is_empty()).then_some(share)
        });
        let of_share = |share: Vec<Range<usize>>| share.iter().map(figures).collect::<Vec<_>>();
        let Ok(()) = threads::in_order(shares, of_share, |figures| {
            figures.into_iter().for_each(&mut take);
            Ok::<(), Infallible>(())
        });
    }
}

/// This number of groups, each by itself.
fn single(groups: usize) -> impl Iterator<Item = Range<usize>> {
    (0..groups).map(|group| group..group + 1)
}

impl SortedPart {
    fn new(
        durations: &Durations,
        groups: usize,
        group_of: impl Fn(usize) -> usize,
        rows: Range<usize>,
    ) -> Self {
        let mut counts = vec![0_usize; groups];
        let mut long: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        let short = &durations.short()[rows.clone()];
        for (row, &short) in rows.clone().zip(short) {
            if short != u32::MAX {
                counts[group_of(row)] += 1;
            } else if let Some(duration) = durations.valid(row) {
                long.entry(group_of(row)).or_default().push(duration);
            }
        }
        Self::with_counts(durations, &counts, long, group_of, rows)
    }

    /// As [`Self::new`], with the number of short durations of each group, and the long ones.
    fn with_counts(
        durations: &Durations,
        counts: &[usize],
        long: BTreeMap<usize, Vec<i64>>,
        group_of: impl Fn(usize) -> usize,
        rows: Range<usize>,
    ) -> Self {
        let begins = begins(counts);
        let mut next = begins.clone();
        let mut buffer = vec![0_u32; begins[counts.len()]];
        for (row, &short) in rows.clone().zip(&durations.short()[rows]) {
            if short != u32::MAX {
                let place = &mut next[group_of(row)];
                buffer[*place] = short;
                *place += 1;
            }
        }
        Self { buffer, begins, long }
    }

    /// The longer durations of neighbours.
    fn long(&self, groups: &Range<usize>) -> impl Iterator<Item = i64> {
        self.long.range(groups.clone()).flat_map(|(_, long)| long).copied()
    }

    /// The four-byte durations of neighbours.
    fn short(&self, groups: &Range<usize>) -> &[u32] {
        &self.buffer[self.begins[groups.start]..self.begins[groups.end]]
    }
}

impl Figures {
    fn new(short: &mut [u32], mut long: Vec<i64>, has_bars: bool) -> Self {
        let stats = Stats::of(short, &mut long);
        let zero = match stats.min_ns {
            0 => short.iter().filter(|&&duration| duration == 0).count(),
            _ => 0,
        };
        let bars = match has_bars {
            true => distribution::bars(short, &long, (stats.min_ns, stats.max_ns)),
            false => [0; BARS],
        };
        Self { stats, zero: zero as u64, bars }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn figures_of_parts_are_those_of_all_rows(
            rows in prop::collection::vec((0_usize..5, prop_oneof![-3_i64..60, 0_i64..9_000_000_000]), 0..120),
            mut cuts in prop::collection::vec(0_usize..120, 0..5),
        ) {
            let durations: Durations =
                rows.iter().map(|&(_, duration)| Some(duration).filter(|&duration| duration != -3)).collect();
            cuts.extend([0, rows.len()]);
            cuts.iter_mut().for_each(|cut| *cut = (*cut).min(rows.len()));
            cuts.sort_unstable();
            let sorted = |cuts: &[usize]| {
                let part = |ends: &[usize]| SortedPart::new(&durations, 5, |row| rows[row].0, ends[0]..ends[1]);
                Sorted { parts: cuts.windows(2).map(part).collect(), groups: 5 }
            };
            for wanted in [vec![0..1, 1..2, 2..3, 3..4, 4..5], vec![0..2, 2..5], vec![0..5, 1..1]] {
                let figures = |cuts: &[usize]| -> Vec<_> {
                    let mut all = Vec::new();
                    sorted(cuts).for_each(wanted.iter().cloned(), true, |Figures { stats, zero, bars }| {
                        all.push((stats, zero, bars));
                    });
                    all
                };
                prop_assert_eq!(figures(&cuts), figures(&[0, rows.len()]));
            }
        }
    }
}
