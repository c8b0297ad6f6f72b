//! The collectives of a trace that all their members leave together.

use std::hash::{Hash, Hasher};

use analysis::align::synchronises;
use rustc_hash::{FxHashMap, FxHasher};
use schema::{AgentId, LaneId, NameId, ProcessId, ShapeId, Tables};

/// The calls of one kernel with one shape that one process launched on one queue.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Collective {
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

/// Finds them while rows go by.
#[derive(Debug, Default)]
pub struct Finder {
    /// By name, whether it is a collective's.
    names: Vec<bool>,
    found: FxHashMap<(LaneId, NameId, Option<ShapeId>), Collective>,
}

impl Finder {
    /// Looks at the rows of a piece.
    pub fn piece(&mut self, piece: &Tables) {
        let new = piece.strings.iter().skip(self.names.len());
        self.names.extend(new.map(|(_, text)| synchronises(text)));
        for at in 0..piece.dispatches.len() {
            let name = piece.dispatches.name(at);
            if !self.names.get(name.index()).copied().unwrap_or(false) {
                continue;
            }
            let row = piece.dispatches.get(at);
            let Some(duration) = row.duration.filter(|&duration| duration >= 0) else { continue };
            let found = self.found.entry((row.lane, name, row.shape)).or_insert_with(|| {
                let lane = piece.lanes.get(row.lane);
                let shape = row.shape.map(|shape| piece.shapes.get(shape));
                let text = piece.strings.get(name);
                let mut hasher = FxHasher::default();
                (text, format!("{shape:?}")).hash(&mut hasher);
                let name = text.to_owned();
                let (process, agent, kind) = (lane.process, lane.agent, hasher.finish());
                Collective { process, agent, name, kind, calls: Vec::new() }
            });
            found.calls.push((row.start, row.start.saturating_add(duration)));
        }
    }

    /// All that were found, in an order that does not depend on how the trace is numbered.
    #[must_use]
    pub fn finish(self) -> Vec<Collective> {
        let mut found: Vec<Collective> = self.found.into_values().collect();
        found.iter_mut().for_each(|collective| collective.calls.sort_by_key(|&(start, end)| (end, start)));
        found.sort_by(|one, other| {
            (&one.name, one.kind, &one.calls).cmp(&(&other.name, other.kind, &other.calls))
        });
        found
    }
}
