//! The ops of each GPU, and the one walk over them in order of start.
//!
//! Ops are dispatches and copies with a known, non-negative duration. CPU agents (host-to-host copies) have none.

use rtl_schema::table::{Copy, Dispatches};
use rtl_schema::{AgentId, Durations, Id, Tables, TrackId};

use crate::base::parallel;

/// The rows of the ops of each GPU by start; the order of equal starts is unspecified.
#[derive(Debug, Clone, Default)]
pub struct Order {
    pub(crate) agents: Vec<AgentOps>,
    /// Indexed by track: whether any of these ops ran on it.
    pub(crate) used_tracks: Vec<bool>,
}

/// The rows of one GPU that ran at least one op.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentOps {
    pub(crate) agent: AgentId,
    pub(crate) dispatches: Vec<u32>,
    pub(crate) copies: Vec<u32>,
    /// The starts of the copies in ns, side by side: the rows of copies are long.
    pub(crate) copy_starts: Vec<i64>,
    /// The last end in ns.
    pub(crate) end: i64,
}

impl AgentOps {
    /// The first start in ns: where the relative times of [`InOrder`] count from.
    pub(crate) fn base(&self, tables: &Tables) -> i64 {
        let dispatch = self.dispatches.first().map(|&row| tables.dispatches.start[row as usize]);
        let copy = next(&self.copy_starts);
        dispatch.map_or(copy, |dispatch| dispatch.min(copy))
    }

    /// The dispatches, then the copies, each in order of start.
    pub(crate) fn ops(&self) -> impl Iterator<Item = Op> {
        ops_of(&self.dispatches, &self.copies)
    }

    pub(crate) fn in_order<'a>(&'a self, tables: &'a Tables) -> InOrder<'a> {
        InOrder {
            tables,
            dispatches: &self.dispatches,
            copies: &self.copies,
            copy_starts: &self.copy_starts,
            next_copy: next(&self.copy_starts),
            base: self.base(tables),
        }
    }
}

/// The first of some starts, `i64::MAX` without any.
#[inline]
fn next(starts: &[i64]) -> i64 {
    starts.first().copied().unwrap_or(i64::MAX)
}

/// An op: its row, and whether it is a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Op {
    pub(crate) copy: bool,
    pub(crate) row: u32,
}

