//! What the ops of a trace say, told while the trace goes by in pieces: memory is that of its kernels and places, however
//! many ops there are.
//!
//! Counts, sums, sums of squares, the shortest, the longest, busy time and overlaps are exact; percentiles and trimmed
//! means come from a [`Sketch`], which says how far off they may be. A trace whose rows are far from the order of their
//! starts is read several times, because busy time is a union of intervals.

mod sketch;
mod totals;
pub(crate) mod window;

use std::collections::BTreeMap;

use rtl_schema::table::{AgentKind, Direction};
use rtl_schema::{AgentId, NameId, Tables, TrackId};
use rustc_hash::FxHashMap;

pub use self::sketch::{PERCENTILE_ERROR, Sketch};
pub use self::totals::{Activity, GpuTotals, Kernel, RankTotals, Totals};
use self::window::{Outcome, Timed, Window};
use crate::Categories;
use crate::categories::COLLECTIVE;
use crate::stats::CallTotal;
use crate::sweep::{Class, Gpu, Unions, described};

/// A trace on its way: [`Self::add_chunk`] for each piece, then [`Self::end_pass`], and all of that again where that says so.
#[derive(Debug)]
pub struct StreamingSummary<'a> {
    categories: &'a Categories,
    /// The rank from the user, else the default rank.
    ranks: [Option<u32>; 2],
    kernels: Vec<Kernel>,
    known: FxHashMap<String, usize>,
    /// By rank and kernel.
    sketches: Vec<((Option<u32>, usize), Sketch)>,
    /// By agent and what ran.
    work: Vec<((AgentId, Activity), CallTotal)>,
    entries: FxHashMap<(TrackId, What), Entry>,
    sweeps: Vec<((AgentId, Whose), Sweep)>,
    /// The two sweeps that an op counts in: that of its GPU, and that of its rank there.
    places: Vec<[usize; 2]>,
    window: Window,
    /// How many ops this reading has had.
    ops: u32,
    is_first: bool,
    unfinished: u64,
    graph: bool,
}

/// What a row says that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Name(NameId),
    Copy(Direction),
}

/// Where an op counts.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// A position in `sketches`; none of a copy.
    sketch: Option<usize>,
    /// A position in `work`.
    work: usize,
    place: u32,
    class: Class,
}

/// Whose ops of a GPU are swept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    All,
    Rank(Option<u32>),
}

/// What one GPU, or one rank on it, has done so far. Times are relative to the first start.
#[derive(Debug, Clone, Default)]
struct Sweep {
    base: Option<i64>,
    unions: Unions,
    dispatches: u64,
    collectives: u64,
    copies: u64,
}

impl Sweep {
    #[inline]
    fn add(&mut self, start: i64, length: i64, class: Class) {
        let base = *self.base.get_or_insert(start);
        let start = start.wrapping_sub(base) as u64;
        self.unions.add(class, start, start.saturating_add(length.unsigned_abs()));
        self.dispatches += u64::from(class != Class::Copy);
        self.collectives += u64::from(class == Class::Collective);
        self.copies += u64::from(class == Class::Copy);
    }

    fn gpu(&self, tables: &Tables, agent: AgentId) -> Gpu {
        let mut gpu = described(tables, agent);
        self.unions.describe(&mut gpu, self.base.unwrap_or_default());
        gpu.ops = self.dispatches + self.copies;
        (gpu.dispatches, gpu.collectives, gpu.copies) = (self.dispatches, self.collectives, self.copies);
        gpu
    }
}

/// The lowest bits of a [`Timed::place`] are its class.
const CLASS_BITS: u32 = 3;

/// The position of the entry with this key, which is added where it is missing.
fn found<K: PartialEq, V: Default>(entries: &mut Vec<(K, V)>, key: K) -> usize {
    entries.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        entries.push((key, V::default()));
        entries.len() - 1
    })
}

fn sweep(sweeps: &mut [((AgentId, Whose), Sweep)], places: &[[usize; 2]], op: Timed) {
    let class = match op.place & ((1 << CLASS_BITS) - 1) {
        class if class == Class::Copy as u32 => Class::Copy,
        class if class == Class::Collective as u32 => Class::Collective,
        _ => Class::Kernel,
    };
    for at in places[(op.place >> CLASS_BITS) as usize] {
        sweeps[at].1.add(op.start, op.length, class);
    }
}

