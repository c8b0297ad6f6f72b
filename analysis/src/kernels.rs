//! Kernel time by kernel, category, GPU, queue, range, operator, module, step, launch shape, process or rank.

use std::borrow::Borrow;
use std::cmp::Ordering;
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
    groups.sort_by(|one, other| {
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
    let by_kernel = sorted.groups();
    let shape = |(position, (stats, _)): (usize, &(Stats, u64))| sorted.bars(position, stats);
    let bars: Vec<[u8; BARS]> = by_kernel.iter().enumerate().map(shape).collect();
    let mut labels = Vec::new();
    let mut by_category = Vec::new();
    let mut first = 0;
    for kernels in names.kernels.chunk_by(|one, other| one.category == other.category) {
        labels.push(Arc::clone(&kernels[0].category));
        by_category.push(sorted.stats(first..first + kernels.len()));
        first += kernels.len();
    }
    [
        finish(by_kernel, |position| Group {
            bars: bars[position],
            ..Group::of_kernel(&names.kernels[position])
        }),
        finish(by_category, |position| Group {
            label: Arc::clone(&labels[position]),
            category: Some(Arc::clone(&labels[position])),
            ..Group::default()
        }),
    ]
}

/// Groups by something that the track decides.
pub(crate) fn by_track<K: Copy + Eq + Hash>(
    tables: &Tables,
    key: impl Fn(Track) -> K,
    label: impl Fn(K) -> String,
) -> Vec<Group> {
    let dispatches = &tables.dispatches;
    let (keys, key_of_track) = distinct(tables.tracks.rows().iter().map(|&track| key(track)));
    let found = collect(&dispatches.duration, keys.len(), |row| key_of_track[dispatches.track[row].index()]);
    finish(found, |position| Group::of(label(keys[position])))
}

/// Groups by one key of each dispatch.
pub(crate) fn by_key<K: Copy + Eq + Hash>(
    tables: &Tables,
    keys: impl Iterator<Item = K>,
    label: impl Fn(K) -> Group,
) -> Vec<Group> {
    let (keys, key_of_row) = distinct(keys);
    let found = collect(&tables.dispatches.duration, keys.len(), |row| key_of_row[row]);
    finish(found, |position| label(keys[position]))
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

/// Leaves out empty groups, labels the others, adds shares and sorts.
fn finish(found: Vec<(Stats, u64)>, label: impl Fn(usize) -> Group) -> Vec<Group> {
    let all: i128 = found.iter().map(|(stats, _)| i128::from(stats.total_ns)).sum();
    let mut groups: Vec<Group> = found
        .into_iter()
        .enumerate()
        .filter(|(_, (stats, _))| stats.calls > 0)
        .map(|(position, (stats, zero))| {
            let share = if all == 0 { 0.0 } else { stats.total_ns as f64 / all as f64 };
            Group { stats, share, zero, ..label(position) }
        })
        .collect();
    sort(&mut groups, Sort::Total);
    groups
}

/// Statistics of each group, and how many of its durations are zero.
pub(crate) fn collect(
    durations: &Durations,
    groups: usize,
    group_of: impl Fn(usize) -> usize,
) -> Vec<(Stats, u64)> {
    Sorted::of(durations, groups, group_of).groups()
}

/// Durations by group: a counting sort of the four-byte ones into one buffer, in which every group is a slice.
struct Sorted {
    buffer: Vec<u32>,
    /// Where each group begins, and the end of the last.
    begins: Vec<usize>,
    /// The durations of each group that need more than four bytes.
    long: Vec<Vec<i64>>,
}

impl Sorted {
    fn of(durations: &Durations, groups: usize, group_of: impl Fn(usize) -> usize) -> Self {
        let mut counts = vec![0_usize; groups];
        let mut long: Vec<Vec<i64>> = vec![Vec::new(); groups];
        for (row, &short) in durations.short().iter().enumerate() {
            if short != u32::MAX {
                counts[group_of(row)] += 1;
            } else if let Some(duration) = durations.valid(row) {
                long[group_of(row)].push(duration);
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

    /// Each group by itself.
    fn groups(&mut self) -> Vec<(Stats, u64)> {
        (0..self.long.len()).map(|group| self.stats(group..group + 1)).collect()
    }

    /// The shape of the durations of one group.
    fn bars(&self, group: usize, stats: &Stats) -> [u8; BARS] {
        let short = &self.buffer[self.begins[group]..self.begins[group + 1]];
        distribution::bars(short, &self.long[group], (stats.min_ns, stats.max_ns))
    }

    /// Several neighbours as one.
    fn stats(&mut self, groups: Range<usize>) -> (Stats, u64) {
        let short = &mut self.buffer[self.begins[groups.start]..self.begins[groups.end]];
        let mut long = self.long[groups].concat();
        let stats = Stats::of(short, &mut long);
        let zero = match stats.min_ns {
            0 => short.iter().filter(|&&duration| duration == 0).count(),
            _ => 0,
        };
        (stats, zero as u64)
    }
}
