//! The collectives of a trace that all their members leave together.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use rtl_schema::{AgentId, CollectiveId, NameId, ProcessId, ShapeId, Tables, TrackId};
use rustc_hash::{FxHashMap, FxHasher};

use super::groups::{Label, Sequence};
use super::synchronises;
use crate::Categories;
use crate::base::parallel;
use crate::names::categories::COLLECTIVE;
use crate::ranks::collective_sizes::{CallsBySize, CollectiveSizes};

/// The calls of one kernel with one shape that one process launched on one queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectiveCalls {
    /// The process of the rank.
    pub process: ProcessId,
    /// The GPU that it used.
    pub agent: AgentId,
    /// Name of the kernel.
    pub name: String,
    /// Equal for kernels of one name and shape in all traces.
    pub kind: u64,
    /// A hash of its communicator; 0 where the trace states none.
    pub communicator: u64,
    /// Start and end of each call in ns, by end.
    pub calls: Vec<(i64, i64)>,
    /// Statements of the trace on each call; empty where it states nothing of any.
    pub labels: Vec<Label>,
    /// The number of the size of each call; empty where the trace states nothing of any.
    pub sizes: Vec<u32>,
}

/// All collectives of a trace.
#[derive(Debug, Clone, Default)]
pub struct FoundCollectives {
    /// Calls of collectives that their members leave together, in an order that does not depend on how the trace is numbered.
    pub calls: Vec<CollectiveCalls>,
    /// The sizes that calls refer to.
    pub sizes: CollectiveSizes,
    /// Calls of other collectives.
    pub others: CallsBySize,
}

/// Statement of a kernel's name on the collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Other,
    Collective,
    /// All members leave it together.
    Synchronising,
}

/// Finds collectives in chunks of a trace.
#[derive(Debug, Default)]
pub struct CollectiveFinder {
    categories: Categories,
    /// Indexed by name; known once a dispatch has carried it.
    kinds: Vec<Option<Kind>>,
    /// Indexed by the collective's id: the statement of the trace.
    stated: Vec<(u64, Label)>,
    sizes: CollectiveSizes,
    others: CallsBySize,
    found: FxHashMap<Place, CollectiveCalls>,
}

/// Track, name, shape and communicator of calls.
type Place = (TrackId, NameId, Option<ShapeId>, u64);

/// How many rows are looked at before the collectives among them.
const STRETCH: usize = 1 << 10;

impl CollectiveFinder {
    /// Nothing yet of a trace whose kernels have these categories.
    #[must_use]
    pub fn new(categories: &Categories) -> Self {
        Self { categories: categories.clone(), ..Self::default() }
    }

    /// Adds the rows of a chunk.
    pub fn add_chunk(&mut self, chunk: &Tables) {
        self.add_rows(chunk, 0..chunk.dispatches.len());
    }

    fn add_rows(&mut self, chunk: &Tables, rows: Range<usize>) {
        self.sizes.add_chunk(chunk);
        let new = (self.stated.len()..chunk.collectives.rows().len())
            .map(|id| stated(chunk, CollectiveId(id as u32)));
        self.stated.extend(new);
        let are_any = self.sizes.are_any();
        let mut found = [0; STRETCH];
        for begin in rows.clone().step_by(STRETCH) {
            let stretch = begin..rows.end.min(begin + STRETCH);
            // Without a branch, which no core could predict.
            let (mut count, kinds) = (0, self.kinds.as_slice());
            for (at, &name) in stretch.clone().zip(&chunk.dispatches.name[stretch]) {
                let kind = kinds.get(name.index()).copied().flatten();
                found[count % STRETCH] = at;
                count += usize::from(are_any | (kind != Some(Kind::Other)));
            }
            for &at in &found[..count] {
                match self.kind(chunk, chunk.dispatches.name[at]) {
                    Kind::Synchronising => self.row(chunk, at),
                    Kind::Collective => self.other(chunk, at, true),
                    Kind::Other => self.other(chunk, at, false),
                }
            }
        }
    }

    #[inline]
    fn kind(&mut self, chunk: &Tables, name: NameId) -> Kind {
        match self.kinds.get(name.index()) {
            Some(&Some(kind)) => kind,
            _ => self.new_kind(chunk, name),
        }
    }