impl<'a> StreamingSummary<'a> {
    /// A trace to come. All of its processes have the rank that is `given`, whatever the trace says; those of which it says
    /// nothing have the `other` one.
    #[must_use]
    pub fn new(categories: &'a Categories, given: Option<u32>, other: Option<u32>) -> Self {
        Self {
            categories,
            ranks: [given, other],
            kernels: Vec::new(),
            known: FxHashMap::default(),
            sketches: Vec::new(),
            work: Vec::new(),
            entries: FxHashMap::default(),
            sweeps: Vec::new(),
            places: Vec::new(),
            window: Window::default(),
            ops: 0,
            is_first: true,
            unfinished: 0,
            graph: false,
        }
    }

    /// Adds the rows of a piece, as [`rtl_schema::Trace::stream`] gives it out.
    pub fn add_chunk(&mut self, piece: &Tables) {
        let dispatches = &piece.dispatches;
        let counts = self.is_first;
        let copies =
            piece.copies.iter().filter_map(|copy| Some((copy, copy.duration.filter(|&ns| ns >= 0)?)));
        let mut copies = copies.peekable();
        for row in 0..dispatches.len() {
            let Some(duration) = dispatches.duration.valid(row) else {
                self.unfinished += u64::from(counts && dispatches.duration.get(row).is_none());
                continue;
            };
            let start = dispatches.start[row];
            // Copies have a table of their own, but ran in between.
            while let Some((copy, duration)) = copies.next_if(|(copy, _)| copy.start <= start) {
                self.op(piece, copy.track, What::Copy(copy.direction), copy.start, duration);
            }
            self.op(piece, dispatches.track[row], What::Name(dispatches.name[row]), start, duration);
        }
        for (copy, duration) in copies {
            self.op(piece, copy.track, What::Copy(copy.direction), copy.start, duration);
        }
        self.graph |= dispatches.graph.uniform() != Some(false)
            && (0..dispatches.len()).any(|row| dispatches.graph.get(row));
    }

    #[inline]
    fn op(&mut self, piece: &Tables, track: TrackId, what: What, start: i64, duration: i64) {
        let entry = match self.entries.get(&(track, what)) {
            Some(&entry) => entry,
            None => self.entry(piece, track, what),
        };
        if self.is_first {
            if let Some(sketch) = entry.sketch {
                self.sketches[sketch].1.add(duration);
            }
            let work = &mut self.work[entry.work].1;
            work.calls += 1;
            work.total_ns = work.total_ns.saturating_add(duration);
        }
        let place = entry.place << CLASS_BITS | entry.class as u32;
        let timed = Timed { start, row: self.ops, place, length: duration };
        self.ops = self.ops.wrapping_add(1);
        self.window.add(timed, |op| sweep(&mut self.sweeps, &self.places, op));
    }

    /// Ends a reading. Whether the trace must be read once more, from the start.
    #[must_use]
    pub fn end_pass(&mut self) -> bool {
        let outcome = self.window.end(|op| sweep(&mut self.sweeps, &self.places, op));
        if outcome == Outcome::Anew {
            self.sweeps.iter_mut().for_each(|(_, sweep)| *sweep = Sweep::default());
        }
        (self.is_first, self.ops) = (false, 0);
        outcome != Outcome::Complete
    }

