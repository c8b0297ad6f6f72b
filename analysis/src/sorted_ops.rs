//! Sorts the ops of each GPU by start.

use std::ops::Range;

use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, Tables};

use crate::ops::{AgentOps, Order};
use crate::parallel;

impl Order {
    /// Orders the ops of `tables`: four bytes for each.
    pub fn of(tables: &Tables) -> Self {
        let agent_of_track: Vec<u32> = tables.tracks.rows().iter().map(|track| track.agent.0).collect();
        let agent_count = agent_of_track.iter().max().map_or(0, |&agent| agent as usize + 1);
        let start = |row: u32| tables.dispatches.start[row as usize];
        let sort = |rows: Range<usize>| sorted(tables, &agent_of_track, agent_count, rows);
        let stretches = threads::map(parallel::stretches(tables.dispatches.len()), sort);
        let mut parts: Vec<Vec<Vec<u32>>> = vec![Vec::with_capacity(stretches.len()); agent_count];
        for stretch in stretches {
            parts.iter_mut().zip(stretch).for_each(|(parts, part)| parts.push(part));
        }
        let joined = threads::map(parts, |parts| join_sorted(parts, start));
        let mut agents: Vec<AgentOps> = joined
            .into_iter()
            .enumerate()
            .map(|(agent, dispatches)| AgentOps {
                agent: AgentId(agent as u32),
                dispatches,
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

/// By agent, the dispatches of some rows that have a valid duration, by start.
fn sorted(tables: &Tables, agent_of_track: &[u32], agents: usize, rows: Range<usize>) -> Vec<Vec<u32>> {
    let dispatches = &tables.dispatches;
    let tracks = &dispatches.track[rows.clone()];
    let mut rows_of_track = vec![0_usize; agent_of_track.len()];
    for track in tracks {
        rows_of_track[track.index()] += 1;
    }
    let mut counts = vec![0; agents];
    for (track, count) in rows_of_track.iter().enumerate() {
        counts[agent_of_track[track] as usize] += count;
    }
    let start = |row: u32| dispatches.start[row as usize];
    let all_short = dispatches.duration.all_short();
    let mut sorters: Vec<Sorter> = counts.iter().map(|&count| Sorter::with_capacity(count)).collect();
    for (row, track) in rows.zip(tracks) {
        if all_short || dispatches.duration.valid(row).is_some() {
            sorters[agent_of_track[track.index()] as usize].push(row as u32, start);
        }
    }
    sorters.into_iter().map(|sorter| sorter.finish(start)).collect()
}

/// Joins rows that are sorted by start in each part. Parts follow each other in a trace, so that few rows of one lie within
/// the other: only these are sorted again.
fn join_sorted(parts: Vec<Vec<u32>>, start: impl Fn(u32) -> i64) -> Vec<u32> {
    let count: usize = parts.iter().map(Vec::len).sum();
    let mut parts = parts.into_iter();
    let mut rows = parts.next().unwrap_or_default();
    rows.reserve_exact(count - rows.len());
    for part in parts {
        let middle = rows.len();
        rows.extend(part);
        if middle == 0 || middle == rows.len() {
            continue;
        }
        let [last, first] = [rows[middle - 1], rows[middle]].map(&start);
        let from = rows[..middle].partition_point(|&row| start(row) <= first);
        let to = middle + rows[middle..].partition_point(|&row| start(row) < last);
        if from < middle {
            // The stable sort merges what is sorted.
            rows[from..to].sort_by_key(|&row| start(row));
        }
    }
    rows
}

/// Sorts rows by start as they come. Recorders write ops in order of completion, so most rows are in place and
/// the others a few places off: insertion repairs that while the rows at hand are in the cache, and gives way
/// to a real sort beyond a budget.
#[derive(Debug, Default)]
struct Sorter {
    rows: Vec<u32>,
    last: Option<i64>,
    moves: usize,
    unsorted: bool,
}

/// How many moves for each row insertion may take.
const BUDGET: usize = 4;

impl Sorter {
    fn with_capacity(rows: usize) -> Self {
        Self { rows: Vec::with_capacity(rows), ..Self::default() }
    }

    /// Adds a row.
    #[inline]
    fn push(&mut self, row: u32, start: impl Fn(u32) -> i64) {
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
    fn finish(mut self, start: impl Fn(u32) -> i64) -> Vec<u32> {
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
        fn parts_that_are_sorted_come_out_sorted(
            starts in prop::collection::vec(0_i64..40, 0..60),
            mut cuts in prop::collection::vec(0_usize..60, 0..6),
        ) {
            let start = |row: u32| starts[row as usize];
            cuts.push(starts.len());
            cuts.sort_unstable();
            let mut begin = 0;
            let parts = cuts.iter().map(|&cut| {
                let end = cut.min(starts.len());
                let mut part: Vec<u32> = (begin as u32..end as u32).collect();
                part.sort_unstable_by_key(|&row| start(row));
                begin = end;
                part
            });
            let mut rows = join_sorted(parts.collect(), start);
            prop_assert!(rows.is_sorted_by_key(|&row| start(row)));
            rows.sort_unstable();
            prop_assert!(rows.into_iter().eq(0..starts.len() as u32));
        }

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
