//! The totals of each rank's own ops, from a trace that arrives in chunks: memory grows with its kernels and GPUs, not
//! with its ops.

use rtl_schema::{AgentId, ProcessId, Tables, TrackId};

use super::busy::Busy;
use crate::base::first_use::{FirstUseMap, position_of};
use crate::base::stats::CallTotal;
use crate::base::union_length::Origin;
pub use crate::names::kernel_index::KernelIndex;
use crate::streaming::window::{Pass, Timed};
use crate::streaming::{Accumulator, OpKey, OpStream};

/// The totals of one process on one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceTotals {
    /// The process of the rank.
    pub process: ProcessId,
    /// The GPU that it used.
    pub agent: AgentId,
    /// The union of its ops in ns, and of those that are no collectives; unknown where rows are far from the order of
    /// their starts.
    pub busy_ns: Option<(i64, i64)>,
    /// Kernels that are no collectives, by number, with their totals.
    pub kernels: Vec<(u32, CallTotal)>,
}

/// A trace in chunks: [`Self::add_chunk`] for each of them, then [`Self::finish`].
#[derive(Debug)]
pub struct StreamingTotals<'a>(OpStream<Sums<'a>>);

impl<'a> StreamingTotals<'a> {
    /// A trace of a job with these kernels.
    #[must_use]
    pub fn new(kernels: &'a mut KernelIndex) -> Self {
        let (places, totals) = (FirstUseMap::default(), FirstUseMap::default());
        Self(OpStream::new(Sums { kernels, places, totals }))
    }

    /// Adds the rows of a chunk, as [`rtl_schema::Trace::stream`] gives it out.
    pub fn add_chunk(&mut self, chunk: &Tables) {
        self.0.add_chunk(chunk);
    }

    /// The totals of each process on each GPU.
    #[must_use]
    pub fn finish(mut self) -> Vec<PlaceTotals> {
        let in_order = self.0.end_pass() == Pass::Complete;
        let Sums { places, totals, .. } = self.0.accumulator;
        let of_place = |(&(process, agent), (_, busy)): (&(ProcessId, AgentId), &(Origin, Busy))| {
            let busy_ns = in_order.then(|| busy.busy_and_compute_ns());
            PlaceTotals { process, agent, busy_ns, kernels: Vec::new() }
        };
        let mut all: Vec<PlaceTotals> = places.iter().map(of_place).collect();
        for ((place, kernel), total) in totals {
            all[place].kernels.push((kernel, total));
        }
        all.iter_mut().for_each(|place| place.kernels.shrink_to_fit());
        all
    }
}

#[derive(Debug)]
struct Sums<'a> {
    kernels: &'a mut KernelIndex,
    places: FirstUseMap<(ProcessId, AgentId), (Origin, Busy)>,
    /// Keyed by position in `places` and number of the kernel.
    totals: FirstUseMap<(usize, u32), CallTotal>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// A position in `totals`; none of copies and collectives.
    total: Option<usize>,
    /// A position in `places`, and in the lowest bit whether it is a collective.
    place: u32,
}