    #[cold]
    fn new_kind(&mut self, chunk: &Tables, name: NameId) -> Kind {
        if !name.is_some() {
            return Kind::Other;
        }
        let text = chunk.strings.get(name);
        let kind = match self.categories.of(rtl_schema::identity(text)) == COLLECTIVE {
            _ if synchronises(text) => Kind::Synchronising,
            true => Kind::Collective,
            false => Kind::Other,
        };
        self.kinds.resize(self.kinds.len().max(name.index() + 1), None);
        self.kinds[name.index()] = Some(kind);
        kind
    }

    /// Counts a call that its members do not leave together; of no collective if it has no size.
    fn other(&mut self, chunk: &Tables, at: usize, is_collective: bool) {
        let size = self.sizes.number(chunk.dispatches.collective.get(at));
        if let Some(duration) = chunk.dispatches.duration.valid(at)
            && (is_collective || size > 0)
        {
            self.others.add(size, duration);
        }
    }

    fn row(&mut self, chunk: &Tables, at: usize) {
        let dispatches = &chunk.dispatches;
        let Some(duration) = dispatches.duration.valid(at) else { return };
        let (start, collective) = (dispatches.start[at], dispatches.collective.get(at));
        let (communicator, label) = collective.map(|id| self.stated[id.index()]).unwrap_or_default();
        let (track, name, shape) = (dispatches.track[at], dispatches.name[at], dispatches.shape.get(at));
        let found = self.found.entry((track, name, shape, communicator)).or_insert_with(|| {
            let track = chunk.tracks.get(track);
            let shape = shape.map(|shape| chunk.shapes.get(shape));
            let text = chunk.strings.get(name);
            let mut hasher = FxHasher::default();
            (text, shape).hash(&mut hasher);
            let (process, agent, kind) = (track.process, track.agent, hasher.finish());
            let name = text.to_owned();
            CollectiveCalls { process, agent, name, kind, communicator, ..CollectiveCalls::default() }
        });
        if collective.is_some() || !found.labels.is_empty() {
            found.state(label, self.sizes.number(collective));
        }
        found.calls.push((start, start.saturating_add(duration)));
    }

    /// Joins what was found in rows that follow each other in the same tables.
    fn joined(parts: Vec<Self>) -> Self {
        let mut all = Self::default();
        let mut found: FxHashMap<Place, Vec<CollectiveCalls>> = FxHashMap::default();
        for part in parts {
            all.others.append(&part.others);
            // Every part has read the sizes of all collectives.
            all.sizes = part.sizes;
            part.found.into_iter().for_each(|(place, calls)| found.entry(place).or_default().push(calls));
        }
        let joined =
            |(place, calls): (Place, Vec<CollectiveCalls>)| Some((place, CollectiveCalls::joined(calls)?));
        all.found = threads::map(found, joined).into_iter().flatten().collect();
        all
    }

    /// All that were found.
    #[must_use]
    pub fn finish(self) -> FoundCollectives {
        let mut found: Vec<CollectiveCalls> = joined(self.found);
        let batch = parallel::batch(found.len());
        threads::map(found.chunks_mut(batch), |calls| calls.iter_mut().for_each(CollectiveCalls::sort));
        found.sort_by(|one, other| {
            let key = |found: &CollectiveCalls| (found.kind, found.communicator);
            let place = |found: &CollectiveCalls| (found.process, found.agent);
            let by_calls = (&one.name, key(one), &one.calls).cmp(&(&other.name, key(other), &other.calls));
            // Threads divide the rows, so that what is equal else has no order of its own.
            by_calls.then_with(|| place(one).cmp(&place(other)))
        });
        FoundCollectives { calls: found, sizes: self.sizes, others: self.others }
    }
}

/// Returns the statement of a trace on a collective: a hash of its communicator, and its label.
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
    // The two sides of a transfer have names and sequence numbers of their own.
    let is_transfer = ["send", "recv", "coalesced"].iter().any(|word| operation.contains(word));
    let operation = if is_transfer { "transfer" } else { operation };
    let elements = elements.filter(|_| !is_transfer);
    let tag = hash(&|hasher| (operation, text(collective.data_type), elements).hash(hasher));
    let number = collective.sequence.filter(|_| !is_transfer).map_or(0, |number| number.saturating_add(1));
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
            stated.append(unstated);
        }
    }
    found.into_values().collect()
}

