//! The ops of each GPU, and the one walk over them in order of start.
//!
//! Ops are dispatches and copies with a known, non-negative duration. CPU agents (host-to-host copies) have none.

use rtl_schema::table::{AgentKind, Copy, Dispatches};
use rtl_schema::{AgentId, Durations, Id, Tables, TrackId};

use crate::copies;

/// For each GPU the rows of its ops by start; the order of equal starts is unspecified.
#[derive(Debug, Clone, Default)]
pub struct Order {
    pub(crate) agents: Vec<AgentOps>,
}

/// The rows of one GPU that ran at least one op.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentOps {
    pub(crate) agent: AgentId,
    pub(crate) dispatches: Vec<u32>,
    pub(crate) copies: Vec<u32>,
}

impl AgentOps {
    /// The first start in ns: where the relative times of [`InOrder`] count from.
    pub(crate) fn base(&self, tables: &Tables) -> i64 {
        let dispatch = self.dispatches.first().map(|&row| tables.dispatches.start[row as usize]);
        let copy = start_of_copy(tables, &self.copies);
        dispatch.map_or(copy, |dispatch| dispatch.min(copy))
    }

    /// The dispatches, then the copies, each in order of start.
    pub(crate) fn ops(&self) -> impl Iterator<Item = Op> {
        ops_of(&self.dispatches, &self.copies)
    }

    /// The ops in order of start.
    pub(crate) fn in_order<'a>(&'a self, tables: &'a Tables) -> InOrder<'a> {
        let (dispatches, copies) = (self.dispatches.as_slice(), self.copies.as_slice());
        let next_copy = start_of_copy(tables, copies);
        InOrder { tables, dispatches, copies, next_copy, base: self.base(tables) }
    }
}

/// The start of the first of `copies`, `i64::MAX` without any.
#[inline]
fn start_of_copy(tables: &Tables, copies: &[u32]) -> i64 {
    copies.first().map_or(i64::MAX, |&row| tables.copies[row as usize].start)
}

/// An op: its row, and whether it is a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Op {
    pub(crate) copy: bool,
    pub(crate) row: u32,
}

impl Op {
    /// The name without descriptor suffix; of a copy see [`copies::name`].
    pub(crate) fn name(self, tables: &Tables) -> &str {
        match self.copy {
            true => copies::name(tables, &tables.copies[self.row as usize]),
            false => rtl_schema::identity(tables.strings.get(tables.dispatches.name[self.row as usize])),
        }
    }

    /// The duration in ns.
    #[inline]
    pub(crate) fn length(self, tables: &Tables) -> u64 {
        match self.copy {
            true => tables.copies[self.row as usize].duration.unwrap_or(0).unsigned_abs(),
            false => length(&tables.dispatches.duration, self.row),
        }
    }

    /// The start in ns.
    #[inline]
    pub(crate) fn start(self, tables: &Tables) -> i64 {
        self.column(tables, |dispatches, row| dispatches.start[row], |copy| copy.start)
    }

    /// The track it ran on.
    #[inline]
    pub(crate) fn track(self, tables: &Tables) -> TrackId {
        self.column(tables, |dispatches, row| dispatches.track[row], |copy| copy.track)
    }

    /// The id of the range that launched it.
    #[inline]
    pub(crate) fn range(self, tables: &Tables) -> Id {
        self.column(tables, |dispatches, row| dispatches.range.get(row), |copy| copy.range)
    }

    /// The id that its launching call has, too.
    #[inline]
    pub(crate) fn correlation(self, tables: &Tables) -> Id {
        self.column(tables, |dispatches, row| dispatches.correlation.get(row), |copy| copy.correlation)
    }

    /// When it was enqueued in ns, if that was recorded.
    #[inline]
    pub(crate) fn enqueued(self, tables: &Tables) -> Option<i64> {
        self.column(tables, |dispatches, row| dispatches.enqueued.get(row), |copy| copy.enqueued)
    }

    /// A value that dispatches and copies both have.
    #[inline]
    fn column<T>(
        self,
        tables: &Tables,
        of_dispatch: impl FnOnce(&Dispatches, usize) -> T,
        of_copy: impl FnOnce(&Copy) -> T,
    ) -> T {
        match self.copy {
            true => of_copy(&tables.copies[self.row as usize]),
            false => of_dispatch(&tables.dispatches, self.row as usize),
        }
    }
}

