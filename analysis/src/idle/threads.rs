//! The history of each thread of the host: calls that stand for a cause, and spans around them.

use std::cmp::Reverse;

use rtl_schema::{NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

use super::cause::{Cause, is_compilation, of_function};
use super::first_times::{FirstTime, FirstTimes};
use super::own_code::{is_own_code, says_where};
use super::paths::SpanKind;
use super::queue_starts::QueueStarts;
use crate::base::first_use::{FirstUseMap, position_of};
use crate::base::ops::Op;
use crate::gpu_time::operators::nesting::{ThreadKey, by_thread};
use crate::launches::EnqueueTimes;
use rtl_schema::table::{Direction, Range};

/// A copy to the host of at most this size in bytes reads a result, such as a loss or the tokens of a batch.
const RESULT: u64 = 4096;

/// The beginnings of the names of ranges that torch makes itself, which older versions record as operators: steps say nothing about a
/// place, and optimizers are operators.
const RANGES_OF_TORCH: [(&str, SpanKind); 2] =
    [("ProfilerStep", SpanKind::Step), ("Optimizer.", SpanKind::Operator)];

/// One thread: rows by start.
#[derive(Debug, Default)]
pub(super) struct Thread {
    pub(super) process: ProcessId,
    /// Calls that stand for a cause; one within another is left out, so their ends ascend.
    pub(super) calls: Vec<u32>,
    /// Operators, Python functions and ranges, numbered as [`Threads::span`] does.
    pub(super) spans: Vec<u32>,
    /// The median time in ns from one of the calls to the next.
    pub(super) usual: u64,
    /// It launches nothing: all its calls wait for a GPU.
    pub(super) only_waits: bool,
    /// The thread of the process that is in spans for the longest time.
    pub(super) main: usize,
}

/// A call that stands for a cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) cause: Cause,
    pub(super) name: NameId,
    pub(super) start: i64,
    pub(super) end: i64,
    /// It begins the capture of a graph, to the end of which it lasts.
    pub(super) is_capture: bool,
}

/// An operator, a Python function or a range.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) name: NameId,
    pub(super) kind: SpanKind,
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
    /// Indexed by name: functions of the program, and what torch makes itself.
    kinds: Vec<Option<SpanKind>>,
    /// Indexed by name: the first start in ns of a kernel.
    first_starts: Vec<i64>,
    queue_starts: QueueStarts,
    first_times: FirstTimes,
    /// Rows of calls that say they return early and do not.
    blocking: FxHashMap<u32, Cause>,
    /// The ends in ns of captures of graphs, by the row of the call that begins one: what is launched meanwhile is recorded and does
    /// not run.
    captures: FxHashMap<u32, i64>,
}

impl<'a> Threads<'a> {
    pub(super) fn new(tables: &'a Tables, times: &EnqueueTimes<'_>) -> Self {
        let calls = &tables.api_calls;
        let mut threads = Self {
            tables,
            threads: FirstUseMap::default(),
            causes: vec![None; tables.strings.len()],
            compiles: vec![false; tables.strings.len()],
            kinds: vec![None; tables.strings.len()],
            first_starts: Vec::new(),
            queue_starts: QueueStarts::default(),
            first_times: FirstTimes::default(),
            blocking: FxHashMap::default(),
            captures: FxHashMap::default(),
        };
        if calls.is_empty() {
            return threads;
        }
        for (id, text) in tables.strings.iter() {
            threads.causes[id.index()] = of_function(text);
            threads.compiles[id.index()] = is_compilation(text);
            let of_torch = RANGES_OF_TORCH.into_iter().find(|(start, _)| text.starts_with(start));
            let own = || is_own_code(text).then_some(SpanKind::OwnPython);
            threads.kinds[id.index()] = of_torch.map(|(_, kind)| kind).or_else(own);
        }
        threads.first_starts = first_starts(tables);
        threads.blocking = blocking_copies(tables, times, &threads.causes);
        threads.captures = captures(tables);
        for (key, rows) in by_thread(calls.len(), |row| (calls.process.get(row), calls.tid.get(row))) {
            let rows = threads.outermost(rows);
            let usual = threads.usual_distance(&rows);
            let only_waits = rows.iter().all(|&row| threads.call(row).cause == Cause::Synchronise);
            let position = position_of(&mut threads.threads, key);
            threads.threads[position] =
                Thread { process: key.0, calls: rows, usual, only_waits, ..Thread::default() };
        }
        threads.add_spans();
        threads.find_main();
        threads
    }

