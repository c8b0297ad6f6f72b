//! The collectives of a trace that all their members leave together.

use std::hash::{Hash, Hasher};

use rtl_schema::{AgentId, CollectiveId, NameId, ProcessId, ShapeId, Tables, TrackId};
use rustc_hash::{FxHashMap, FxHasher};

use super::groups::{Label, Sequence};
use super::synchronises;

/// The calls of one kernel with one shape that one process launched on one queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectiveCalls {
    /// The process.
    pub process: ProcessId,
    /// The GPU.
    pub agent: AgentId,
    /// The kernel.
    pub name: String,
    /// The same for kernels of one name and shape in all traces.
    pub kind: u64,
    /// A hash of its communicator; 0 where the trace states none.
    pub communicator: u64,
    /// Start and end of each call in ns, by end.
    pub calls: Vec<(i64, i64)>,
    /// What the trace states of each call; empty where it states nothing of any.
    pub labels: Vec<Label>,
}

/// Finds collectives in chunks of a trace.
#[derive(Debug, Default)]
pub struct CollectiveFinder {
    /// By name, whether it is a collective's.
    names: Vec<bool>,
    /// By the collective's id, what it states.
    stated: Vec<(u64, Label)>,
    found: FxHashMap<Place, CollectiveCalls>,
}

/// Track, name, shape and communicator of calls.
type Place = (TrackId, NameId, Option<ShapeId>, u64);

impl CollectiveFinder {
    /// Adds the rows of a chunk.
    pub fn add_chunk(&mut self, chunk: &Tables) {
        let new = chunk.strings.iter().skip(self.names.len());
        self.names.extend(new.map(|(_, text)| synchronises(text)));
        let new = (self.stated.len()..chunk.collectives.rows().len())
            .map(|id| stated(chunk, CollectiveId(id as u32)));
        self.stated.extend(new);
        for at in 0..chunk.dispatches.len() {
            let name = chunk.dispatches.name[at];
            if self.names.get(name.index()).copied().unwrap_or(false) {
                self.row(chunk, at);
            }
        }
    }

    fn row(&mut self, chunk: &Tables, at: usize) {
        let row = chunk.dispatches.get(at);
        let Some(duration) = row.duration.filter(|&duration| duration >= 0) else { return };
        let (communicator, label) = row.collective.map(|id| self.stated[id.index()]).unwrap_or_default();
        let place = (row.track, row.name, row.shape, communicator);
        let found = self.found.entry(place).or_insert_with(|| {
            let track = chunk.tracks.get(row.track);
            let shape = row.shape.map(|shape| chunk.shapes.get(shape));
            let text = chunk.strings.get(row.name);
            let mut hasher = FxHasher::default();
            (text, format!("{shape:?}")).hash(&mut hasher);
            let (process, agent, kind) = (track.process, track.agent, hasher.finish());
            let name = text.to_owned();
            CollectiveCalls { process, agent, name, kind, communicator, ..CollectiveCalls::default() }
        });
        found.calls.push((row.start, row.start.saturating_add(duration)));
        found.labels.push(label);
    }

    /// All that were found, in an order that does not depend on how the trace is numbered.
    #[must_use]
    pub fn finish(self) -> Vec<CollectiveCalls> {
        let mut found: Vec<CollectiveCalls> = joined(self.found);
        found.iter_mut().for_each(CollectiveCalls::sort);
        found.sort_by(|one, other| {
            (&one.name, one.kind, one.communicator, &one.calls).cmp(&(
                &other.name,
                other.kind,
                other.communicator,
                &other.calls,
            ))
        });
        found
    }
}

/// What a trace states of a collective: a hash of its communicator, and its label.
fn stated(tables: &Tables, id: CollectiveId) -> (u64, Label) {
    let collective = tables.collectives.get(id);
    let hash = |values: &dyn Fn(&mut FxHasher)| {
        let mut hasher = FxHasher::default();
        values(&mut hasher);
        hasher.finish()
    };
    let text = |id: NameId| if id.is_some() { tables.strings.get(id) } else { "" };
    let communicator = hash(&|hasher| (text(collective.communicator), text(collective.ranks)).hash(hasher));
    // The larger one of a gather or a scatter is that of all ranks. An exchange may give each rank another number.
    let operation = text(collective.operation);
    let is_exchange = operation.contains("to_all") || operation.contains("toall");
    let elements = collective.sent.max(collective.received).filter(|_| !is_exchange);
    let tag = hash(&|hasher| (operation, text(collective.data_type), elements).hash(hasher));
    let number = collective.sequence.map_or(0, |number| number.saturating_add(1));
    (communicator.max(1), Label { tag: ((tag >> 32) as u32).max(1), number })
}

