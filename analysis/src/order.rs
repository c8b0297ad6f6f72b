//! The ops of each agent in order of start.

use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, Tables};

/// For each agent the rows of its dispatches and copies with a known, non-negative duration, by start.
/// CPU agents are left out; the order of equal starts is left open.
#[derive(Debug, Clone, Default)]
pub struct Order {
    pub(crate) agents: Vec<AgentOps>,
}

/// The rows of one agent that ran something.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentOps {
    pub(crate) agent: AgentId,
    pub(crate) dispatches: Vec<u32>,
    pub(crate) copies: Vec<u32>,
}

impl Order {
    /// Orders the ops of `tables`: four bytes for each.
    pub fn of(tables: &Tables) -> Self {
        let agent_of_track: Vec<u32> = tables.tracks.rows().iter().map(|track| track.agent.0).collect();
        let agent_count = agent_of_track.iter().max().map_or(0, |&agent| agent as usize + 1);
        let dispatches = &tables.dispatches;

        let mut rows_of_track = vec![0_usize; agent_of_track.len()];
        for track in &dispatches.track {
            rows_of_track[track.index()] += 1;
        }
        let mut counts = vec![0; agent_count];
        for (track, count) in rows_of_track.iter().enumerate() {
            counts[agent_of_track[track] as usize] += count;
        }

        let start = |row: u32| dispatches.start[row as usize];
        let all_short = dispatches.duration.all_short();
        let mut sorters: Vec<Sorter> = counts.iter().map(|&count| Sorter::with_capacity(count)).collect();
        for (row, track) in dispatches.track.iter().enumerate() {
            if all_short || dispatches.duration.valid(row).is_some() {
                sorters[agent_of_track[track.index()] as usize].push(row as u32, start);
            }
        }
        let mut agents: Vec<AgentOps> = sorters
            .into_iter()
            .enumerate()
            .map(|(agent, sorter)| AgentOps {
                agent: AgentId(agent as u32),
                dispatches: sorter.finish(start),
                copies: Vec::new(),
            })
            .collect();
        for (row, copy) in tables.copies.iter().enumerate() {
            if copy.duration.is_some_and(|duration| duration >= 0) {
                agents[agent_of_track[copy.track.index()] as usize].copies.push(row as u32);
            }
        }
        for agent in &mut agents {
            agent.copies.sort_unstable_by_key(|&row| tables.copies[row as usize].start);
        }
        agents.retain(|ops| {
            let is_cpu =
                tables.agents.get(ops.agent.index()).is_some_and(|agent| agent.kind == AgentKind::Cpu);
            !is_cpu && (!ops.dispatches.is_empty() || !ops.copies.is_empty())
        });
        Self { agents }
    }
}

/// Sorts rows by start as they come. Recorders write ops in order of completion, so most rows are in place and
/// the others a few places off: insertion repairs that while the rows at hand are in the cache, and gives way
/// to a real sort beyond a budget.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    rows: Vec<u32>,
    last: Option<i64>,
    moves: usize,
    unsorted: bool,
}

/// How many moves for each row insertion may take.
const BUDGET: usize = 4;

impl Sorter {
    pub(crate) fn with_capacity(rows: usize) -> Self {
        Self { rows: Vec::with_capacity(rows), ..Self::default() }
    }

    /// Adds a row.
    #[inline]
    pub(crate) fn push(&mut self, row: u32, start: impl Fn(u32) -> i64) {
        let moment = start(row);
        self.rows.push(row);
        if self.last.is_none_or(|last| moment >= last) {
            self.last = Some(moment);
        } else if !self.unsorted {
            self.insert(moment, row, start);
        }
    }

    fn insert(&mut self, moment: i64, row: u32, start: impl Fn(u32) -> i64) {
        let position = self.rows.len() - 1;
        let mut hole = position;
        while hole > 0 && start(self.rows[hole - 1]) > moment {
            self.rows[hole] = self.rows[hole - 1];
            hole -= 1;
        }
        self.rows[hole] = row;
        self.moves += position - hole;
        self.unsorted = self.moves > BUDGET * (self.rows.len() + 1000);
    }

    /// All rows by start; the order of equal starts is left open.
    pub(crate) fn finish(mut self, start: impl Fn(u32) -> i64) -> Vec<u32> {
        if self.unsorted {
            self.rows.sort_unstable_by_key(|&row| start(row));
        }
        self.rows
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_rows_come_out_sorted(starts in prop::collection::vec(0_i64..1000, 0..800)) {
            let start = |row: u32| starts[row as usize];
            let mut sorter = Sorter::default();
            (0..starts.len() as u32).for_each(|row| sorter.push(row, start));
            let mut rows = sorter.finish(start);
            prop_assert!(rows.is_sorted_by_key(|&row| starts[row as usize]));
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..starts.len() as u32).collect::<Vec<_>>());
        }
    }
}
