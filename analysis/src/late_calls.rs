//! Calls of kernels that take longer than others, although they do the same work.
//!
//! Calls do the same work where they have the same launch shape and, where the trace has steps, the same position in
//! their step. That is believed only of groups of which nearly all calls take nearly the same time.

use rtl_schema::{AgentId, Durations, ShapeId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::kernel_names::KernelNames;
use crate::kernels::Group;
use crate::ops::{AgentOps, Order};
use crate::parallel;
use crate::ranges::Repeated;

/// Fewer calls have no usual duration.
const LEAST_CALLS: usize = 5;

/// Calls within this part of the median are usual.
const NEAR: f64 = 0.1;

/// At least this part of the calls of one work is usual, where steps tell which calls these are, and where nothing does.
const MOST: [f64; 2] = [0.5, 0.8];

/// From this many times the median a call is late.
const LATE: f64 = 1.25;

/// Kernels that cannot cost this part of the wall time are not looked at.
const LEAST_SHARE: f64 = 0.005;

/// The calls of one kernel that take longer than usual.
#[derive(Debug, Default)]
pub(crate) struct LateCalls {
    /// What they take beyond the median of their work, in ns.
    pub(crate) excess_ns: i64,
    /// How many they are.
    pub(crate) calls: u64,
    /// Of how many calls, of works with a usual duration.
    pub(crate) of: u64,
    /// The excess of each in ns and its row, the worst first.
    pub(crate) worst: Vec<(i64, u32)>,
}

/// What says which calls are late.
#[derive(Debug)]
pub(crate) struct LateInputs<'a> {
    pub(crate) tables: &'a Tables,
    pub(crate) names: &'a KernelNames,
    pub(crate) order: &'a Order,
    pub(crate) kernels: &'a [Group],
    pub(crate) steps: Option<&'a Repeated>,
}

/// Calls with one kernel and shape, in order of start.
#[derive(Debug, Default)]
struct Calls {
    /// The rows by position in their step.
    rows: Vec<Vec<u32>>,
    /// By step, how many calls there were so far; ascending.
    steps: Vec<(usize, usize)>,
}

impl Calls {
    /// The position of the next call in its step.
    fn next_of_step(&mut self, step: usize) -> usize {
        let at = match self.steps.last() {
            Some(&(last, _)) if last == step => self.steps.len() - 1,
            // Most steps follow each other.
            Some(&(last, _)) if last > step => {
                let found = self.steps.binary_search_by_key(&step, |&(step, _)| step);
                found.unwrap_or_else(|at| {
                    self.steps.insert(at, (step, 0));
                    at
                })
            }
            _ => {
                self.steps.push((step, 0));
                self.steps.len() - 1
            }
        };
        let count = &mut self.steps[at].1;
        *count += 1;
        *count - 1
    }

    /// Adds the next call, which belongs to a step.
    fn add(&mut self, step: usize, row: u32) {
        let position = self.next_of_step(step);
        if self.rows.len() <= position {
            self.rows.resize_with(position + 1, Vec::new);
        }
        self.rows[position].push(row);
    }
}

/// A kernel and its shape, in one word because every call looks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Work(u64);

impl Work {
    fn of(kernel: usize, shape: Option<ShapeId>) -> Self {
        Self((kernel as u64) << 32 | shape.map_or(u64::from(u32::MAX), |shape| u64::from(shape.0)))
    }

    fn kernel(self) -> usize {
        (self.0 >> 32) as usize
    }
}