    /// The median time in ns from the end of a call to the start of the next.
    fn usual_distance(&self, rows: &[u32]) -> u64 {
        let distance = |pair: &[u32]| {
            let [before, next] = [pair[0], pair[1]].map(|row| self.call(row));
            next.start.saturating_sub(before.end).max(0) as u64
        };
        let mut distances: Vec<u64> = rows.windows(2).map(distance).collect();
        let middle = distances.len() / 2;
        if distances.is_empty() { 0 } else { *distances.select_nth_unstable(middle).1 }
    }

    fn find_main(&mut self) {
        let in_spans = |thread: &Thread| {
            let mut end = i64::MIN;
            let mut time = 0_u64;
            for &number in &thread.spans {
                let span = self.span(number);
                time += span.end.saturating_sub(span.start.max(end)).max(0) as u64;
                end = end.max(span.end);
            }
            time
        };
        let mut most: FxHashMap<ProcessId, (u64, usize)> = FxHashMap::default();
        for (position, ((process, _), thread)) in self.threads.iter().enumerate() {
            let time = in_spans(thread);
            let main = most.entry(*process).or_insert((time, position));
            if time > main.0 {
                *main = (time, position);
            }
        }
        for ((process, _), thread) in &mut self.threads {
            thread.main = most[process].1;
        }
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

    /// The kind of a row of this name in a table of spans that are `usual`.
    #[inline]
    fn kind(&self, name: NameId, usual: SpanKind) -> SpanKind {
        let kind = self.kinds.get(name.index()).copied().flatten();
        match (kind, usual) {
            (Some(SpanKind::OwnPython), SpanKind::Python) => SpanKind::OwnPython,
            (Some(kind @ (SpanKind::Step | SpanKind::Operator)), SpanKind::Range | SpanKind::Operator) => {
                kind
            }
            _ => usual,
        }
    }

    #[inline]
    pub(super) fn position(&self, key: &ThreadKey) -> Option<usize> {
        self.threads.get_index_of(key)
    }

    pub(super) fn key(&self, position: usize) -> ThreadKey {
        self.threads.get_index(position).map_or((ProcessId(0), None), |(key, _)| *key)
    }

    #[inline]
    pub(super) fn get(&self, position: usize) -> &Thread {
        &self.threads[position]
    }

    /// True of a dispatch that is the first one of its kernel.
    pub(super) fn is_first(&self, op: Op) -> bool {
        let dispatches = &self.tables.dispatches;
        let is_first = |row: usize| {
            let first = self.first_starts.get(dispatches.name[row].index());
            first == Some(&dispatches.start[row])
        };
        !op.copy && is_first(op.row as usize)
    }

    /// The start in ns of the step of torch.profiler in which a process is at a moment.
    pub(super) fn step_start(&self, process: ProcessId, moment: i64) -> Option<i64> {
        let holds = |range: &&Range| {
            let passed = moment.saturating_sub(range.start);
            range.process == process
                && passed >= 0
                && range.duration.is_some_and(|duration| passed < duration)
                && self.kind(range.name, SpanKind::Range) == SpanKind::Step
        };
        self.tables.ranges.iter().filter(holds).map(|range| range.start).max()
    }

    pub(super) fn is_first_of_queue(&self, op: Op) -> bool {
        self.queue_starts.is_first(self.tables, op)
    }

    /// Tells if an operator does something for the first time. A range or Python may do anything.
    pub(super) fn first_time_of(&self, process: ProcessId, span: &Span) -> FirstTime {
        match span.kind {
            SpanKind::Operator => {
                let ns = span.end.wrapping_sub(span.start) as u64;
                self.first_times.of_operator(self.tables, (process, span.name), span.start, ns)
            }
            _ => FirstTime::Unknown,
        }
    }

    /// Tells if a call does something for the first time.
    pub(super) fn first_time_of_call(&self, process: ProcessId, call: &Call) -> FirstTime {
        let ns = call.end.wrapping_sub(call.start) as u64;
        self.first_times.of_call(self.tables, (process, call.name), call.start, ns)
    }

    /// False of a function around any other, such as `<module>`.
    pub(super) fn says_where(&self, name: NameId) -> bool {
        says_where(self.tables.strings.get(name))
    }

    #[inline]
    fn cause_of_name(&self, name: NameId) -> Option<Cause> {
        self.causes.get(name.index()).copied().flatten()
    }

    #[inline]
    pub(super) fn call(&self, row: u32) -> Call {
        let calls = &self.tables.api_calls;
        let (name, start) = (calls.name[row as usize], calls.start[row as usize]);
        let mut end = start.saturating_add(calls.duration.valid(row as usize).unwrap_or(0));
        let capture = if self.captures.is_empty() { None } else { self.captures.get(&row) };
        if let Some(&capture) = capture {
            end = capture;
        }
        let cause = match self.cause_of_name(name).unwrap_or_default() {
            cause @ (Cause::Launch | Cause::BlockingCopy) if !self.blocking.is_empty() => {
                self.blocking.get(&row).copied().unwrap_or(cause)
            }
            cause => cause,
        };
        Call { cause, name, start, end, is_capture: capture.is_some() }
    }

    /// A span by its number: operators, then Python functions, then ranges, each in the order of their rows.
    #[inline]
    pub(super) fn span(&self, number: u32) -> Span {
        let (operators, frames) = (&self.tables.operators, &self.tables.python_frames);
        let row = number as usize;
        let (name, start, duration, kind) = if row < operators.len() {
            let name = operators.name[row];
            (name, operators.start[row], operators.duration.valid(row), self.kind(name, SpanKind::Operator))
        } else if row - operators.len() < frames.len() {
            let row = row - operators.len();
            let name = frames.name[row];
            (name, frames.start[row], frames.duration.valid(row), self.kind(name, SpanKind::Python))
        } else {
            let range = &self.tables.ranges[row - operators.len() - frames.len()];
            let duration = range.duration.filter(|&duration| duration > 0 && !range.is_marker());
            (range.name, range.start, duration, self.kind(range.name, SpanKind::Range))
        };
        let is_frame = matches!(kind, SpanKind::Python | SpanKind::OwnPython);
        let compiles = !is_frame && self.compiles.get(name.index()).copied().unwrap_or(false);
        Span { name, kind, start, end: start.saturating_add(duration.unwrap_or(0)), compiles }
    }
}

/// The first start of each kernel in ns, by its name.
fn first_starts(tables: &Tables) -> Vec<i64> {
    let dispatches = &tables.dispatches;
    let mut first = vec![i64::MAX; tables.strings.len()];
    for (row, &start) in dispatches.start.iter().enumerate() {
        if let Some(first) = first.get_mut(dispatches.name[row].index()) {
            *first = start.min(*first);
        }
    }
    first
}

/// The end of each capture of a graph in ns, by the row of the call that begins it: the thread that begins a capture ends it.
fn captures(tables: &Tables) -> FxHashMap<u32, i64> {
    let calls = &tables.api_calls;
    let ids = |word: &str| -> Vec<NameId> {
        let has_word = tables.strings.iter().filter(|(_, text)| text.contains(word));
        has_word.map(|(id, _)| id).collect()
    };
    let (begins, ends) = (ids("StreamBeginCapture"), ids("StreamEndCapture"));
    if begins.is_empty() || ends.is_empty() {
        return FxHashMap::default();
    }
    let is_either = |row: &usize| begins.contains(&calls.name[*row]) || ends.contains(&calls.name[*row]);
    let mut rows: Vec<usize> = (0..calls.len()).filter(is_either).collect();
    rows.sort_by_key(|&row| calls.start[row]);
    let mut open: FxHashMap<ThreadKey, usize> = FxHashMap::default();
    let mut captures = FxHashMap::default();
    for row in rows {
        let thread = (calls.process.get(row), calls.tid.get(row));
        if begins.contains(&calls.name[row]) {
            open.insert(thread, row);
        } else if let Some(begin) = open.remove(&thread) {
            let end = calls.start[row].saturating_add(calls.duration.valid(row).unwrap_or(0));
            captures.insert(begin as u32, end);
        }
    }
    captures
}

/// The calls that launch a copy between host and GPU and return when at least half of it has run: the memory is pageable. One that
/// brings a few bytes to the host waits for the result of the work before it.
fn blocking_copies(
    tables: &Tables,
    times: &EnqueueTimes<'_>,
    causes: &[Option<Cause>],
) -> FxHashMap<u32, Cause> {
    let calls = &tables.api_calls;
    let mut blocking = FxHashMap::default();
    for (row, copy) in tables.copies.iter().enumerate() {
        let is_crossing = matches!(copy.direction, Direction::HostToDevice | Direction::DeviceToHost);
        let Some(duration) = copy.duration.filter(|&duration| is_crossing && duration >= 0) else { continue };
        let Some(call) = times.call(Op { copy: true, row: row as u32 }) else { continue };
        let cause = causes.get(calls.name[call].index()).copied().flatten();
        let can_block = matches!(cause, Some(Cause::Launch | Cause::BlockingCopy));
        let end = calls.start[call].saturating_add(calls.duration.valid(call).unwrap_or(0));
        if can_block && end >= copy.start.saturating_add(duration - duration / 2) {
            let is_result =
                copy.direction == Direction::DeviceToHost && copy.bytes.is_some_and(|bytes| bytes <= RESULT);
            blocking.insert(call as u32, if is_result { Cause::Synchronise } else { Cause::BlockingCopy });
        }
    }
    blocking
}