/// Calls of which the trace states nothing belong to the only communicator of their kernel on their queue: the profiler
/// had not begun when they were launched.
fn joined(mut found: FxHashMap<Place, CollectiveCalls>) -> Vec<CollectiveCalls> {
    let mut only: FxHashMap<(TrackId, NameId, Option<ShapeId>), Option<u64>> = FxHashMap::default();
    for &(track, name, shape, communicator) in found.keys().filter(|place| place.3 != 0) {
        let known = only.entry((track, name, shape)).or_insert(Some(communicator));
        *known = known.filter(|known| *known == communicator);
    }
    for ((track, name, shape), communicator) in only {
        let Some(communicator) = communicator else { continue };
        if let Some(unstated) = found.remove(&(track, name, shape, 0))
            && let Some(stated) = found.get_mut(&(track, name, shape, communicator))
        {
            stated.calls.extend(unstated.calls);
            stated.labels.extend(unstated.labels);
        }
    }
    found.into_values().collect()
}

impl CollectiveCalls {
    /// Sorts calls by end.
    fn sort(&mut self) {
        if self.labels.iter().all(|label| *label == Label::default()) {
            self.labels = Vec::new();
            return self.calls.sort_by_key(|&(start, end)| (end, start));
        }
        let mut all: Vec<((i64, i64), Label)> = self.calls.drain(..).zip(self.labels.drain(..)).collect();
        all.sort_by_key(|&((start, end), label)| (end, start, label));
        (self.calls, self.labels) = all.into_iter().unzip();
    }
}

/// All collectives of a trace that is in memory.
#[must_use]
pub fn collectives(tables: &Tables) -> Vec<CollectiveCalls> {
    let mut finder = CollectiveFinder::default();
    finder.add_chunk(tables);
    finder.finish()
}

/// Moves the calls of `collectives` into sequences, with the kernel of each; `rank` has the number of each member with a
/// rank and is `None` if no member has one.
#[must_use]
pub fn sequences(
    collectives: Vec<CollectiveCalls>,
    mut rank: impl FnMut(ProcessId, AgentId) -> Option<usize>,
) -> (Vec<Sequence>, Vec<String>) {
    let sequence = |found: CollectiveCalls| {
        let CollectiveCalls { process, agent, name, kind, communicator, calls, labels } = found;
        Some((Sequence { rank: rank(process, agent)?, kind, communicator, calls, labels }, name))
    };
    collectives.into_iter().filter_map(sequence).unzip()
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Dispatch, Track};

    use super::*;

    fn tables(rows: &[(u32, &str, i64, Option<i64>)]) -> Tables {
        let mut tables = Tables::default();
        for &(agent, name, start, duration) in rows {
            let track = tables.tracks.intern(Track { agent: AgentId(agent), ..Track::default() });
            let name = tables.strings.intern(name);
            tables.dispatches.push(Dispatch { track, name, start, duration, ..Dispatch::default() });
        }
        tables
    }

    #[test]
    fn calls_of_a_collective_are_told_apart_by_gpu_and_sorted_by_end() {
        let rows = [
            (0, "ncclAllReduce", 10, Some(5)),
            (0, "gemm", 0, Some(9)),
            (1, "ncclAllReduce", 12, Some(3)),
            (0, "ncclAllReduce", 1, Some(4)),
            (0, "ncclAllReduce", 30, None),
            (0, "ncclAllReduce", 40, Some(-1)),
        ];
        let found = collectives(&tables(&rows));
        let calls: Vec<_> = found.iter().map(|found| (found.agent.0, found.calls.clone())).collect();
        assert_eq!(calls, [(0, vec![(1, 5), (10, 15)]), (1, vec![(12, 15)])]);
        assert_eq!(found[0].kind, found[1].kind);
    }

    #[test]
    fn pieces_give_what_the_whole_gives() {
        let rows: Vec<_> = (0..20).map(|at| (at % 2, "ncclAllGather", i64::from(at) * 10, Some(3))).collect();
        let mut finder = CollectiveFinder::default();
        // The chunks of a stream share their strings, tracks and shapes.
        let (mut first, mut second) = (tables(&rows), tables(&rows));
        first.dispatches.retain(&(0..20).map(|at| at < 7).collect::<Vec<_>>());
        second.dispatches.retain(&(0..20).map(|at| at >= 7).collect::<Vec<_>>());
        finder.add_chunk(&first);
        finder.add_chunk(&second);
        assert_eq!(finder.finish(), collectives(&tables(&rows)));
    }
}