impl Accumulator for Sums<'_> {
    type Entry = Entry;

    fn entry(&mut self, chunk: &Tables, track: TrackId, key: OpKey) -> Entry {
        let track = chunk.tracks.get(track);
        let place = position_of(&mut self.places, (track.process, track.agent));
        let OpKey::Kernel(name) = key else { return Entry { total: None, place: (place as u32) << 1 } };
        let kernel = self.kernels.number(chunk.strings.get(name));
        let collective = self.kernels.is_collective(kernel);
        let total = (!collective).then(|| position_of(&mut self.totals, (place, kernel as u32)));
        Entry { total, place: (place as u32) << 1 | u32::from(collective) }
    }

    #[inline]
    fn add(&mut self, entry: Entry, duration: i64) -> u32 {
        if let Some(total) = entry.total {
            self.totals[total].add(duration);
        }
        entry.place
    }

    #[inline]
    fn add_in_order(&mut self, op: Timed) {
        let (origin, busy) = &mut self.places[(op.place >> 1) as usize];
        busy.add(origin.relative(op.start), op.length.unsigned_abs(), op.place & 1 == 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::table::{Agent, Copy, Dispatch, Process, Track};

    use super::*;
    use crate::ranks::kernels::{KernelTotals, imbalances};
    use crate::{Analysis, Categories};

    const NAMES: [&str; 3] = ["gemm.kd", "gemm", "ncclDevKernel_AllReduce"];

    /// Rank, what (a name, or a copy behind them), start and duration.
    type Op = (u32, usize, i64, i64);

    /// Three ranks, of which the last has both GPUs of the others.
    fn tables(ops: &[Op]) -> Tables {
        let mut tables = Tables::default();
        for rank in 0..3 {
            tables.processes.push(Process { rank: Some(rank), ..Process::default() });
        }
        for number in 0..2 {
            tables.agents.push(Agent { number, ..Agent::default() });
        }
        let names = NAMES.map(|name| tables.strings.intern(name));
        // All of them in every piece, as a stream has them.
        let places = [(0, 0), (1, 1), (2, 0), (2, 1)].map(|(process, agent)| {
            let (process, agent) = (ProcessId(process), AgentId(agent));
            tables.tracks.intern(Track { process, agent, ..Track::default() })
        });
        for &(place, what, start, duration) in ops {
            let (track, duration) = (places[place as usize], Some(duration));
            match names.get(what) {
                Some(&name) => {
                    tables.dispatches.push(Dispatch { name, track, start, duration, ..Dispatch::default() })
                }
                None => tables.copies.push(Copy { track, start, duration, ..Copy::default() }),
            }
        }
        tables
    }

    fn tallied(ops: &[Op], piece: usize, kernels: &mut KernelIndex) -> Vec<PlaceTotals> {
        let mut tally = StreamingTotals::new(kernels);
        ops.chunks(piece).for_each(|ops| tally.add_chunk(&tables(ops)));
        let mut own = tally.finish();
        own.sort_by_key(|own| (own.process, own.agent));
        own
    }

    #[test]
    fn own_work_is_told_from_collectives_and_by_kernel() {
        let mut kernels = KernelIndex::default();
        let ops = [(0, 0, 100, 50), (0, 2, 120, 80), (1, 3, 130, 5), (0, 1, 300, 10), (0, 3, 305, 40)];
        let own = tallied(&ops, 1, &mut kernels);
        assert_eq!(own[0].busy_ns, Some((100 + 45, 50 + 45)));
        assert_eq!(own[0].kernels, [(0, CallTotal { calls: 2, total_ns: 60 })]);
        assert_eq!((own[1].busy_ns, own[1].kernels.len()), (Some((5, 5)), 0));
        assert_eq!(kernels.labels().collect::<Vec<_>>(), ["gemm", "ncclDevKernel_AllReduce"]);
    }

    #[test]
    fn the_union_of_rows_in_no_order_is_unknown_and_their_sums_are_not() {
        let ops: Vec<Op> = (0..12).map(|at| (0, 0, 1_000 - at * 10, 7)).collect();
        let own = tallied(&ops, 3, &mut KernelIndex::default());
        assert_eq!(own[0].busy_ns, None);
        assert_eq!(own[0].kernels, [(0, CallTotal { calls: 12, total_ns: 84 })]);
    }

    proptest! {
        #[test]
        fn a_trace_in_pieces_says_of_ranks_what_it_says_as_a_whole(
            ops in prop::collection::vec((0_u32..4, 0_usize..4, 0_i64..400, -1_i64..60), 0..60),
            piece in 1_usize..20,
            is_sorted: bool,
        ) {
            let mut ops = ops;
            if is_sorted {
                ops.sort_by_key(|op| op.2);
            }
            let mut kernels = KernelIndex::default();
            let own = tallied(&ops, piece, &mut kernels);
            let tables = tables(&ops);
            let analysis = Analysis::new(&tables, &Categories::default());
            let whole = analysis.ranks().clone();
            prop_assert_eq!(own.len(), whole.ranks.len());
            for (own, rank) in own.iter().zip(&whole.ranks) {
                let is_same = own.busy_ns == Some((rank.busy_ns, rank.compute_ns));
                prop_assert!(is_same || own.busy_ns.is_none() && !is_sorted, "{:?} {:?}", own, rank);
            }
            let names: Vec<&str> = whole.ranks.iter().map(|rank| rank.name.as_str()).collect();
            let mut totals: Vec<KernelTotals> = Vec::new();
            for (number, label) in kernels.labels().enumerate() {
                let total = |own: &PlaceTotals| own.kernels.iter().find(|(known, _)| *known as usize == number).map(|(_, total)| *total);
                let ran = own.iter().enumerate().filter_map(|(at, own)| Some((at, total(own)?)));
                totals.push(KernelTotals { name: label.to_owned(), ran: ran.collect() });
            }
            prop_assert_eq!(imbalances(&totals, &names), whole.kernels);
        }
    }
}