impl Op {
    /// The name without descriptor suffix; a copy without a name is called by its direction.
    pub(crate) fn name(self, tables: &Tables) -> &str {
        match self.copy {
            true => copy_name(tables, &tables.copies[self.row as usize]),
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

    #[inline]
    pub(crate) fn track(self, tables: &Tables) -> TrackId {
        self.column(tables, |dispatches, row| dispatches.track[row], |copy| copy.track)
    }

    #[inline]
    pub(crate) fn range(self, tables: &Tables) -> Id {
        self.column(tables, |dispatches, row| dispatches.range.get(row), |copy| copy.range)
    }

    #[inline]
    pub(crate) fn correlation(self, tables: &Tables) -> Id {
        self.column(tables, |dispatches, row| dispatches.correlation.get(row), |copy| copy.correlation)
    }

    /// When it was enqueued in ns, if that was recorded.
    #[inline]
    pub(crate) fn enqueued(self, tables: &Tables) -> Option<i64> {
        self.column(
            tables,
            |dispatches, row| dispatches.details.enqueued.get(row),
            |copy| copy.details.enqueued,
        )
    }

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

fn copy_name<'a>(tables: &'a Tables, copy: &Copy) -> &'a str {
    let stored = if copy.name.is_some() { tables.strings.get(copy.name) } else { "" };
    if stored.is_empty() { copy.direction.label() } else { stored }
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
    copy_starts: &'a [i64],
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
        let (copies, rest) =
            self.copies.split_at(self.copy_starts.iter().take_while(|&&copy| copy == start).count());
        (self.copies, self.copy_starts) = (rest, &self.copy_starts[copies.len()..]);
        self.next_copy = next(self.copy_starts);
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

/// The moments after which a thread goes on with another share: threads that other work has left may take the first one.
const TURN: usize = 1 << 16;

/// Walks all GPUs of `order` side by side, each in order of start; `states` has one state for each of them.
pub(crate) fn in_order<'a, S>(
    tables: &'a Tables,
    order: &'a Order,
    states: &mut [S],
    mut each: impl FnMut(&mut S, Simultaneous<'a>),
) {
    let mut all = Share::new(tables, &order.agents, states);
    while !all.is_over() {
        all.visit_stretch(&mut each);
    }
}

/// As [`in_order`], on several threads, each of which has some of the GPUs.
pub(crate) fn in_order_on_threads<'a, S: Send>(
    tables: &'a Tables,
    order: &'a Order,
    states: &mut [S],
    each: impl Fn(&mut S, Simultaneous<'a>) + Sync,
) {
    let gpus = order.agents.len().div_ceil(parallel::shares(tables.dispatches.len())).max(1);
    if gpus >= order.agents.len() {
        return in_order(tables, order, states, each);
    }
    let shares = order.agents.chunks(gpus).zip(states.chunks_mut(gpus));
    let shares = shares.map(|(agents, states)| Share::new(tables, agents, states));
    threads::turns(shares, |share| Share::take_turn(share, &each));
}

/// Walks the dispatches of all GPUs side by side on several threads, those of each GPU in order of start: `each` gets some rows at a time.
pub(crate) fn dispatches_on_threads<S: Send>(
    tables: &Tables,
    order: &Order,
    states: &mut [S],
    each: impl Fn(&mut S, &[u32]) + Sync,
) {
    let all = row_count(tables);
    let gpus = order.agents.len().div_ceil(parallel::shares(tables.dispatches.len())).max(1);
    let shares = order.agents.chunks(gpus).zip(states.chunks_mut(gpus));
    threads::map(shares, |(agents, states)| {
        let mut left: Vec<&[u32]> = agents.iter().map(|ops| ops.dispatches.as_slice()).collect();
        let mut limit = 0;
        while left.iter().any(|rows| !rows.is_empty()) {
            limit = stretch_end(limit, all);
            for (rows, state) in left.iter_mut().zip(states.iter_mut()) {
                each(state, split_while(rows, |row| row < limit as usize));
            }
        }
    });
}

/// The GPUs of one thread, which it walks side by side.
struct Share<'a, 's, S> {
    gpus: Vec<InOrder<'a>>,
    states: &'s mut [S],
    /// The row behind all.
    rows: u32,
    /// The row at which the next stretch ends; `None` behind the last.
    limit: Option<u32>,
}

impl<'a, 's, S> Share<'a, 's, S> {
    fn new(tables: &'a Tables, agents: &'a [AgentOps], states: &'s mut [S]) -> Self {
        let rows = row_count(tables);
        let gpus = agents.iter().map(|ops| ops.in_order(tables)).collect();
        Self { gpus, states, rows, limit: Some(stretch_end(0, rows)) }
    }

    /// Walks on for as long as other shares should wait. Returns what is left.
    fn take_turn(mut self, each: impl Fn(&mut S, Simultaneous<'a>)) -> Option<Self> {
        let mut moments = 0;
        while moments < TURN && !self.is_over() {
            moments += self.visit_stretch(&each);
        }
        (!self.is_over()).then_some(self)
    }

    fn is_over(&self) -> bool {
        self.limit.is_none()
    }

    /// Walks the next stretch. Returns how many moments have passed at which ops start.
    fn visit_stretch(&mut self, mut each: impl FnMut(&mut S, Simultaneous<'a>)) -> usize {
        let Some(limit) = self.limit else { return 0 };
        let mut moments = 0;
        for (ops, state) in self.gpus.iter_mut().zip(self.states.iter_mut()) {
            while let Some(same) = ops.next_below(limit) {
                each(state, same);
                moments += 1;
            }
        }
        self.limit = (limit < u32::MAX).then(|| stretch_end(limit, self.rows));
        moments
    }
}

fn row_count(tables: &Tables) -> u32 {
    u32::try_from(tables.dispatches.len()).unwrap_or(u32::MAX)
}

/// Where the stretch ends that begins at a row: the last one has no limit.
fn stretch_end(begin: u32, rows: u32) -> u32 {
    begin.checked_add(STRETCH).filter(|&end| end < rows).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Dispatch, Track};

    use super::*;

    #[test]
    fn threads_walk_all_dispatches_of_each_gpu_in_order_of_start() {
        // Three stretches; of two neighbours the second one starts first, also across their borders.
        let rows = 2 * STRETCH + 1_000;
        let mut tables = Tables::default();
        let tracks =
            [0, 1, 2].map(|gpu| tables.tracks.intern(Track { agent: AgentId(gpu), ..Track::default() }));
        for row in 0..rows {
            let track = tracks[(row as usize * row as usize / 7) % 3];
            let start = i64::from((row + 1) ^ 1) * 10;
            tables.dispatches.push(Dispatch { track, start, duration: Some(5), ..Dispatch::default() });
        }
        let order = Order::of(&tables);
        let mut found: Vec<Vec<u32>> = vec![Vec::new(); order.agents.len()];
        dispatches_on_threads(&tables, &order, &mut found, |found, rows| found.extend(rows));
        let expected: Vec<Vec<u32>> = order.agents.iter().map(|ops| ops.dispatches.clone()).collect();
        assert_eq!(found, expected);
        assert_eq!(found.iter().map(Vec::len).sum::<usize>(), rows as usize);
    }
}
