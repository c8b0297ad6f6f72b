//! The history of each thread of the host: calls that stand for a cause, and spans around them.

use std::cmp::Reverse;

use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashSet;

use super::cause::{Cause, is_compilation, of_function};
use crate::base::first_use::{FirstUseMap, position_of};
use crate::base::ops::Op;
use crate::gpu_time::operators::nesting::{ThreadKey, by_thread};
use crate::launches::EnqueueTimes;
use rtl_schema::table::Direction;

/// One thread: rows by start.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// Calls that stand for a cause; one within another is left out, so their ends ascend.
    pub(super) calls: Vec<u32>,
    /// Operators, Python functions and ranges, numbered as [`Threads::span`] does.
    pub(super) spans: Vec<u32>,
}

/// A call that stands for a cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) cause: Cause,
    pub(super) name: NameId,
    pub(super) start: i64,
    pub(super) end: i64,
}

/// An operator, a Python function or a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) name: NameId,
    pub(super) start: i64,
    pub(super) end: i64,
    /// True for spans that compile. Python functions never do: many that are called so compile no kernel.
    pub(super) compiles: bool,
}

/// The threads of a trace that make calls.
pub(super) struct Threads<'a> {
    tables: &'a Tables,
    threads: FirstUseMap<ThreadKey, Thread>,
    /// Indexed by name.
    causes: Vec<Option<Cause>>,
    /// Indexed by name: whether a span of it compiles.
    compiles: Vec<bool>,
    /// Rows of calls that say they return early and do not.
    blocking: FxHashSet<u32>,
}

impl<'a> Threads<'a> {
    pub(super) fn new(tables: &'a Tables, times: &EnqueueTimes<'_>) -> Self {
        let calls = &tables.api_calls;
        let mut threads = Self {
            tables,
            threads: FirstUseMap::default(),
            causes: vec![None; tables.strings.len()],
            compiles: vec![false; tables.strings.len()],
            blocking: FxHashSet::default(),
        };
        if calls.is_empty() {
            return threads;
        }
        for (id, text) in tables.strings.iter() {
            threads.causes[id.index()] = of_function(text);
            threads.compiles[id.index()] = is_compilation(text);
        }
        threads.blocking = blocking_copies(tables, times, &threads.causes);
        for (key, rows) in by_thread(calls.len(), |row| (calls.process.get(row), calls.tid.get(row))) {
            let rows = threads.outermost(rows);
            let position = position_of(&mut threads.threads, key);
            threads.threads[position].calls = rows;
        }
        threads.add_spans();
        threads
    }

    /// Orders calls of one thread that stand for a cause, without those within others.
    fn outermost(&self, mut rows: Vec<u32>) -> Vec<u32> {
        let names = &self.tables.api_calls.name;
        rows.retain(|&row| self.cause_of_name(names[row as usize]).is_some());
        let text = |row: u32| self.tables.strings.get(names[row as usize]);
        // Few calls of a thread start together: only these are looked at as a whole.
        let starts = &self.tables.api_calls.start;
        let mut order: Vec<(i64, u32)> = rows.iter().map(|&row| (starts[row as usize], row)).collect();
        order.sort_unstable();
        for same in order.chunk_by_mut(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
            same.sort_by(|&(_, one), &(_, other)| {
                let (first, second) = (self.call(one), self.call(other));
                let key = |call: Call| (Reverse(call.end), call.cause);
                key(first).cmp(&key(second)).then_with(|| text(one).cmp(text(other)))
            });
        }
        rows.clear();
        rows.extend(order.into_iter().map(|(_, row)| row));
        let mut reach = i64::MIN;
        rows.retain(|&row| {
            let Call { start, end, .. } = self.call(row);
            let is_outermost = end > reach || start >= reach;
            reach = reach.max(end);
            is_outermost
        });
        rows.shrink_to_fit();
        rows
    }

