//! A summary of a trace that arrives in chunks: memory grows with its kernels and GPUs, not with its ops.
//!
//! Counts, sums, sums of squares, extremes, busy time and overlaps are exact; percentiles and trimmed means come from a
//! [`Sketch`] with a stated error. Busy time is a union of intervals, so a trace whose rows are far from the order of
//! their starts takes several passes.

mod op_stream;
mod sketch;
mod totals;
pub(crate) mod window;

use std::collections::BTreeMap;

use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, Tables, TrackId};

pub(crate) use self::op_stream::{Accumulator, OpKey, OpStream};
pub use self::sketch::{PERCENTILE_ERROR, Sketch};
pub use self::totals::{GpuTotals, RankTotals, Totals};
use self::window::{Pass, Timed};
use crate::Categories;
pub use crate::base::activity::Activity;
use crate::base::first_use::{FirstUseMap, FirstUseSet, position_of};
use crate::base::stats::CallTotal;
use crate::base::union_length::Origin;
use crate::gpu_time::sweep::{Class, Gpu, Utilization};
pub use crate::names::kernel_index::Kernel;
use crate::names::kernel_index::KernelIndex;

/// A trace in chunks: [`Self::add_chunk`] for each of them, then [`Self::end_pass`], and all of that again where it
/// returns true.
#[derive(Debug)]
pub struct StreamingSummary {
    ops: OpStream<Sums>,
    unfinished: u64,
    graph: bool,
}

impl StreamingSummary {
    /// Rows of `given`, where it is set, else of the rank that the trace states, else of `fallback`.
    #[must_use]
    pub fn new(categories: &Categories, given: Option<u32>, fallback: Option<u32>) -> Self {
        let sums = Sums {
            kernels: KernelIndex::new(categories),
            ranks: [given, fallback],
            sketches: FirstUseMap::default(),
            work: FirstUseMap::default(),
            gpus: FirstUseMap::default(),
            places: FirstUseSet::default(),
            is_first_pass: true,
        };
        Self { ops: OpStream::new(sums), unfinished: 0, graph: false }
    }

    /// Adds the rows of a chunk, as [`rtl_schema::Trace::stream`] gives it out.
    pub fn add_chunk(&mut self, chunk: &Tables) {
        let dispatches = &chunk.dispatches;
        if self.ops.accumulator.is_first_pass {
            self.unfinished += dispatches.duration.missing().count() as u64;
        }
        self.ops.add_chunk(chunk);
        self.graph |= dispatches.graph.uniform() != Some(false)
            && (0..dispatches.len()).any(|row| dispatches.graph.get(row));
    }

    /// Ends a pass. Returns whether the trace must be read once more, from the start.
    #[must_use]
    pub fn end_pass(&mut self) -> bool {
        let pass = self.ops.end_pass();
        let sums = &mut self.ops.accumulator;
        if pass == Pass::Restart {
            sums.gpus.values_mut().for_each(|usage| *usage = Usage::default());
        }
        sums.is_first_pass = false;
        pass != Pass::Complete
    }

    /// The totals; `last` is the rest that [`rtl_schema::Trace::stream`] returned.
    #[must_use]
    pub fn finish(self, last: &Tables) -> Totals {
        let Sums { kernels, sketches, work, gpus: usages, .. } = self.ops.accumulator;
        let (kernels, position) = kernels.sorted_by_label();
        let mut ranks: BTreeMap<Option<u32>, RankTotals> = BTreeMap::new();
        for ((rank, kernel), sketch) in sketches {
            ranks.entry(rank).or_default().kernels.push((position[kernel], sketch));
        }
        let mut gpus: Vec<GpuTotals> = Vec::new();
        let is_cpu =
            |agent: AgentId| last.agents.get(agent.index()).is_some_and(|agent| agent.kind == AgentKind::Cpu);
        for ((agent, scope), usage) in usages.iter().filter(|((agent, _), _)| !is_cpu(*agent)) {
            let gpu = usage.utilization.gpu(last, *agent, usage.origin.start_ns());
            match scope {
                Scope::Rank(rank) => ranks.entry(*rank).or_default().gpus.push(gpu),
                Scope::All => {
                    let own = work.iter().filter(|((place, _), _)| place == agent);
                    let mut work: Vec<(Activity, CallTotal)> = own
                        .map(|(&(_, activity), &total)| match activity {
                            Activity::Kernel(kernel) => (Activity::Kernel(position[kernel]), total),
                            Activity::Copies(_) => (activity, total),
                        })
                        .collect();
                    work.sort_unstable_by_key(|&(activity, _)| activity);
                    gpus.push(GpuTotals { gpu, work });
                }
            }
        }
        let number = |gpu: &Gpu| gpu.gpu;
        gpus.sort_by_key(|totals| number(&totals.gpu));
        let mut ranks: Vec<RankTotals> =
            ranks.into_iter().map(|(rank, totals)| RankTotals { rank, ..totals }).collect();
        for totals in &mut ranks {
            totals.kernels.sort_by_key(|&(kernel, _)| kernel);
            totals.gpus.sort_by_key(number);
        }
        Totals { kernels, ranks, gpus, unfinished: self.unfinished, graph: self.graph }
    }
}

