//! What each rank of a trace did itself, told while the trace goes by in pieces: memory is that of its kernels and
//! places, however many ops there are.

use rtl_schema::{AgentId, NameId, ProcessId, Tables, TrackId};
use rustc_hash::FxHashMap;

use super::busy::Busy;
use crate::Categories;
use crate::categories::COLLECTIVE;
use crate::stats::CallTotal;
use crate::streaming::window::{Outcome, Timed, Window};

/// The kernels of all traces of a job, each once.
#[derive(Debug, Default)]
pub struct KernelIndex {
    categories: Categories,
    known: FxHashMap<String, Known>,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    number: u32,
    collective: bool,
}

impl KernelIndex {
    /// Their identities, by number.
    #[must_use]
    pub fn labels(&self) -> Vec<&str> {
        let mut labels = vec![""; self.known.len()];
        self.known.iter().for_each(|(label, known)| labels[known.number as usize] = label);
        labels
    }

    fn known(&mut self, label: &str) -> Known {
        if let Some(&known) = self.known.get(label) {
            return known;
        }
        let collective = self.categories.of(label) == COLLECTIVE;
        let known = Known { number: self.known.len() as u32, collective };
        self.known.insert(label.to_owned(), known);
        known
    }
}

/// What one process ran on one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceTotals {
    /// The process.
    pub process: ProcessId,
    /// The GPU.
    pub agent: AgentId,
    /// The union of its ops in ns, and of those that are no collectives; unknown where rows are far from the order of
    /// their starts.
    pub busy_ns: Option<(i64, i64)>,
    /// Its kernels that are no collectives, by number, with their totals.
    pub kernels: Vec<(u32, CallTotal)>,
}

/// A trace on its way: [`Self::add_chunk`] for each piece, then [`Self::finish`].
#[derive(Debug)]
pub struct StreamingTotals<'a> {
    kernels: &'a mut KernelIndex,
    places: Vec<(ProcessId, AgentId, Busy)>,
    totals: Vec<(Key, CallTotal)>,
    position: FxHashMap<Key, usize>,
    /// Where a kernel of a track counts, and copies.
    entries: FxHashMap<(TrackId, Option<NameId>), Entry>,
    window: Window,
    ops: u32,
}

/// A place and a kernel.
type Key = (usize, u32);

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// A position in `totals`; none of copies and collectives.
    total: Option<usize>,
    /// A position in `places`, and in the lowest bit whether it is a collective.
    place: u32,
}

fn unite(places: &mut [(ProcessId, AgentId, Busy)], op: Timed) {
    places[(op.place >> 1) as usize].2.add(op.start, op.length, op.place & 1 == 1);
}

impl<'a> StreamingTotals<'a> {
    /// A trace to come, of a job with these kernels.
    #[must_use]
    pub fn new(kernels: &'a mut KernelIndex) -> Self {
        Self {
            kernels,
            places: Vec::new(),
            totals: Vec::new(),
            position: FxHashMap::default(),
            entries: FxHashMap::default(),
            window: Window::default(),
            ops: 0,
        }
    }

    /// Adds the rows of a piece, as [`rtl_schema::Trace::stream`] gives it out.
    pub fn add_chunk(&mut self, piece: &Tables) {
        let dispatches = &piece.dispatches;
        let copies =
            piece.copies.iter().filter_map(|copy| Some((copy, copy.duration.filter(|&ns| ns >= 0)?)));
        let mut copies = copies.peekable();
        for row in 0..dispatches.len() {
            let Some(duration) = dispatches.duration.valid(row) else { continue };
            let start = dispatches.start[row];
            // Copies have a table of their own, but ran in between.
            while let Some((copy, duration)) = copies.next_if(|(copy, _)| copy.start <= start) {
                self.op(piece, (copy.track, None), copy.start, duration);
            }
            self.op(piece, (dispatches.track[row], Some(dispatches.name[row])), start, duration);
        }
        for (copy, duration) in copies {
            self.op(piece, (copy.track, None), copy.start, duration);
        }
    }