    fn add_spans(&mut self) {
        let tables = self.tables;
        let (operators, frames) = (&tables.operators, &tables.python_frames);
        let of_operators =
            (0..operators.len()).map(|row| (operators.process.get(row), operators.tid.get(row)));
        let of_frames = (0..frames.len()).map(|row| (frames.process.get(row), frames.tid.get(row)));
        let of_ranges = tables.ranges.iter().map(|range| (range.process, range.tid));
        for (number, key) in of_operators.chain(of_frames).chain(of_ranges).enumerate() {
            let Span { start, end, .. } = self.span(number as u32);
            if end > start
                && let Some(thread) = self.threads.get_mut(&key)
            {
                thread.spans.push(number as u32);
            }
        }
        let mut threads = std::mem::take(&mut self.threads);
        for thread in threads.values_mut() {
            thread.spans.sort_by(|&one, &other| {
                let (first, second) = (self.span(one), self.span(other));
                let key = |span: Span| (span.start, Reverse(span.end));
                let text = |span: Span| tables.strings.get(span.name);
                key(first).cmp(&key(second)).then_with(|| text(first).cmp(text(second)))
            });
        }
        self.threads = threads;
    }

    #[inline]
    pub(super) fn position(&self, key: &ThreadKey) -> Option<usize> {
        self.threads.get_index_of(key)
    }

    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    #[inline]
    pub(super) fn get(&self, position: usize) -> &Thread {
        &self.threads[position]
    }

    #[inline]
    fn cause_of_name(&self, name: NameId) -> Option<Cause> {
        self.causes.get(name.index()).copied().flatten()
    }

    #[inline]
    pub(super) fn call(&self, row: u32) -> Call {
        let calls = &self.tables.api_calls;
        let (name, start) = (calls.name[row as usize], calls.start[row as usize]);
        let end = start.saturating_add(calls.duration.valid(row as usize).unwrap_or(0));
        let cause = match self.cause_of_name(name).unwrap_or_default() {
            Cause::Launch if !self.blocking.is_empty() && self.blocking.contains(&row) => Cause::BlockingCopy,
            cause => cause,
        };
        Call { cause, name, start, end }
    }

    /// A span by its number: operators, then Python functions, then ranges, each in the order of their rows.
    #[inline]
    pub(super) fn span(&self, number: u32) -> Span {
        let (operators, frames) = (&self.tables.operators, &self.tables.python_frames);
        let row = number as usize;
        let (name, start, duration, is_frame) = if row < operators.len() {
            (operators.name[row], operators.start[row], operators.duration.valid(row), false)
        } else if row - operators.len() < frames.len() {
            let row = row - operators.len();
            (frames.name[row], frames.start[row], frames.duration.valid(row), true)
        } else {
            let range = &self.tables.ranges[row - operators.len() - frames.len()];
            let duration = range.duration.filter(|&duration| duration > 0 && !range.is_marker());
            (range.name, range.start, duration, false)
        };
        let compiles = !is_frame && self.compiles.get(name.index()).copied().unwrap_or(false);
        Span { name, start, end: start.saturating_add(duration.unwrap_or(0)), compiles }
    }
}

/// The calls that launch a copy between host and GPU and return when at least half of it has run: the memory is pageable.
fn blocking_copies(tables: &Tables, times: &EnqueueTimes<'_>, causes: &[Option<Cause>]) -> FxHashSet<u32> {
    let calls = &tables.api_calls;
    let mut blocking = FxHashSet::default();
    for (row, copy) in tables.copies.iter().enumerate() {
        let is_crossing = matches!(copy.direction, Direction::HostToDevice | Direction::DeviceToHost);
        let Some(duration) = copy.duration.filter(|&duration| is_crossing && duration >= 0) else { continue };
        let Some(call) = times.call(Op { copy: true, row: row as u32 }) else { continue };
        let is_launch = causes.get(calls.name[call].index()).copied().flatten() == Some(Cause::Launch);
        let end = calls.start[call].saturating_add(calls.duration.valid(call).unwrap_or(0));
        if is_launch && end >= copy.start.saturating_add(duration - duration / 2) {
            blocking.insert(call as u32);
        }
    }
    blocking
}