    /// What it said; `last` is what [`rtl_schema::Trace::stream`] left.
    #[must_use]
    pub fn finish(self, last: &Tables) -> Totals {
        // In the order of names, so that nothing depends on that of rows.
        let mut order: Vec<usize> = (0..self.kernels.len()).collect();
        order.sort_by(|&one, &other| self.kernels[one].cmp(&self.kernels[other]));
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| position[old] = new);
        let mut ranks: BTreeMap<Option<u32>, RankTotals> = BTreeMap::new();
        for ((rank, kernel), sketch) in self.sketches {
            ranks.entry(rank).or_default().kernels.push((position[kernel], sketch));
        }
        let mut gpus: Vec<GpuTotals> = Vec::new();
        let is_cpu =
            |agent: AgentId| last.agents.get(agent.index()).is_some_and(|agent| agent.kind == AgentKind::Cpu);
        for ((agent, whose), sweep) in self.sweeps.iter().filter(|((agent, _), _)| !is_cpu(*agent)) {
            let gpu = sweep.gpu(last, *agent);
            match whose {
                Whose::Rank(rank) => ranks.entry(*rank).or_default().gpus.push(gpu),
                Whose::All => {
                    let own = self.work.iter().filter(|((place, _), _)| place == agent);
                    let mut work: Vec<(Activity, CallTotal)> = own
                        .map(|&((_, item), work)| match item {
                            Activity::Kernel(kernel) => (Activity::Kernel(position[kernel]), work),
                            Activity::Copies(_) => (item, work),
                        })
                        .collect();
                    work.sort_unstable_by_key(|&(item, _)| item);
                    gpus.push(GpuTotals { gpu, work });
                }
            }
        }
        let number = |gpu: &Gpu| gpu.gpu;
        gpus.sort_by_key(|ran| number(&ran.gpu));
        let mut ranks: Vec<RankTotals> =
            ranks.into_iter().map(|(rank, ran)| RankTotals { rank, ..ran }).collect();
        for ran in &mut ranks {
            ran.kernels.sort_by_key(|&(kernel, _)| kernel);
            ran.gpus.sort_by_key(number);
        }
        let mut kernels = self.kernels;
        kernels.sort_unstable();
        Totals { kernels, ranks, gpus, unfinished: self.unfinished, graph: self.graph }
    }

    #[cold]
    fn entry(&mut self, piece: &Tables, track: TrackId, what: What) -> Entry {
        let place = piece.tracks.get(track);
        let stored = || piece.processes.get(place.process.index()).and_then(|process| process.rank);
        let [given, other] = self.ranks;
        let rank = given.or_else(stored).or(other);
        let (sketch, item, class) = match what {
            What::Name(name) => {
                let kernel = self.kernel(rtl_schema::identity(piece.strings.get(name)));
                let is_collective = self.kernels[kernel].category == COLLECTIVE;
                let class = if is_collective { Class::Collective } else { Class::Kernel };
                (Some(found(&mut self.sketches, (rank, kernel))), Activity::Kernel(kernel), class)
            }
            What::Copy(direction) => (None, Activity::Copies(direction), Class::Copy),
        };
        let work = found(&mut self.work, (place.agent, item));
        let pair = [Whose::All, Whose::Rank(rank)].map(|whose| found(&mut self.sweeps, (place.agent, whose)));
        let at = self.places.iter().position(|&known| known == pair).unwrap_or_else(|| {
            self.places.push(pair);
            self.places.len() - 1
        });
        let entry = Entry { sketch, work, place: at as u32, class };
        self.entries.insert((track, what), entry);
        entry
    }

    fn kernel(&mut self, label: &str) -> usize {
        if let Some(&kernel) = self.known.get(label) {
            return kernel;
        }
        self.kernels.push(Kernel { label: label.to_owned(), category: self.categories.of(label).to_owned() });
        self.known.insert(label.to_owned(), self.kernels.len() - 1);
        self.kernels.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::ProcessId;
    use rtl_schema::table::{Agent, Copy, Dispatch, Process, Track};

    use super::*;
    use crate::order::Order;
    use crate::{Options, region, report};

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
        let labels: Vec<&str> = ran.kernels.iter().map(|kernel| kernel.label.as_str()).collect();
        assert_eq!(labels, ["gemm", "ncclDevKernel_AllReduce"]);
        let gpu = &ran.gpus[0].gpu;
        assert_eq!((gpu.wall_ns, gpu.busy_ns, gpu.overlap_ns, gpu.ops), (250, 150, 30, 4));
        let busy: Vec<_> = ran.ranks.iter().map(|ran| (ran.rank, ran.gpus[0].busy_ns)).collect();
        assert_eq!(busy, [(Some(0), 100), (Some(1), 80)]);
        let of_zero = &ran.ranks[0].kernels;
        assert_eq!((of_zero.len(), of_zero[0].0, of_zero[0].1.total_ns()), (1, 0, 60));
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
            let gpus = report(&whole, &Options::default()).gpus.unwrap_or_default();
            prop_assert_eq!(ran.gpus.iter().map(|ran| ran.gpu.clone()).collect::<Vec<_>>(), gpus);
            for ran in &ran.ranks {
                let mut own = whole.clone();
                let filter = region::Filter { ranks: ran.rank.into_iter().collect(), ..region::Filter::default() };
                prop_assert!(region::apply(&mut own, &filter).is_ok());
                let swept = crate::sweep::sweep(&own, &Order::of(&own), &Categories::default(), 0);
                prop_assert_eq!(&ran.gpus, &swept.gpus);
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
