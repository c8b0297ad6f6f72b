//! Calls of kernels that take longer than others, although they do the same work.
//!
//! Calls do the same work where they have the same launch shape and, where the trace has steps, the same position in
//! their step. That is believed only of groups of which nearly all calls take nearly the same time, and never of late calls that take
//! nearly the same time among each other: they have work of their own, such as another depth of a matrix product.

use rtl_schema::{AgentId, Durations, ShapeId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::base::ops::{AgentOps, Order, dispatches_on_threads};
use crate::base::parallel;
use crate::gpu_time::kernels::Group;
use crate::gpu_time::ranges::Repeated;
use crate::names::kernel_names::KernelNames;

/// How calls are known to do the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// They have one launch shape and one position in their steps.
    Steps,
    /// They have one launch shape.
    Shape,
}

impl Evidence {
    /// Fewer calls have no usual duration.
    fn least_calls(self) -> usize {
        match self {
            Self::Steps => 5,
            Self::Shape => 20,
        }
    }

    /// At least this part of the calls of one work is usual.
    fn usual(self) -> f64 {
        match self {
            Self::Steps => 0.5,
            Self::Shape => ALIKE,
        }
    }

    /// Fewer late calls may have another work: one layer of a network is often larger than the others.
    fn least_late(self) -> usize {
        match self {
            Self::Steps => 1,
            Self::Shape => 2,
        }
    }
}

/// Calls within this part of the median are usual.
const NEAR: f64 = 0.1;

/// From this part of the late calls on, which take nearly the same time, they are alike.
const ALIKE: f64 = 0.8;

/// From this many times the median a call is late.
const LATE: f64 = 1.25;

/// Kernels that cannot cost this part of the wall time are not looked at.
const LEAST_SHARE: f64 = 0.005;

/// How many rows are looked at before the calls of suspects among them.
const STRETCH: usize = 1 << 8;

/// The calls of one kernel that take longer than usual.
#[derive(Debug, Default)]
pub(crate) struct LateCalls {
    /// Time in ns beyond the median of the same work.
    pub(crate) excess_ns: i64,
    pub(crate) calls: u64,
    /// The number of calls of works with a usual duration.
    pub(crate) of: u64,
    /// The excess of each in ns and its row, the worst first.
    pub(crate) worst: Vec<(i64, u32)>,
}

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
    /// Indexed by position in the step.
    calls: Vec<Vec<Call>>,
    /// Each step with the number of calls up to its end; ascending.
    steps: Vec<(u32, u32)>,
}

impl Calls {
    /// The position of the next call in its step. Ranges and rows count to four bytes.
    fn next_of_step(&mut self, step: usize) -> usize {
        let step = step as u32;
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
        *count as usize - 1
    }

    fn add(&mut self, step: usize, call: Call) {
        let position = self.next_of_step(step);
        if self.calls.len() <= position {
            self.calls.resize_with(position + 1, Vec::new);
        }
        self.calls[position].push(call);
    }
}

/// A row and above it its four-byte duration, so that few durations are fetched again from all over the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Call(u64);

impl Call {
    fn new(row: u32, short: u32) -> Self {
        Self(u64::from(short) << 32 | u64::from(row))
    }

    fn row(self) -> u32 {
        self.0 as u32
    }

    /// Duration in ns, which is known to be valid.
    #[inline]
    fn length(self, durations: &Durations) -> i64 {
        match (self.0 >> 32) as u32 {
            u32::MAX => durations.valid(self.row() as usize).unwrap_or(i64::MAX),
            short => i64::from(short),
        }
    }
}

/// A kernel and its shape, in one word because every call looks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Work(u64);

