//! Kernel time by kernel, category, GPU, queue, range, operator, module, step, launch shape, process or rank.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

use rtl_schema::table::Track;
use rtl_schema::{Durations, Tables};

use crate::Stats;
use crate::distribution::{self, BARS};
use crate::first_use::distinct;
use crate::kernel_index::Kernel;
use crate::kernel_names::KernelNames;
use crate::stats::begins;

/// The key of groups of dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum GroupBy {
    /// The kernel: the name without descriptor suffix ([`rtl_schema::identity`]).
    #[default]
    Kernel,
    /// The category of the kernel's name.
    Category,
    /// The GPU.
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
    /// The process.
    Process,
    /// The rank in the distributed job.
    Rank,
}

/// The order of groups; equal ones by label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Sort {
    /// Largest total first.
    #[default]
    Total,
    /// Most calls first.
    Calls,
    /// Largest mean first.
    Mean,
    /// Largest minimum first.
    Min,
    /// Largest median first.
    P50,
    /// Largest 95th percentile first.
    P95,
    /// Largest 99th percentile first.
    P99,
    /// Largest maximum first.
    Max,
    /// Labels in byte order.
    Name,
}

/// All dispatches that share a key. Dispatches without a valid duration are not in it; [`crate::sanity`] counts them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// The key in words: a kernel's stored name, `GPU 0`, `GPU 0 queue 2`, `rank 3`, `64x1x1 groups of 256x1x1`.
    pub label: Arc<str>,
    /// The kernel's name where the key holds one (kernel, shape).
    pub kernel: Option<Arc<str>>,
    /// The category where the key decides it (kernel, shape, category).
    pub category: Option<Arc<str>>,
    /// The durations.
    pub stats: Stats,
    /// Its part of the total time of all groups, 0 to 1.
    pub share: f64,
    /// How many of the calls have length zero.
    pub zero: u64,
    /// The shape of the durations ([`crate::distribution`]) of a kernel; all zero of other groups.
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

/// Groups by kernel and by category, for the price of one: the kernels of a category stand side by side.
pub(crate) fn by_kernel_and_category(tables: &Tables, names: &KernelNames) -> [Vec<Group>; 2] {
    let dispatches = &tables.dispatches;
    let mut sorted =
        Sorted::of(&dispatches.duration, names.kernels.len(), |row| names.kernel(dispatches.name[row]));
    let of_kernel = |(position, kernel)| {
        let (stats, zero) = sorted.stats(position..position + 1);
        let bars = sorted.bars(position, &stats);
        Group { stats, zero, bars, ..Group::of_kernel(kernel) }
    };
    let by_kernel = finish(names.kernels.iter().enumerate().map(of_kernel));
    let mut by_category = Vec::new();
    let mut first = 0;
    for kernels in names.kernels.chunk_by(|one, other| one.category == other.category) {
        let [label, category] = [&kernels[0].category; 2].map(Arc::clone);
        let (stats, zero) = sorted.stats(first..first + kernels.len());
        by_category.push(Group { label, category: Some(category), stats, zero, ..Group::default() });
        first += kernels.len();
    }
    [by_kernel, finish(by_category.into_iter())]
}

/// Groups by something that the track decides.
pub(crate) fn by_track<K: Copy + Eq + Hash>(
    tables: &Tables,
    key: impl Fn(Track) -> K,
    label: impl Fn(K) -> String,
) -> Vec<Group> {
    let dispatches = &tables.dispatches;
    let (keys, key_of_track) = distinct(tables.tracks.rows().iter().map(|&track| key(track)));
    let key_of_row = |row: usize| key_of_track[dispatches.track[row].index()];
    let mut sorted = Sorted::of(&dispatches.duration, keys.len(), key_of_row);
    finish(sorted.labelled(|position| Group::of(label(keys[position]))))
}

/// Groups by one key of each dispatch.
pub(crate) fn by_key<K: Copy + Eq + Hash>(
    tables: &Tables,
    keys: impl Iterator<Item = K>,
    label: impl Fn(K) -> Group,
) -> Vec<Group> {
    let (keys, key_of_row) = distinct(keys);
    let mut sorted = Sorted::of(&tables.dispatches.duration, keys.len(), |row| key_of_row[row]);
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
fn finish(groups: impl Iterator<Item = Group>) -> Vec<Group> {
    let mut groups: Vec<Group> = groups.filter(|group| group.stats.calls > 0).collect();
    let all: i128 = groups.iter().map(|group| i128::from(group.stats.total_ns)).sum();
    if all != 0 {
        groups.iter_mut().for_each(|group| group.share = group.stats.total_ns as f64 / all as f64);
    }
    sort(&mut groups, Sort::Total);
    groups
}

/// Durations by group: a counting sort of the four-byte ones into one buffer, in which every group is a slice.
pub(crate) struct Sorted {
    buffer: Vec<u32>,
    /// Where each group begins, and the end of the last.
    begins: Vec<usize>,
    /// The durations of more than four bytes, of the few groups that have any.
    long: BTreeMap<usize, Vec<i64>>,
}

impl Sorted {
    pub(crate) fn of(durations: &Durations, groups: usize, group_of: impl Fn(usize) -> usize) -> Self {
        let mut counts = vec![0_usize; groups];
        let mut long: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        for (row, &short) in durations.short().iter().enumerate() {
            if short != u32::MAX {
                counts[group_of(row)] += 1;
            } else if let Some(duration) = durations.valid(row) {
                long.entry(group_of(row)).or_default().push(duration);
            }
        }
        let begins = begins(&counts);
        let mut next = begins.clone();
        let mut buffer = vec![0_u32; begins[groups]];
        for (row, &short) in durations.short().iter().enumerate() {
            if short != u32::MAX {
                let place = &mut next[group_of(row)];
                buffer[*place] = short;
                *place += 1;
            }
        }
        Self { buffer, begins, long }
    }

    /// Statistics of each group, and how many of its durations are zero.
    pub(crate) fn groups(&mut self) -> impl Iterator<Item = (Stats, u64)> {
        (1..self.begins.len()).map(|next| self.stats(next - 1..next))
    }

    /// Each group with its label.
    fn labelled(&mut self, label: impl Fn(usize) -> Group) -> impl Iterator<Item = Group> {
        let groups = self.groups().enumerate();
        groups.map(move |(position, (stats, zero))| Group { stats, zero, ..label(position) })
    }

    /// The shape of the durations of one group.
    fn bars(&self, group: usize, stats: &Stats) -> [u8; BARS] {
        let short = &self.buffer[self.begins[group]..self.begins[group + 1]];
        let long = self.long.get(&group).map_or(&[][..], Vec::as_slice);
        distribution::bars(short, long, (stats.min_ns, stats.max_ns))
    }

    /// Several neighbours as one group.
    fn stats(&mut self, groups: Range<usize>) -> (Stats, u64) {
        let short = &mut self.buffer[self.begins[groups.start]..self.begins[groups.end]];
        let mut long: Vec<i64> = self.long.range(groups).flat_map(|(_, long)| long).copied().collect();
        let stats = Stats::of(short, &mut long);
        let zero = match stats.min_ns {
            0 => short.iter().filter(|&&duration| duration == 0).count(),
            _ => 0,
        };
        (stats, zero as u64)
    }
}
