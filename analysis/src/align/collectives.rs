//! The collectives of a trace that all their members leave together.

use std::hash::{Hash, Hasher};

use rtl_schema::{AgentId, NameId, ProcessId, ShapeId, Tables, TrackId};
use rustc_hash::{FxHashMap, FxHasher};

use super::groups::Sequence;
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
    /// Start and end of each call in ns, by end.
    pub calls: Vec<(i64, i64)>,
}

/// Finds collectives in chunks of a trace.
#[derive(Debug, Default)]
pub struct CollectiveFinder {
    /// By name, whether it is a collective's.
    names: Vec<bool>,
    found: FxHashMap<(TrackId, NameId, Option<ShapeId>), CollectiveCalls>,
}

impl CollectiveFinder {
    /// Adds the rows of a chunk.
    pub fn add_chunk(&mut self, chunk: &Tables) {
        let new = chunk.strings.iter().skip(self.names.len());
        self.names.extend(new.map(|(_, text)| synchronises(text)));
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
        let found = self.found.entry((row.track, row.name, row.shape)).or_insert_with(|| {
            let track = chunk.tracks.get(row.track);
            let shape = row.shape.map(|shape| chunk.shapes.get(shape));
            let text = chunk.strings.get(row.name);
            let mut hasher = FxHasher::default();
            (text, format!("{shape:?}")).hash(&mut hasher);
            let (process, agent, kind) = (track.process, track.agent, hasher.finish());
            CollectiveCalls { process, agent, name: text.to_owned(), kind, calls: Vec::new() }
        });
        found.calls.push((row.start, row.start.saturating_add(duration)));
    }

    /// All that were found, in an order that does not depend on how the trace is numbered.
    #[must_use]
    pub fn finish(self) -> Vec<CollectiveCalls> {
        let mut found: Vec<CollectiveCalls> = self.found.into_values().collect();
        found.iter_mut().for_each(|collective| collective.calls.sort_by_key(|&(start, end)| (end, start)));
        found.sort_by(|one, other| {
            (&one.name, one.kind, &one.calls).cmp(&(&other.name, other.kind, &other.calls))
        });
        found
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
        let CollectiveCalls { process, agent, name, kind, calls } = found;
        Some((Sequence { rank: rank(process, agent)?, kind, calls }, name))
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