#[derive(Debug)]
struct Sums {
    kernels: KernelIndex,
    /// The rank that the user gave, and that of processes whose rank is unknown.
    ranks: [Option<u32>; 2],
    /// Keyed by rank and kernel.
    sketches: FirstUseMap<(Option<u32>, usize), Sketch>,
    work: FirstUseMap<(AgentId, Activity), CallTotal>,
    gpus: FirstUseMap<(AgentId, Scope), Usage>,
    /// The two of `gpus` that an op counts in: its GPU, and its rank there.
    places: FirstUseSet<[usize; 2]>,
    is_first_pass: bool,
}

/// The owner of the ops of a GPU that are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Scope {
    All,
    Rank(Option<u32>),
}

#[derive(Debug, Clone, Default)]
struct Usage {
    origin: Origin,
    utilization: Utilization,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    sketch: Option<usize>,
    work: usize,
    /// A position in `places`, and in the lowest bits the class.
    place: u32,
}

/// The lowest bits of a [`Timed::place`] are its class.
const CLASS_BITS: u32 = 3;

impl Accumulator for Sums {
    type Entry = Entry;

    fn entry(&mut self, chunk: &Tables, track: TrackId, key: OpKey) -> Entry {
        let track = chunk.tracks.get(track);
        let stored = || chunk.processes.get(track.process.index()).and_then(|process| process.rank);
        let [given, fallback] = self.ranks;
        let rank = given.or_else(stored).or(fallback);
        let (sketch, activity, class) = match key {
            OpKey::Kernel(name) => {
                let kernel = self.kernels.number(chunk.strings.get(name));
                let is_collective = self.kernels.is_collective(kernel);
                let class = if is_collective { Class::Collective } else { Class::Kernel };
                let sketch = position_of(&mut self.sketches, (rank, kernel));
                (Some(sketch), Activity::Kernel(kernel), class)
            }
            OpKey::Copy(direction) => (None, Activity::Copies(direction), Class::Copy),
        };
        let work = position_of(&mut self.work, (track.agent, activity));
        let pair =
            [Scope::All, Scope::Rank(rank)].map(|scope| position_of(&mut self.gpus, (track.agent, scope)));
        let at = self.places.insert_full(pair).0;
        Entry { sketch, work, place: (at as u32) << CLASS_BITS | class as u32 }
    }

    #[inline]
    fn add(&mut self, entry: Entry, duration: i64) -> u32 {
        if self.is_first_pass {
            if let Some(sketch) = entry.sketch {
                self.sketches[sketch].add(duration);
            }
            self.work[entry.work].add(duration);
        }
        entry.place
    }