    /// What each process ran on each GPU.
    #[must_use]
    pub fn finish(mut self) -> Vec<PlaceTotals> {
        let outcome = self.window.end(|op| unite(&mut self.places, op));
        let is_known = outcome == Outcome::Complete;
        let own = |&(process, agent, busy): &(ProcessId, AgentId, Busy)| PlaceTotals {
            process,
            agent,
            busy_ns: is_known.then_some((busy.busy_ns, busy.compute_ns)),
            kernels: Vec::new(),
        };
        let mut all: Vec<PlaceTotals> = self.places.iter().map(own).collect();
        for ((place, kernel), total) in self.totals {
            all[place].kernels.push((kernel, total));
        }
        all.iter_mut().for_each(|own| own.kernels.shrink_to_fit());
        all
    }

    #[inline]
    fn op(&mut self, piece: &Tables, what: (TrackId, Option<NameId>), start: i64, duration: i64) {
        let entry = match self.entries.get(&what) {
            Some(&entry) => entry,
            None => self.entry(piece, what),
        };
        if let Some(total) = entry.total {
            self.totals[total].1.add(duration);
        }
        let timed = Timed { start, row: self.ops, place: entry.place, length: duration };
        self.ops = self.ops.wrapping_add(1);
        self.window.add(timed, |op| unite(&mut self.places, op));
    }

    #[cold]
    fn entry(&mut self, piece: &Tables, what: (TrackId, Option<NameId>)) -> Entry {
        let (track, name) = what;
        let track = piece.tracks.get(track);
        let is_place = |&(process, agent, _): &(ProcessId, AgentId, Busy)| {
            (process, agent) == (track.process, track.agent)
        };
        let place = self.places.iter().position(is_place).unwrap_or_else(|| {
            self.places.push((track.process, track.agent, Busy::default()));
            self.places.len() - 1
        });
        let known = name.map(|name| self.kernels.known(rtl_schema::identity(piece.strings.get(name))));
        let total = known.filter(|known| !known.collective).map(|known| {
            let key = (place, known.number);
            *self.position.entry(key).or_insert_with(|| {
                self.totals.push((key, CallTotal::default()));
                self.totals.len() - 1
            })
        });
        let collective = known.is_some_and(|known| known.collective);
        let entry = Entry { total, place: (place as u32) << 1 | u32::from(collective) };
        self.entries.insert(what, entry);
        entry
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::table::{Agent, Copy, Dispatch, Process, Track};

    use super::*;
    use crate::ranks::kernels::{KernelTotals, imbalances};
    use crate::ranks::ranks;

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
        assert_eq!(kernels.labels(), ["gemm", "ncclDevKernel_AllReduce"]);
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
            let whole = ranks(&tables(&ops), &Categories::default());
            prop_assert_eq!(own.len(), whole.ranks.len());
            for (own, rank) in own.iter().zip(&whole.ranks) {
                let is_same = own.busy_ns == Some((rank.busy_ns, rank.compute_ns));
                prop_assert!(is_same || own.busy_ns.is_none() && !is_sorted, "{:?} {:?}", own, rank);
            }
            let names: Vec<&str> = whole.ranks.iter().map(|rank| rank.name.as_str()).collect();
            let mut totals: Vec<KernelTotals> = Vec::new();
            for (number, label) in kernels.labels().into_iter().enumerate() {
                let total = |own: &PlaceTotals| own.kernels.iter().find(|(known, _)| *known as usize == number).map(|(_, total)| *total);
                let ran = own.iter().enumerate().filter_map(|(at, own)| Some((at, total(own)?)));
                totals.push(KernelTotals { name: label.to_owned(), ran: ran.collect() });
            }
            prop_assert_eq!(imbalances(&totals, &names), whole.kernels);
        }
    }
}
