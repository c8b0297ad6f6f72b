//! Sorts the ops of each GPU by start.

use std::ops::Range;

use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, Tables, TrackId};

use crate::base::ops::{AgentOps, Order};
use crate::base::parallel;

impl Order {
    /// Orders the ops of `tables`: four bytes for each.
    pub fn of(tables: &Tables) -> Self {
        let agent_of_track: Vec<u32> = tables.tracks.rows().iter().map(|track| track.agent.0).collect();
        let agent_count = agent_of_track.iter().max().map_or(0, |&agent| agent as usize + 1);
        let start = |row: u32| tables.dispatches.start[row as usize];
        let sort = |rows: Range<usize>| sorted(tables, &agent_of_track, agent_count, rows);
        let mut used_tracks = vec![false; agent_of_track.len()];
        let mut ends = vec![i64::MIN; agent_count];
        let stretches = threads::map(parallel::stretches(tables.dispatches.len()), sort);
        let mut parts: Vec<Vec<Vec<u32>>> = vec![Vec::with_capacity(stretches.len()); agent_count];
        for stretch in stretches {
            used_tracks.iter_mut().zip(stretch.used_tracks).for_each(|(used, is_used)| *used |= is_used);
            for ((parts, end), part) in parts.iter_mut().zip(&mut ends).zip(stretch.agents) {
                *end = part.end.max(*end);
                parts.push(part.rows);
            }
        }
        let mut copies: Vec<Vec<(i64, u32)>> = vec![Vec::new(); agent_count];
        for (row, copy) in tables.copies.iter().enumerate() {
            if let Some(duration) = copy.duration.filter(|&duration| duration >= 0) {
                let agent = agent_of_track[copy.track.index()] as usize;
                copies[agent].push((copy.start, row as u32));
                ends[agent] = ends[agent].max(copy.start.saturating_add(duration));
                used_tracks[copy.track.index()] = true;
            }
        }
        let joined = threads::map(parts.into_iter().zip(copies), |(parts, mut copies)| {
            copies.sort_unstable();
            (join_sorted(parts, start), copies)
        });
        let agents = (0..).map(AgentId).zip(joined).zip(ends);
        let mut agents: Vec<AgentOps> = agents
            .map(|((agent, (dispatches, copies)), end)| {
                let (copy_starts, copies) = copies.into_iter().unzip();
                AgentOps { agent, dispatches, copies, copy_starts, end }
            })
            .collect();
        let is_cpu =
            |agent: usize| tables.agents.get(agent).is_some_and(|agent| agent.kind == AgentKind::Cpu);
        for (used, &agent) in used_tracks.iter_mut().zip(&agent_of_track) {
            *used &= !is_cpu(agent as usize);
        }
        agents.retain(|ops| {
            !is_cpu(ops.agent.index()) && (!ops.dispatches.is_empty() || !ops.copies.is_empty())
        });
        Self { agents, used_tracks }
    }
}

/// The dispatches of some rows that have a valid duration.
struct Stretch {
    agents: Vec<Sorted>,
    used_tracks: Vec<bool>,
}

struct Sorted {
    /// In order of start.
    rows: Vec<u32>,
    /// The last end in ns.
    end: i64,
}

fn sorted(tables: &Tables, agent_of_track: &[u32], agents: usize, rows: Range<usize>) -> Stretch {
    let dispatches = &tables.dispatches;
    let (tracks, starts) = (&dispatches.track[rows.clone()], &dispatches.start[rows.clone()]);
    let mut rows_of_track = vec![0_usize; agent_of_track.len()];
    for track in tracks {
        rows_of_track[track.index()] += 1;
    }
    let mut counts = vec![0; agents];
    for (track, count) in rows_of_track.iter().enumerate() {
        counts[agent_of_track[track] as usize] += count;
    }
    let start = |row: u32| dispatches.start[row as usize];
    let mut sorters: Vec<Sorter> = counts.iter().map(|&count| Sorter::with_capacity(count)).collect();
    let mut used_tracks: Vec<bool> = rows_of_track.iter().map(|&rows| rows > 0).collect();
    let mut add = |row: usize, track: TrackId, moment: i64, length: i64| {
        let sorter = &mut sorters[agent_of_track[track.index()] as usize];
        sorter.end = sorter.end.max(moment.saturating_add(length));
        sorter.push(row as u32, moment, start);
    };
    let ops = rows.clone().zip(tracks).zip(starts);
    if dispatches.duration.all_short() {
        let lengths = &dispatches.duration.short()[rows];
        for (((row, &track), &moment), &length) in ops.zip(lengths) {
            add(row, track, moment, length.into());
        }
    } else {
        used_tracks.fill(false);
        for ((row, &track), &moment) in ops {
            if let Some(length) = dispatches.duration.valid(row) {
                used_tracks[track.index()] = true;
                add(row, track, moment, length);
            }
        }
    }
    Stretch { agents: sorters.into_iter().map(|sorter| sorter.finish(start)).collect(), used_tracks }
}

/// Joins rows that are sorted by start in each part. Parts follow each other in a trace, so that few rows of one lie within
/// the other: only these are sorted again.
fn join_sorted(parts: Vec<Vec<u32>>, start: impl Fn(u32) -> i64) -> Vec<u32> {
    let count: usize = parts.iter().map(Vec::len).sum();
    let mut parts = parts.into_iter();
    let mut rows = parts.next().unwrap_or_default();
    rows.reserve(count - rows.len());
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
#[derive(Debug)]
struct Sorter {
    rows: Vec<u32>,
    /// The last start, and the last end, in ns.
    last: i64,
    end: i64,
    moves: usize,
    unsorted: bool,
}

/// How many moves for each row insertion may take.
const BUDGET: usize = 4;

impl Sorter {
    fn with_capacity(rows: usize) -> Self {
        let rows = Vec::with_capacity(rows);
        Self { rows, last: i64::MIN, end: i64::MIN, moves: 0, unsorted: false }
    }

    #[inline]
    fn push(&mut self, row: u32, moment: i64, start: impl Fn(u32) -> i64) {
        self.rows.push(row);
        if moment >= self.last {
            self.last = moment;
        } else if !self.unsorted {
            self.insert(moment, row, start);
        }
    }

    // A call, for few rows: inlined, it would take the registers of the others.
    #[inline(never)]
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
    fn finish(self, start: impl Fn(u32) -> i64) -> Sorted {
        let Self { mut rows, end, unsorted, .. } = self;
        if unsorted {
            rows.sort_unstable_by_key(|&row| start(row));
        }
        Sorted { rows, end }
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
            let mut sorter = Sorter::with_capacity(0);
            (0..starts.len() as u32).for_each(|row| sorter.push(row, start(row), start));
            let mut rows = sorter.finish(start).rows;
            prop_assert!(rows.is_sorted_by_key(|&row| starts[row as usize]));
            rows.sort_unstable();
            prop_assert_eq!(rows, (0..starts.len() as u32).collect::<Vec<_>>());
        }
    }
}