impl Work {
    fn new(kernel: usize, shape: Option<ShapeId>) -> Self {
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
        let suspected = names.names_of(is_suspect);
        let mut works: Vec<FxHashMap<Work, Calls>> = Vec::new();
        works.resize_with(order.agents.len(), FxHashMap::default);
        dispatches_on_threads(tables, order, &mut works, |works, rows| {
            let (mut suspects, mut steps_of_suspects) = ([0; STRETCH], [None; STRETCH]);
            let (is_suspect, names_of_rows) = (suspected.contains(), dispatches.name.as_slice());
            for rows in rows.chunks(STRETCH) {
                // Without a branch, which no core could predict.
                let mut count = 0;
                for &row in rows {
                    suspects[count % STRETCH] = row;
                    count += usize::from(is_suspect(names_of_rows[row as usize]));
                }
                let suspects = &suspects[..count];
                // All steps before any work: a core that looks for nothing else between waits for several rows at the same time.
                for (step, &row) in steps_of_suspects.iter_mut().zip(suspects) {
                    *step = steps.of_dispatch(tables, row as usize);
                }
                for (&row, step) in suspects.iter().zip(steps_of_suspects) {
                    // What runs outside the steps has no position in one.
                    if let Some(step) = step {
                        let kernel = names.kernel(names_of_rows[row as usize]);
                        let shape = dispatches.shape.get(row as usize);
                        let call = Call::new(row, dispatches.duration.short()[row as usize]);
                        works.entry(Work::new(kernel, shape)).or_default().add(step, call);
                    }
                }
            }
        });
        let late = |(work, Calls { calls, .. }): (Work, Calls)| {
            let mut late = LateCalls::default();
            calls
                .into_iter()
                .for_each(|mut calls| late.add(&dispatches.duration, &mut calls, Evidence::Steps));
            (work.kernel(), late)
        };
        let of_gpus = threads::map(works, |works| works.into_iter().map(late).collect::<Vec<_>>());
        of_gpus.into_iter().flatten().collect()
    }

    /// Late calls by kernel, where nothing but the shape tells works apart.
    fn late_of_shapes(&self, is_suspect: &[bool]) -> Vec<(usize, LateCalls)> {
        let &Self { tables, names, order, .. } = self;
        let dispatches = &tables.dispatches;
        let gpus: FxHashMap<AgentId, usize> = order.agents.iter().map(|ops| ops.agent).zip(0..).collect();
        let tracks = tables.tracks.rows().iter();
        let gpu_of_track: Vec<Option<usize>> = tracks.map(|track| gpus.get(&track.agent).copied()).collect();
        let suspected = names.names_of(is_suspect);
        let parts = threads::map(parallel::stretches(dispatches.len()), |rows| {
            let mut works: Vec<FxHashMap<Work, Vec<Call>>> = vec![FxHashMap::default(); order.agents.len()];
            let mut suspects = [0; STRETCH];
            let is_suspect = suspected.contains();
            for begin in rows.clone().step_by(STRETCH) {
                let stretch = begin..rows.end.min(begin + STRETCH);
                // Without a branch, which no core could predict.
                let mut count = 0;
                for (row, &name) in stretch.clone().zip(&dispatches.name[stretch]) {
                    suspects[count % STRETCH] = row;
                    count += usize::from(is_suspect(name));
                }
                for &row in &suspects[..count] {
                    let short = dispatches.duration.short()[row];
                    if let Some(shape) = dispatches.shape.get(row)
                        && let Some(gpu) = gpu_of_track[dispatches.track[row].index()]
                        && (short != u32::MAX || dispatches.duration.valid(row).is_some())
                    {
                        let call = Call::new(row as u32, short);
                        let kernel = names.kernel(dispatches.name[row]);
                        works[gpu].entry(Work::new(kernel, Some(shape))).or_default().push(call);
                    }
                }
            }
            works
        });
        let mut works: FxHashMap<(usize, Work), Vec<Vec<Call>>> = FxHashMap::default();
        for (gpu, of_gpu) in parts.into_iter().flat_map(|part| part.into_iter().enumerate()) {
            of_gpu.into_iter().for_each(|(work, calls)| works.entry((gpu, work)).or_default().push(calls));
        }
        let mut works: Vec<(Work, Vec<Vec<Call>>)> =
            works.into_iter().map(|((_, work), parts)| (work, parts)).collect();
        let batch = parallel::batch(works.len());
        let late = |works: &mut [(Work, Vec<Vec<Call>>)]| {
            let late = |(work, parts): &mut (Work, Vec<Vec<Call>>)| {
                let mut late = LateCalls::default();
                match parts.as_mut_slice() {
                    [calls] => late.add(&dispatches.duration, calls, Evidence::Shape),
                    parts => late.add(&dispatches.duration, &mut parts.concat(), Evidence::Shape),
                }
                (work.kernel(), late)
            };
            works.iter_mut().map(late).collect::<Vec<_>>()
        };
        threads::map(works.chunks_mut(batch), late).into_iter().flatten().collect()
    }
}

/// The most that the calls of a kernel can take beyond their median together, in ns.
fn most_excess(group: &Group) -> f64 {
    let stats = &group.stats;
    let beside = stats.mean_ns - stats.p50_ns as f64;
    stats.calls as f64 * (stats.stddev_ns * stats.stddev_ns + beside * beside).sqrt()
}

