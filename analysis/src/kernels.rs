//! Kernel time by kernel, category, GPU, queue, range, launch shape, process or rank.

use std::cmp::Ordering;
use std::hash::Hash;
use std::ops::Range;

use rtl_schema::table::Track;
use rtl_schema::{Durations, NameId, Tables};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::kernel_index::Kernel;
use crate::kernel_names::KernelNames;
use crate::ranges::{Attribution, Cursor};
use crate::{Categories, Stats, labels};

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
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The key in words: a kernel's stored name, `GPU 0`, `GPU 0 queue 2`, `rank 3`, `64x1x1 groups of 256x1x1`.
    pub label: String,
    /// The kernel's name where the key holds one (kernel, shape).
    pub kernel: Option<String>,
    /// The stored name behind `kernel`, the first of those with the same identity.
    #[serde(skip)]
    pub name: Option<NameId>,
    /// The category where the key decides it (kernel, shape, category).
    pub category: Option<String>,
    /// The durations.
    #[serde(flatten)]
    pub stats: Stats,
    /// Its part of the total time of all groups, 0 to 1.
    pub share: f64,
    /// How many of the calls have length zero.
    pub zero: u64,
}

/// Groups all dispatches by `key`, largest total first.
pub fn by(tables: &Tables, key: GroupBy, categories: &Categories) -> Vec<Group> {
    grouped(tables, key, &KernelNames::of(tables, categories))
}

/// Orders `groups` by `sort`, equal ones by label.
pub fn sort(groups: &mut [Group], sort: Sort) {
    groups.sort_by(|one, other| {
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

/// [`by`] for names that are known already.
pub(crate) fn grouped(tables: &Tables, key: GroupBy, names: &KernelNames) -> Vec<Group> {
    let dispatches = &tables.dispatches;
    let track = |row: usize| dispatches.track[row].index();
    match key {
        GroupBy::Kernel => with_categories(tables, names).0,
        GroupBy::Category => with_categories(tables, names).1,
        GroupBy::Gpu => by_track(tables, track, |track| track.agent, |&id| labels::agent(tables, id)),
        GroupBy::Queue => by_track(
            tables,
            track,
            |track| Track { stream: None, hardware_queue: None, ..track },
            |&track| labels::queue(tables, track),
        ),
        GroupBy::Process => by_track(tables, track, |track| track.process, |&id| labels::process(tables, id)),
        GroupBy::Rank => by_track(
            tables,
            track,
            |track| tables.processes.get(track.process.index()).and_then(|process| process.rank),
            |rank| rank.map_or_else(|| "no rank".to_owned(), |rank| format!("rank {rank}")),
        ),
        GroupBy::Range => {
            let attribution = Attribution::of(tables);
            let mut cursor = Cursor::default();
            let innermost = (0..dispatches.len()).map(|row| attribution.innermost(tables, row, &mut cursor));
            by_key(tables, innermost, |range| {
                Label::of(range.map_or("(no range)", |name| tables.strings.get(name)))
            })
        }
        GroupBy::Shape => {
            let pairs = (0..dispatches.len())
                .map(|row| (names.kernel(dispatches.name[row]), dispatches.shape.get(row)));
            by_key(tables, pairs, |(kernel, shape)| Label {
                label: labels::shape(shape.map(|shape| tables.shapes.get(shape))),
                ..Label::of_kernel(names, kernel)
            })
        }
    }
}

/// Groups by kernel and by category, for the price of one: the kernels of a category stand side by side.
pub(crate) fn with_categories(tables: &Tables, names: &KernelNames) -> (Vec<Group>, Vec<Group>) {
    let dispatches = &tables.dispatches;
    let mut sorted =
        Sorted::of(&dispatches.duration, names.kernels.len(), |row| names.kernel(dispatches.name[row]));
    let by_kernel = sorted.groups();
    let mut labels = Vec::new();
    let mut by_category = Vec::new();
    let mut first = 0;
    for kernels in names.kernels.chunk_by(|one, other| one.category == other.category) {
        labels.push(kernels[0].category.as_str());
        by_category.push(sorted.stats(first..first + kernels.len()));
        first += kernels.len();
    }
    let by_kernel = finish(by_kernel, |position| Label::of_kernel(names, position));
    let by_category = finish(by_category, |position| Label {
        category: Some(labels[position].to_owned()),
        ..Label::of(labels[position])
    });
    (by_kernel, by_category)
}

/// Groups by something that the track decides.
fn by_track<K: Copy + Eq + Hash>(
    tables: &Tables,
    track_of_row: impl Fn(usize) -> usize,
    key: impl Fn(Track) -> K,
    label: impl Fn(&K) -> String,
) -> Vec<Group> {
    let (keys, key_of_track) = distinct(tables.tracks.rows().iter().map(|&track| key(track)));
    let found = collect(&tables.dispatches.duration, keys.len(), |row| key_of_track[track_of_row(row)]);
    finish(found, |position| Label::of(&label(&keys[position])))
}

/// Groups by one key of each dispatch.
fn by_key<K: Copy + Eq + Hash>(
    tables: &Tables,
    keys: impl Iterator<Item = K>,
    label: impl Fn(K) -> Label,
) -> Vec<Group> {
    let (keys, key_of_row) = distinct(keys);
    let found = collect(&tables.dispatches.duration, keys.len(), |row| key_of_row[row]);
    finish(found, |position| label(keys[position]))
}

/// The distinct values in order of first appearance, and for each value its position among them.
fn distinct<K: Copy + Eq + Hash>(values: impl Iterator<Item = K>) -> (Vec<K>, Vec<usize>) {
    let mut keys = Vec::new();
    let mut positions: FxHashMap<K, usize> = FxHashMap::default();
    let of_value = values
        .map(|value| {
            *positions.entry(value).or_insert_with(|| {
                keys.push(value);
                keys.len() - 1
            })
        })
        .collect();
    (keys, of_value)
}

struct Label {
    label: String,
    kernel: Option<(NameId, String)>,
    category: Option<String>,
}

impl Label {
    fn of(label: &str) -> Self {
        Self { label: label.to_owned(), kernel: None, category: None }
    }

    fn of_kernel(names: &KernelNames, position: usize) -> Self {
        let Kernel { label, category } = &names.kernels[position];
        let kernel = Some((names.stored[position], label.clone()));
        Self { label: label.clone(), kernel, category: Some(category.clone()) }
    }
}

/// Leaves out empty groups, labels the others, adds shares and sorts.
fn finish(found: Vec<(Stats, u64)>, label: impl Fn(usize) -> Label) -> Vec<Group> {
    let all: i128 = found.iter().map(|(stats, _)| i128::from(stats.total_ns)).sum();
    let mut groups: Vec<Group> = found
        .into_iter()
        .enumerate()
        .filter(|(_, (stats, _))| stats.calls > 0)
        .map(|(position, (stats, zero))| {
            let Label { label, kernel, category } = label(position);
            let (name, kernel) = kernel.unzip();
            let share = if all == 0 { 0.0 } else { stats.total_ns as f64 / all as f64 };
            Group { label, kernel, name, category, stats, share, zero }
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
        let mut begins = vec![0];
        let mut filled = 0;
        for count in counts {
            filled += count;
            begins.push(filled);
        }
        let mut next = begins.clone();
        let mut buffer = vec![0_u32; filled];
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