    #[inline]
    fn add_in_order(&mut self, op: Timed) {
        let class = match op.place & ((1 << CLASS_BITS) - 1) {
            class if class == Class::Copy as u32 => Class::Copy,
            class if class == Class::Collective as u32 => Class::Collective,
            _ => Class::Kernel,
        };
        for at in self.places[(op.place >> CLASS_BITS) as usize] {
            let Usage { origin, utilization } = &mut self.gpus[at];
            let start = origin.relative(op.start);
            utilization.add(class, start, start.saturating_add(op.length.unsigned_abs()));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::ProcessId;
    use rtl_schema::table::{Agent, Copy, Direction, Dispatch, Process, Track};

    use super::*;
    use crate::Analysis;
    use crate::trace::region;

    const NAMES: [&str; 3] = ["gemm.kd", "gemm", "ncclDevKernel_AllReduce"];

    /// GPU, rank, what (a name, or a copy behind them), start and duration.
    type Op = (u32, u32, usize, i64, i64);

    /// Two GPUs that two ranks share.
    fn tables(ops: &[Op]) -> Tables {
        let mut tables = Tables::default();
        for number in 0..2 {
            tables.agents.push(Agent { number: i64::from(number), ..Agent::default() });
            tables.processes.push(Process { rank: Some(number), ..Process::default() });
        }
        let names = NAMES.map(|name| tables.strings.intern(name));
        // All of them in every piece, as a stream has them.
        for (agent, process) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let (agent, process) = (AgentId(agent), ProcessId(process));
            tables.tracks.intern(Track { agent, process, ..Track::default() });
        }
        for &(gpu, rank, what, start, duration) in ops {
            let (agent, process) = (AgentId(gpu), ProcessId(rank));
            let track = tables.tracks.intern(Track { agent, process, ..Track::default() });
            let duration = Some(duration);
            match names.get(what) {
                Some(&name) => {
                    tables.dispatches.push(Dispatch { name, track, start, duration, ..Dispatch::default() })
                }
                None => tables.copies.push(Copy { track, start, duration, ..Copy::default() }),
            }
        }
        tables
    }

    fn ran(ops: &[Op], piece: usize) -> (Totals, usize) {
        let categories = Categories::default();
        let mut summary = StreamingSummary::new(&categories, None, None);
        let mut readings = 0;
        loop {
            readings += 1;
            ops.chunks(piece).for_each(|ops| summary.add_chunk(&tables(ops)));
            if !summary.end_pass() {
                return (summary.finish(&tables(&[])), readings);
            }
        }
    }

    #[test]
    fn two_ranks_on_one_gpu_are_told_apart_and_together() {
        let (ran, readings) =
            ran(&[(0, 0, 0, 100, 50), (0, 1, 2, 120, 80), (0, 0, 1, 300, 10), (0, 0, 3, 310, 40)], 1);
        assert_eq!(readings, 1);
        let labels: Vec<&str> = ran.kernels.iter().map(|kernel| &*kernel.label).collect();
        assert_eq!(labels, ["gemm", "ncclDevKernel_AllReduce"]);
        let gpu = &ran.gpus[0].gpu;
        assert_eq!((gpu.wall_ns, gpu.busy_ns, gpu.overlap_ns, gpu.ops), (250, 150, 30, 4));
        let busy: Vec<_> = ran.ranks.iter().map(|ran| (ran.rank, ran.gpus[0].busy_ns)).collect();
        assert_eq!(busy, [(Some(0), 100), (Some(1), 80)]);
        let of_zero = &ran.ranks[0].kernels;
        assert_eq!((of_zero.len(), of_zero[0].0, of_zero[0].1.moments().total_ns()), (1, 0, 60));
        let work = |calls, total_ns| CallTotal { calls, total_ns };
        let copies = Activity::Copies(Direction::Unknown);
        let expected =
            [(Activity::Kernel(0), work(2, 60)), (Activity::Kernel(1), work(1, 80)), (copies, work(1, 40))];
        assert_eq!(ran.gpus[0].work, expected);
    }

    proptest! {
        #[test]
        fn a_trace_in_pieces_says_what_it_says_as_a_whole(
            ops in prop::collection::vec((0_u32..2, 0_u32..2, 0_usize..4, 0_i64..400, -1_i64..60), 0..60),
            piece in 1_usize..20,
        ) {
            let (ran, _) = ran(&ops, piece);
            let whole = tables(&ops);
            let categories = Categories::default();
            let whole_analysis = Analysis::new(&whole, &categories);
            let gpus = ran.gpus.iter().map(|ran| ran.gpu.clone()).collect::<Vec<_>>();
            prop_assert_eq!(&gpus, &whole_analysis.sweep().gpus);
            for ran in &ran.ranks {
                let mut own = whole.clone();
                let filter = region::Filter { ranks: ran.rank.into_iter().collect(), ..region::Filter::default() };
                prop_assert!(region::apply(&mut own, &filter).is_ok());
                let own_analysis = Analysis::new(&own, &categories);
                prop_assert_eq!(&ran.gpus, &own_analysis.sweep().gpus);
            }
            let mut all = Sketch::default();
            ran.ranks.iter().flat_map(|ran| &ran.kernels).for_each(|(_, sketch)| all.append(sketch));
            let valid = ops.iter().filter(|op| op.2 < 3 && op.4 >= 0).map(|op| op.4);
            prop_assert_eq!(all.stats(), crate::Stats::of_durations(valid));
            for ran in &ran.gpus {
                let calls: u64 = ran.work.iter().map(|(_, work)| work.calls).sum();
                prop_assert_eq!(calls, ran.gpu.ops);
            }
        }
    }
}