impl LateCalls {
    /// Adds the calls of one work. Reorders them.
    fn add(&mut self, durations: &Durations, calls: &mut [Call], evidence: Evidence) {
        if calls.len() < evidence.least_calls() {
            return;
        }
        let length = |call: &Call| call.length(durations);
        let middle = calls.len() / 2;
        let mut median = length(calls.select_nth_unstable(middle).1);
        if median >= i64::from(u32::MAX) {
            median = length(calls.select_nth_unstable_by_key(middle, length).1);
        }
        let near = (NEAR * median as f64) as i64;
        let is_near = |call: &&Call| (length(call) - median).abs() <= near;
        if (calls.iter().filter(is_near).count() as f64) < evidence.usual() * calls.len() as f64 {
            return;
        }
        let mut late: Vec<Call> =
            (calls.iter().copied()).filter(|call| length(call) as f64 >= LATE * median as f64).collect();
        late.sort_unstable_by_key(|call| (length(call), call.row()));
        if are_alike(&late, length) || (1..evidence.least_late()).contains(&late.len()) {
            return;
        }
        self.of += calls.len() as u64;
        for call in &late {
            let excess = length(call) - median;
            self.calls += 1;
            self.excess_ns = self.excess_ns.saturating_add(excess);
            self.worst.push((excess, call.row()));
        }
    }

    fn append(&mut self, other: Self) {
        self.excess_ns = self.excess_ns.saturating_add(other.excess_ns);
        self.calls += other.calls;
        self.of += other.of;
        self.worst.extend(other.worst);
    }
}

/// Returns whether several late calls, in order of length, take nearly the same time.
fn are_alike(late: &[Call], length: impl Fn(&Call) -> i64) -> bool {
    let [_, _, ..] = late else { return false };
    let median = length(&late[late.len() / 2]);
    let near = (NEAR * median as f64) as i64;
    let alike = late.iter().filter(|call| (length(call) - median).abs() <= near).count();
    alike as f64 >= ALIKE * late.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn late_calls_are_those_far_beyond_the_median_of_a_usual_work(
            lengths in prop::collection::vec(
                prop_oneof![95_i64..106, 100_i64..200, 5_000_000_000_i64..6_000_000_000, 0_i64..3],
                0..40,
            ),
        ) {
            let durations: Durations = lengths.iter().copied().map(Some).collect();
            let mut calls: Vec<Call> =
                durations.short().iter().enumerate().map(|(row, &short)| Call::new(row as u32, short)).collect();
            let mut found = LateCalls::default();
            found.add(&durations, &mut calls, Evidence::Steps);
            found.worst.sort_unstable_by_key(|&(_, row)| row);

            let mut sorted = lengths.clone();
            sorted.sort_unstable();
            let median = sorted.get(lengths.len() / 2).copied().unwrap_or_default();
            let usual = lengths.iter().filter(|&&length| (length - median).abs() as f64 <= NEAR * median as f64);
            let is_usual =
                lengths.len() >= 5 && usual.count() as f64 >= 0.5 * lengths.len() as f64;
            let late = lengths.iter().zip(0..).filter(|&(&length, _)| length as f64 >= LATE * median as f64);
            let late: Vec<(i64, u32)> = late.map(|(&length, row)| (length, row)).collect();
            let mut of_late: Vec<i64> = late.iter().map(|&(length, _)| length).collect();
            of_late.sort_unstable();
            let middle = of_late.get(of_late.len() / 2).copied().unwrap_or_default();
            let alike = of_late.iter().filter(|&&length| (length - middle).abs() as f64 <= NEAR * middle as f64);
            let is_other_work = late.len() > 1 && alike.count() as f64 >= ALIKE * late.len() as f64;
            let is_usual = is_usual && !is_other_work;
            let expected: Vec<(i64, u32)> = match is_usual {
                true => late.iter().map(|&(length, row)| (length - median, row)).collect(),
                false => Vec::new(),
            };
            prop_assert_eq!(found.of, if is_usual { lengths.len() as u64 } else { 0 });
            prop_assert_eq!(found.calls, expected.len() as u64);
            prop_assert_eq!(found.excess_ns, expected.iter().map(|&(excess, _)| excess).sum::<i64>());
            prop_assert_eq!(found.worst, expected);
        }
    }
}