impl LateInputs<'_> {
    /// The kernel whose late calls take most, by its position in [`KernelNames::kernels`].
    pub(crate) fn worst(&self) -> Option<(usize, LateCalls)> {
        let least = LEAST_SHARE * self.wall_ns() as f64;
        let suspects: FxHashSet<&str> = (self.kernels.iter())
            .filter(|group| most_excess(group) >= least)
            .map(|group| &*group.label)
            .collect();
        if suspects.is_empty() {
            return None;
        }
        let is_suspect: Vec<bool> = (self.names.kernels.iter())
            .map(|kernel| suspects.contains(&*kernel.label) && !kernel.is_collective())
            .collect();
        let late = self.late(&is_suspect).into_iter();
        late.max_by(|(one, first), (other, second)| (first.excess_ns, other).cmp(&(second.excess_ns, one)))
    }

    /// The wall times of all GPUs in ns.
    fn wall_ns(&self) -> i64 {
        let wall = |ops: &AgentOps| ops.end.saturating_sub(ops.base(self.tables));
        self.order.agents.iter().map(wall).fold(0, i64::saturating_add)
    }

    fn late(&self, is_suspect: &[bool]) -> FxHashMap<usize, LateCalls> {
        let found = match self.steps {
            None => self.late_of_shapes(is_suspect),
            Some(steps) => self.late_in_steps(steps, is_suspect),
        };
        let mut late: FxHashMap<usize, LateCalls> = FxHashMap::default();
        for (kernel, found) in found {
            late.entry(kernel).or_default().append(found);
        }
        for late in late.values_mut() {
            late.worst.sort_unstable_by_key(|&(excess, row)| (std::cmp::Reverse(excess), row));
        }
        late
    }

    /// Late calls by kernel, where position in a step tells works apart.
    fn late_in_steps(&self, steps: &Repeated, is_suspect: &[bool]) -> Vec<(usize, LateCalls)> {
        let &Self { tables, names, order, .. } = self;
        let dispatches = &tables.dispatches;
        // Counts by step take as much memory as the ops: not those of all GPUs at once.
        let of_gpus = threads::map(&order.agents, |ops| {
            let mut works: FxHashMap<Work, Calls> = FxHashMap::default();
            for &row in &ops.dispatches {
                let kernel = names.kernel(dispatches.name[row as usize]);
                // What runs outside the steps has no position in one.
                if is_suspect[kernel]
                    && let Some(step) = steps.of_dispatch(tables, row as usize)
                {
                    let shape = dispatches.shape.get(row as usize);
                    works.entry(Work::of(kernel, shape)).or_default().add(step, row);
                }
            }
            let late = |(work, Calls { rows, .. }): (Work, Calls)| {
                let mut late = LateCalls::default();
                rows.iter().for_each(|rows| late.add(&dispatches.duration, rows, MOST[0]));
                (work.kernel(), late)
            };
            works.into_iter().map(late).collect::<Vec<_>>()
        });
        of_gpus.into_iter().flatten().collect()
    }

    /// Late calls by kernel, where nothing but the shape tells works apart.
    fn late_of_shapes(&self, is_suspect: &[bool]) -> Vec<(usize, LateCalls)> {
        let &Self { tables, names, order, .. } = self;
        let dispatches = &tables.dispatches;
        let gpus: FxHashMap<AgentId, usize> = order.agents.iter().map(|ops| ops.agent).zip(0..).collect();
        let tracks = tables.tracks.rows().iter();
        let gpu_of_track: Vec<Option<usize>> = tracks.map(|track| gpus.get(&track.agent).copied()).collect();
        let parts = threads::map(parallel::stretches(dispatches.len()), |rows| {
            let mut works: Vec<FxHashMap<Work, Vec<u32>>> = vec![FxHashMap::default(); order.agents.len()];
            for row in rows {
                let kernel = names.kernel(dispatches.name[row]);
                if is_suspect[kernel]
                    && let Some(shape) = dispatches.shape.get(row)
                    && let Some(gpu) = gpu_of_track[dispatches.track[row].index()]
                    && dispatches.duration.valid(row).is_some()
                {
                    works[gpu].entry(Work::of(kernel, Some(shape))).or_default().push(row as u32);
                }
            }
            works
        });
        let mut works: FxHashMap<(usize, Work), Vec<Vec<u32>>> = FxHashMap::default();
        for (gpu, of_gpu) in parts.into_iter().flat_map(|part| part.into_iter().enumerate()) {
            of_gpu.into_iter().for_each(|(work, rows)| works.entry((gpu, work)).or_default().push(rows));
        }
        let works: Vec<(Work, Vec<Vec<u32>>)> =
            works.into_iter().map(|((_, work), parts)| (work, parts)).collect();
        let late = |works: &[(Work, Vec<Vec<u32>>)]| {
            let late = |(work, parts): &(Work, Vec<Vec<u32>>)| {
                let mut late = LateCalls::default();
                late.add(&dispatches.duration, &parts.concat(), MOST[1]);
                (work.kernel(), late)
            };
            works.iter().map(late).collect::<Vec<_>>()
        };
        threads::map(works.chunks(parallel::batch(works.len())), late).into_iter().flatten().collect()
    }
}

/// The most that the calls of a kernel can take beyond their median together, in ns.
fn most_excess(group: &Group) -> f64 {
    let stats = &group.stats;
    let beside = stats.mean_ns - stats.p50_ns as f64;
    stats.calls as f64 * (stats.stddev_ns * stats.stddev_ns + beside * beside).sqrt()
}

impl LateCalls {
    /// Adds the calls of one work, of which at least the part `most` must be usual.
    fn add(&mut self, durations: &Durations, rows: &[u32], most: f64) {
        if rows.len() < LEAST_CALLS {
            return;
        }
        let calls = || rows.iter().filter_map(|&row| Some((durations.valid(row as usize)?, row)));
        let mut lengths: Vec<i64> = calls().map(|(duration, _)| duration).collect();
        let middle = lengths.len() / 2;
        let median = *lengths.select_nth_unstable(middle).1;
        let near = |&&duration: &&i64| (duration - median).abs() as f64 <= NEAR * median as f64;
        if (lengths.iter().filter(near).count() as f64) < most * lengths.len() as f64 {
            return;
        }
        self.of += lengths.len() as u64;
        for (duration, row) in calls().filter(|&(duration, _)| duration as f64 >= LATE * median as f64) {
            let excess = duration - median;
            self.calls += 1;
            self.excess_ns = self.excess_ns.saturating_add(excess);
            self.worst.push((excess, row));
        }
    }

    /// Adds those of another GPU.
    fn append(&mut self, other: Self) {
        self.excess_ns = self.excess_ns.saturating_add(other.excess_ns);
        self.calls += other.calls;
        self.of += other.of;
        self.worst.extend(other.worst);
    }
}