impl CollectiveCalls {
    /// All calls of parts, in their order; `None` without any part.
    fn joined(parts: Vec<Self>) -> Option<Self> {
        let calls: usize = parts.iter().map(|part| part.calls.len()).sum();
        let are_stated = parts.iter().any(|part| !part.labels.is_empty());
        let mut parts = parts.into_iter();
        let mut all = parts.next()?;
        all.calls.reserve_exact(calls - all.calls.len());
        if are_stated {
            all.labels.reserve_exact(calls - all.labels.len());
            all.sizes.reserve_exact(calls - all.sizes.len());
        }
        parts.for_each(|part| all.append(part));
        Some(all)
    }

    fn state(&mut self, label: Label, size: u32) {
        self.pad();
        self.labels.push(label);
        self.sizes.push(size);
    }

    /// Brings labels and sizes to the number of calls: of the last ones the trace states nothing.
    fn pad(&mut self) {
        self.labels.resize(self.calls.len(), Label::default());
        self.sizes.resize(self.calls.len(), 0);
    }

    fn append(&mut self, other: Self) {
        let are_stated = !(self.labels.is_empty() && other.labels.is_empty());
        if are_stated {
            self.pad();
        }
        self.calls.extend(other.calls);
        if are_stated {
            self.labels.extend(other.labels);
            self.sizes.extend(other.sizes);
            self.pad();
        }
    }

    fn sort(&mut self) {
        if self.labels.is_empty() {
            return self.calls.sort_by_key(|&(start, end)| (end, start));
        }
        let stated = self.labels.drain(..).zip(self.sizes.drain(..));
        let mut all: Vec<((i64, i64), (Label, u32))> = self.calls.drain(..).zip(stated).collect();
        all.sort_by_key(|&((start, end), (label, _))| (end, start, label));
        let stated: Vec<(Label, u32)>;
        (self.calls, stated) = all.into_iter().unzip();
        (self.labels, self.sizes) = stated.into_iter().unzip();
    }
}

/// All collectives of a trace that is in memory and whose kernels have these categories.
#[must_use]
pub fn collectives(tables: &Tables, categories: &Categories) -> FoundCollectives {
    let find = |rows| {
        let mut finder = CollectiveFinder::new(categories);
        finder.add_rows(tables, rows);
        finder
    };
    CollectiveFinder::joined(threads::map(parallel::stretches(tables.dispatches.len()), find)).finish()
}

/// Moves the calls of `collectives` into sequences, with the kernel of each; `rank` has the number of each member with a
/// rank and is `None` if no member has one.
#[must_use]
pub fn sequences(
    collectives: Vec<CollectiveCalls>,
    mut rank: impl FnMut(ProcessId, AgentId) -> Option<usize>,
) -> (Vec<Sequence>, Vec<String>) {
    let sequence = |found: CollectiveCalls| {
        let CollectiveCalls { process, agent, name, kind, communicator, calls, labels, sizes } = found;
        Some((Sequence { rank: rank(process, agent)?, kind, communicator, calls, labels, sizes }, name))
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
        let found = collectives(&tables(&rows), &Categories::default()).calls;
        let calls: Vec<_> = found.iter().map(|found| (found.agent.0, found.calls.clone())).collect();
        assert_eq!(calls, [(0, vec![(1, 5), (10, 15)]), (1, vec![(12, 15)])]);
        assert_eq!(found[0].kind, found[1].kind);
    }

    #[test]
    fn calls_of_which_the_trace_states_nothing_have_empty_labels_beside_others() {
        let label = Label { tag: 3, number: 7 };
        let part = |stated: &[bool]| {
            let mut part = CollectiveCalls::default();
            for &is_stated in stated {
                if is_stated {
                    part.state(label, 5);
                }
                part.calls.push((0, 1));
            }
            part
        };
        for stated in [[false; 4], [false, true, false, false], [true, false, false, true]] {
            let joined =
                CollectiveCalls::joined(stated.iter().map(|&stated| part(&[stated])).collect()).unwrap();
            assert_eq!(joined.calls.len(), 4);
            let labels = stated.map(|is_stated| if is_stated { label } else { Label::default() });
            let sizes = stated.map(|is_stated| if is_stated { 5 } else { 0 });
            let is_any = stated.contains(&true);
            assert_eq!(joined.labels, if is_any { labels.to_vec() } else { Vec::new() });
            assert_eq!(joined.sizes, if is_any { sizes.to_vec() } else { Vec::new() });
        }
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
        let whole = collectives(&tables(&rows), &Categories::default());
        assert_eq!(finder.finish().calls, whole.calls);
    }
}
