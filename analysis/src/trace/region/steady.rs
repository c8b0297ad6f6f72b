//! The steady part of each GPU's work: without its first and its last step.

use rtl_schema::{AgentId, NameId, Tables};
use rustc_hash::FxHashMap;

use crate::names::labels;
use crate::trace::overview::wider;
use crate::{Error, Result};

/// The steady part of each GPU: from the start of the second to the end of the last-but-one call of its main kernel, the one with the
/// largest total.
#[derive(Debug)]
pub(super) struct SteadyParts {
    /// From the first start to the last end of all, in ns.
    pub(super) hull: (i64, i64),
    of_agent: FxHashMap<AgentId, (i64, i64)>,
}

impl SteadyParts {
    /// Start and end in ns; those of all parts for an agent without a kernel.
    pub(super) fn of_agent(&self, agent: AgentId) -> (i64, i64) {
        self.of_agent.get(&agent).copied().unwrap_or(self.hull)
    }
}

/// The calls of all kernels, which may come in pieces.
#[derive(Debug, Default)]
pub(super) struct MainCalls(FxHashMap<(AgentId, NameId), Calls>);

/// Start and end of a call in ns.
type Span = (i64, i64);

/// The calls of a kernel with a valid duration.
#[derive(Debug, Clone, Copy)]
struct Calls {
    total: i64,
    count: u64,
    /// The first two in order.
    first: [Span; 2],
    /// The last two, the very last one first.
    last: [Span; 2],
}

impl Default for Calls {
    fn default() -> Self {
        Self { total: 0, count: 0, first: [(i64::MAX, i64::MAX); 2], last: [(i64::MIN, i64::MIN); 2] }
    }
}

impl Calls {
    fn add_first(&mut self, call: Span) {
        let [first, second] = self.first;
        self.first = [first.min(call), second.min(first.max(call))];
    }

    fn add_last(&mut self, call: Span) {
        let [last, before] = self.last;
        self.last = [last.max(call), before.max(last.min(call))];
    }

    fn join(&mut self, other: &Self) {
        self.total = self.total.saturating_add(other.total);
        self.count += other.count;
        other.first.into_iter().for_each(|call| self.add_first(call));
        other.last.into_iter().for_each(|call| self.add_last(call));
    }
}

impl MainCalls {
    /// Adds the dispatches that are kept.
    pub(super) fn add(&mut self, tables: &Tables, keep: &[bool]) {
        let dispatches = &tables.dispatches;
        for row in (0..dispatches.len()).filter(|&row| keep[row]) {
            let agent = tables.tracks.get(dispatches.track[row]).agent;
            let calls = self.0.entry((agent, dispatches.name[row])).or_default();
            if let Some(duration) = dispatches.duration.valid(row) {
                let start = dispatches.start[row];
                calls.total = calls.total.saturating_add(duration);
                calls.count += 1;
                let call = (start, start.saturating_add(duration));
                calls.add_first(call);
                calls.add_last(call);
            }
        }
    }

    /// The steady parts; `None` without dispatches.
    ///
    /// # Errors
    /// Where the main kernel of an agent has fewer than four calls.
    pub(super) fn parts(self, tables: &Tables) -> Result<Option<SteadyParts>> {
        let mut kernels: FxHashMap<(AgentId, &str), Calls> = FxHashMap::default();
        for ((agent, name), calls) in self.0 {
            let kernel = rtl_schema::identity(tables.strings.get(name));
            kernels.entry((agent, kernel)).or_default().join(&calls);
        }
        let mut mains: FxHashMap<AgentId, (&str, Calls)> = FxHashMap::default();
        for ((agent, kernel), calls) in kernels {
            let main = mains.entry(agent).or_insert((kernel, calls));
            if calls.total > main.1.total || calls.total == main.1.total && kernel < main.0 {
                *main = (kernel, calls);
            }
        }
        let mut mains: Vec<_> = mains.into_iter().collect();
        mains.sort_unstable_by_key(|&(agent, _)| agent);
        let part = |(agent, (kernel, calls)): (AgentId, (&str, Calls))| match calls.count {
            4.. => Ok((agent, (calls.first[1].0, calls.last[1].1))),
            calls => Err(Error::NotSteady {
                place: labels::agent(tables, agent),
                kernel: kernel.to_owned(),
                calls,
            }),
        };
        let of_agent = mains.into_iter().map(part).collect::<Result<FxHashMap<_, _>>>()?;
        let hull = of_agent.values().copied().reduce(wider);
        Ok(hull.map(|hull| SteadyParts { hull, of_agent }))
    }
}