/// The duration in ns of a dispatch that is known to have a valid one.
#[inline]
pub(crate) fn length(durations: &Durations, row: u32) -> u64 {
    match durations.short()[row as usize] {
        u32::MAX => durations.valid(row as usize).map_or(0, i64::unsigned_abs),
        short => u64::from(short),
    }
}

/// The ops of one GPU that start at the same moment. Results must not depend on their order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Simultaneous<'a> {
    /// ns after the GPU's first start, so that no sum of times overflows.
    pub(crate) start: u64,
    pub(crate) dispatches: &'a [u32],
    pub(crate) copies: &'a [u32],
}

impl<'a> Simultaneous<'a> {
    /// Each of them.
    pub(crate) fn ops(self) -> impl Iterator<Item = Op> + use<'a> {
        ops_of(self.dispatches, self.copies)
    }
}

fn ops_of<'a>(dispatches: &'a [u32], copies: &'a [u32]) -> impl Iterator<Item = Op> + use<'a> {
    let dispatches = dispatches.iter().map(|&row| Op { copy: false, row });
    dispatches.chain(copies.iter().map(|&row| Op { copy: true, row }))
}

/// Walks the ops of one GPU in order of start.
#[derive(Debug)]
pub(crate) struct InOrder<'a> {
    tables: &'a Tables,
    dispatches: &'a [u32],
    copies: &'a [u32],
    /// The start of the next copy, `i64::MAX` behind the last.
    next_copy: i64,
    base: i64,
}

impl<'a> InOrder<'a> {
    /// The next ops, unless the next dispatch is of row `limit` or above; `u32::MAX` is no limit.
    #[inline]
    fn next_below(&mut self, limit: u32) -> Option<Simultaneous<'a>> {
        let start_of = |row: u32| self.tables.dispatches.start[row as usize];
        let Some(&row) = self.dispatches.first().filter(|&&row| row < limit) else {
            return (limit == u32::MAX && self.next_copy < i64::MAX).then(|| self.all_at(self.next_copy));
        };
        let start = start_of(row);
        if self.next_copy <= start {
            return Some(self.all_at(self.next_copy));
        }
        match self.dispatches.get(1) {
            Some(&next) if start_of(next) == start => Some(self.all_at(start)),
            _ => {
                let (dispatches, rest) = self.dispatches.split_at(1);
                self.dispatches = rest;
                Some(Simultaneous { start: self.relative(start), dispatches, copies: &[] })
            }
        }
    }

    /// All ops that start at `start`, the earliest there is.
    fn all_at(&mut self, start: i64) -> Simultaneous<'a> {
        let tables = self.tables;
        let dispatches = split_while(&mut self.dispatches, |row| tables.dispatches.start[row] == start);
        let copies = split_while(&mut self.copies, |row| tables.copies[row].start == start);
        self.next_copy = start_of_copy(tables, self.copies);
        Simultaneous { start: self.relative(start), dispatches, copies }
    }

    #[inline]
    fn relative(&self, start: i64) -> u64 {
        start.wrapping_sub(self.base) as u64
    }
}

impl<'a> Iterator for InOrder<'a> {
    type Item = Simultaneous<'a>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_below(u32::MAX)
    }
}

/// Takes the first rows of which `is_same` holds off `rows`.
fn split_while<'a>(rows: &mut &'a [u32], is_same: impl Fn(usize) -> bool) -> &'a [u32] {
    let (same, rest) = rows.split_at(rows.iter().take_while(|&&row| is_same(row as usize)).count());
    *rows = rest;
    same
}

/// How many rows all GPUs go through before any goes on. Rows of GPUs that ran at the same time lie side by side: so
/// many fit into a core's cache and are fetched from memory once, not once for each GPU.
const STRETCH: u32 = 1 << 15;

/// Walks all GPUs of `order` side by side, each in order of start; `states` has one state for each of them.
pub(crate) fn in_order<'a, S>(
    tables: &'a Tables,
    order: &'a Order,
    states: &mut [S],
    mut each: impl FnMut(&mut S, Simultaneous<'a>),
) {
    let mut gpus: Vec<InOrder<'_>> = order.agents.iter().map(|ops| ops.in_order(tables)).collect();
    let rows = u32::try_from(tables.dispatches.len()).unwrap_or(u32::MAX);
    for limit in (STRETCH..rows).step_by(STRETCH as usize).chain([u32::MAX]) {
        for (ops, state) in gpus.iter_mut().zip(states.iter_mut()) {
            while let Some(same) = ops.next_below(limit) {
                each(state, same);
            }
        }
    }
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
