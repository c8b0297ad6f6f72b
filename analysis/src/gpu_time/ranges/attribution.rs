//! Which ranges enclose an op, a call or another range.

use std::cmp::Reverse;

use rtl_schema::table::RangeKind;
use rtl_schema::{Id, NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::positions::{NOWHERE, Positions};
use super::timeline::{Span, Timeline, enclosing};
use crate::base::first_use::distinct;
use crate::base::lookup::Lookup;
use crate::base::ops::Op;

/// How ops were tied to ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RangeMethod {
    /// Ops carry the id of their innermost range (roctxId); ranges around that one on its thread enclose them too.
    Stored,
    /// The call that launched the op was made inside the range, by the same process and thread.
    Linked,
    /// The op started inside the range, in the same process.
    Contained,
}

/// The name of torch.profiler's steps.
const STEP: &str = "ProfilerStep";

/// Ties ops, calls and ranges to the ranges around them. How ops are tied is decided for each id space (for
/// each trace, where several are combined): by the range id they carry if any does, else by their launching
/// call if any has one, else by their own start.
#[derive(Debug)]
pub(crate) struct Attribution {
    /// Names of ranges; positions refer to them by number.
    pub(crate) names: Vec<NameId>,
    spans: Vec<Vec<Span>>,
    pub(super) positions: Positions,
    pub(super) ties: Ties,
    of_range: Option<Vec<u32>>,
    whole: Option<Vec<Timeline>>,
    threads: Option<FxHashMap<(ProcessId, Option<i64>), Timeline>>,
}

/// The method of each space, `None` where it has no ranges.
#[derive(Debug, Clone)]
pub(super) struct BySpace {
    pub(super) space_of_process: Vec<usize>,
    pub(super) methods: Vec<Option<RangeMethod>>,
}

impl BySpace {
    /// The space of a process, if its ops are tied by `method`.
    pub(super) fn space(&self, method: RangeMethod, process: ProcessId) -> Option<usize> {
        let space = self.space_of_process.get(process.index()).copied();
        space.filter(|&space| self.methods[space] == Some(method))
    }
}

/// How the ops of each id space are tied to something numbered.
#[derive(Debug)]
pub(super) struct Ties {
    pub(super) space_of_process: Vec<usize>,
    /// The method of each space, `None` where it has no ranges; numbers by range id (stored) or correlation id (linked).
    pub(super) spaces: Vec<(Option<RangeMethod>, Lookup)>,
}

/// The last op that was tied by its stored range: most ops are in that of the one before.
#[derive(Debug, Default)]
pub(crate) struct LastTied(Option<((ProcessId, Id), Option<u32>)>);

impl Ties {
    /// The number of an op after that of `last`; `contained` has that of a moment of a process.
    #[inline]
    pub(super) fn number(
        &self,
        tables: &Tables,
        op: Op,
        LastTied(last): &mut LastTied,
        contained: impl FnOnce(ProcessId, i64) -> Option<u32>,
    ) -> Option<u32> {
        let process = tables.tracks.get(op.track(tables)).process;
        let range = op.range(tables);
        if let Some((known, number)) = *last
            && known == (process, range)
        {
            return number;
        }
        let (method, numbers) = &self.spaces[*self.space_of_process.get(process.index())?];
        match (*method)? {
            RangeMethod::Stored => {
                let number = numbers.get(range);
                *last = Some(((process, range), number));
                number
            }
            RangeMethod::Linked => numbers.get(op.correlation(tables)),
            RangeMethod::Contained => contained(process, op.start(tables)),
        }
    }
}

/// Returns, for each space, the number of the call of each correlation id, in the order of process, thread and start; of
/// several calls the first one made counts. `number` has the space of a call with its number.
pub(super) fn linked(
    tables: &Tables,
    spaces: usize,
    mut number: impl FnMut(ProcessId, Option<i64>, i64) -> Option<(usize, u32)>,
) -> Vec<Lookup> {
    /// Correlation id, start, thread and number of a call.
    type Call = (Id, i64, Option<i64>, u32);
    let calls = &tables.api_calls;
    let mut found: Vec<Vec<Call>> = vec![Vec::new(); spaces];
    for row in 0..calls.len() {
        let correlation = calls.correlation.get(row);
        let (process, tid, start) = (calls.process.get(row), calls.tid.get(row), calls.start[row]);
        if correlation != 0
            && let Some((space, number)) = number(process, tid, start)
        {
            found[space].push((correlation, start, tid, number));
        }
    }
    let first = |mut found: Vec<Call>| {
        found.sort_unstable();
        Lookup::of(found.into_iter().map(|(correlation, _, _, number)| (correlation, number)).collect())
    };
    found.into_iter().map(first).collect()
}

/// Remembers where on each process's timeline the last op was, and its range.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    of_process: Vec<usize>,
    tied: LastTied,
}

impl Attribution {
    /// Looks at all ranges and ids, and at what ties ops to ranges.
    pub(crate) fn of(tables: &Tables) -> Self {
        let (names, spans) = spans(tables);
        let (spaces, space_of_process) = distinct(tables.processes.iter().map(|process| process.space));
        let ties = Ties { space_of_process, spaces: Vec::new() };
        let spans = by_process(tables, spans);
        let positions = Positions::new();
        let mut attribution =
            Self { names, spans, positions, ties, of_range: None, whole: None, threads: None };
        attribution.ties.spaces = attribution.spaces(tables, spaces.len());
        attribution
    }

    /// Looks at barriers, calls and the ranges in others, too.
    pub(crate) fn of_all_rows(tables: &Tables) -> Self {
        let mut attribution = Self::of(tables);
        attribution.follow_processes();
        attribution.follow_threads(tables);
        attribution.nest(tables);
        attribution
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The methods in use, each once.
    pub(crate) fn methods(&self) -> Vec<RangeMethod> {
        let mut methods: Vec<_> = self.ties.spaces.iter().filter_map(|(method, _)| *method).collect();
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    pub(super) fn by_space(&self) -> BySpace {
        let methods = self.ties.spaces.iter().map(|(method, _)| *method).collect();
        BySpace { space_of_process: self.ties.space_of_process.clone(), methods }
    }

    /// Returns for each position whether ranges of this name enclose it.
    pub(crate) fn within(&self, name: NameId) -> Option<Vec<bool>> {
        let number = self.names.iter().position(|&known| known == name)?;
        let mut within = vec![false; self.positions.count() as usize];
        for window in self.positions.by_name(self.names.len()).of(number) {
            within[window.start as usize..window.end as usize].fill(true);
        }
        Some(within)
    }

    pub(crate) fn innermost(&self, tables: &Tables, op: Op, cursor: &mut Cursor) -> Option<NameId> {
        self.positions.innermost(self.op(tables, op, cursor)).map(|name| self.names[name as usize])
    }

    #[inline]
    pub(crate) fn op(&self, tables: &Tables, op: Op, cursor: &mut Cursor) -> u32 {
        let Cursor { of_process, tied } = cursor;
        let contained = |process, start| Some(self.in_process(process, start, of_process));
        self.ties.number(tables, op, tied, contained).unwrap_or(NOWHERE)
    }

    /// The position of `process` at `start`, in the ranges of all its threads.
    #[inline]
    pub(crate) fn moment(&self, process: ProcessId, start: i64, cursor: &mut Cursor) -> u32 {
        self.in_process(process, start, &mut cursor.of_process)
    }

    #[inline]
    fn in_process(&self, process: ProcessId, start: i64, hints: &mut Vec<usize>) -> u32 {
        let Some(whole) = &self.whole else { return NOWHERE };
        let Some(timeline) = whole.get(process.index()) else { return NOWHERE };
        if hints.len() < whole.len() {
            hints.resize(whole.len(), 0);
        }
        timeline.at(start, &mut hints[process.index()])
    }

    /// The position of a call: in ranges of its thread, and those that belong to no thread.
    pub(crate) fn call(&self, tables: &Tables, row: usize) -> u32 {
        let calls = &tables.api_calls;
        self.thread_moment(calls.process.get(row), calls.tid.get(row), calls.start[row])
    }

    pub(crate) fn thread_moment(&self, process: ProcessId, tid: Option<i64>, start: i64) -> u32 {
        self.on_thread(process, tid, start, &mut 0)
    }

    /// The position of a range, in itself and those that hold it.
    pub(crate) fn range(&self, row: usize) -> u32 {
        self.of_range.as_ref().map_or(NOWHERE, |of_range| of_range[row])
    }

    fn on_thread(&self, process: ProcessId, tid: Option<i64>, start: i64, hint: &mut usize) -> u32 {
        let Some(threads) = &self.threads else { return NOWHERE };
        let timeline = threads.get(&(process, tid)).or_else(|| threads.get(&(process, None)));
        timeline.map_or(NOWHERE, |timeline| timeline.at(start, hint))
    }

    /// Decides how the ops of each space are tied to ranges. A merged trace has a space for each rank: all are decided in one
    /// pass over the rows.
    fn spaces(&mut self, tables: &Tables, count: usize) -> Vec<(Option<RangeMethod>, Lookup)> {
        let mut have_ranges = vec![false; count];
        for (&space, spans) in self.ties.space_of_process.iter().zip(&self.spans) {
            have_ranges[space] |= !spans.is_empty();
        }
        let with_ranges = |process: ProcessId, of: &Self| {
            let space = of.ties.space_of_process.get(process.index()).copied();
            space.filter(|&space| have_ranges[space])
        };
        let of_track: Vec<Option<usize>> =
            tables.tracks.rows().iter().map(|track| with_ranges(track.process, self)).collect();
        let space_of = |op: Op| of_track[op.track(tables).index()];
        let dispatches = &tables.dispatches;

        let by_id = self.by_id(tables, count, |row| row);
        let have_range = dispatches.range.uniform() != Some(0);
        let is_stored = spaces_with_op(tables, have_range, count, |op| {
            space_of(op).filter(|&space| by_id[space].get(op.range(tables)).is_some())
        });
        let have_link = dispatches.correlation.uniform() != Some(0);
        let are_linked = spaces_with_op(tables, have_link, count, |op| {
            space_of(op).filter(|&space| !is_stored[space] && op.correlation(tables) != 0)
        });
        let is_any = |flags: &[bool]| flags.contains(&true);
        let mut stored = Vec::new();
        if is_any(&is_stored) {
            self.nest(tables);
            stored = self.by_id(tables, count, |row| self.range(row as usize));
        }
        let (mut calls, mut is_linked) = (Vec::new(), vec![false; count]);
        if is_any(&are_linked) {
            self.follow_threads(tables);
            let mut hints: FxHashMap<(ProcessId, Option<i64>), usize> = FxHashMap::default();
            calls = linked(tables, count, |process, tid, start| {
                let space = with_ranges(process, self).filter(|&space| are_linked[space])?;
                let hint = hints.entry((process, tid)).or_default();
                Some((space, self.on_thread(process, tid, start, hint)))
            });
            is_linked = spaces_with_op(tables, have_link, count, |op| {
                let is_known = |space: &usize| calls[*space].get(op.correlation(tables)).is_some();
                space_of(op).filter(|&space| are_linked[space]).filter(is_known)
            });
        }
        let (mut stored, mut calls) = (stored.into_iter(), calls.into_iter());
        let none = || Lookup::of(Vec::new());
        let mut decided = Vec::with_capacity(count);
        for space in 0..count {
            let (of_ranges, of_calls) = (stored.next(), calls.next());
            decided.push(match have_ranges[space] {
                false => (None, none()),
                true if is_stored[space] => (Some(RangeMethod::Stored), of_ranges.unwrap_or_else(none)),
                true if is_linked[space] => (Some(RangeMethod::Linked), of_calls.unwrap_or_else(none)),
                true => {
                    self.follow_processes();
                    (Some(RangeMethod::Contained), none())
                }
            });
        }
        decided
    }

    /// Returns, for each space, what `of_row` has for each range by its id.
    fn by_id(&self, tables: &Tables, count: usize, of_row: impl Fn(u32) -> u32) -> Vec<Lookup> {
        let mut pairs = vec![Vec::new(); count];
        for (row, range) in (0_u32..).zip(&tables.ranges) {
            if let Some(&space) = self.ties.space_of_process.get(range.process.index()) {
                pairs[space].push((range.id, of_row(row)));
            }
        }
        pairs.into_iter().map(Lookup::of).collect()
    }

    /// Follows the ranges of each process, of all threads together.
    fn follow_processes(&mut self) {
        if self.whole.is_none() {
            let spans = self.spans.iter();
            self.whole = Some(spans.map(|spans| Timeline::new(spans.clone(), &mut self.positions)).collect());
        }
    }

    fn follow_threads(&mut self, tables: &Tables) {
        if self.threads.is_none() {
            let mut threads = FxHashMap::default();
            for (process, spans) in (0..).map(ProcessId).zip(&self.spans) {
                for (tid, spans) in by_thread(tables, spans) {
                    threads.insert((process, tid), Timeline::new(spans, &mut self.positions));
                }
            }
            self.threads = Some(threads);
        }
    }

    fn nest(&mut self, tables: &Tables) {
        if self.of_range.is_none() {
            let mut of_range = vec![NOWHERE; tables.ranges.len()];
            for (tid, spans) in self.spans.iter().flat_map(|spans| by_thread(tables, spans)) {
                enclosing(spans, &mut self.positions, |row, position| {
                    if tid == thread(tables, row) {
                        of_range[row as usize] = position;
                    }
                });
            }
            self.of_range = Some(of_range);
        }
    }
}

/// The spaces that any copy has, or any dispatch where these are to be looked at.
fn spaces_with_op(
    tables: &Tables,
    dispatches: bool,
    count: usize,
    space: impl Fn(Op) -> Option<usize>,
) -> Vec<bool> {
    let mut found = vec![false; count];
    let mut missing = count;
    let rows = if dispatches { tables.dispatches.len() as u32 } else { 0 };
    let dispatches = (0..rows).map(|row| Op { copy: false, row });
    for op in dispatches.chain((0..tables.copies.len() as u32).map(|row| Op { copy: true, row })) {
        if missing == 0 {
            break;
        }
        if let Some(space) = space(op) {
            missing -= usize::from(!std::mem::replace(&mut found[space], true));
        }
    }
    found
}

/// All ranges with extent, with their names numbered in the order of their texts: of ranges with one extent the
/// innermost must not depend on which row comes first.
fn spans(tables: &Tables) -> (Vec<NameId>, Vec<Span>) {
    let with_extent = || {
        let ranges = tables.ranges.iter().enumerate().filter(|(_, range)| !range.is_marker());
        ranges.filter_map(|(row, range)| Some((row, range, range.duration.filter(|&length| length >= 0)?)))
    };
    let mut names: Vec<NameId> = with_extent().map(|(_, range, _)| range.name).collect();
    names.sort_unstable();
    names.dedup();
    names.sort_by_key(|&name| tables.strings.get(name));
    let numbers: FxHashMap<NameId, u32> =
        names.iter().enumerate().map(|(number, &name)| (name, number as u32)).collect();
    let spans = with_extent()
        .map(|(row, range, length)| {
            let end = Reverse(range.start.saturating_add(length));
            Span { start: range.start, end, name: numbers[&range.name], row: row as u32 }
        })
        .collect();
    (names, spans)
}

fn by_process(tables: &Tables, spans: Vec<Span>) -> Vec<Vec<Span>> {
    let mut of_process = vec![Vec::new(); tables.processes.len()];
    for span in spans {
        if let Some(spans) = of_process.get_mut(tables.ranges[span.row as usize].process.index()) {
            spans.push(span);
        }
    }
    of_process
}

/// The ranges that count for each thread of a process: its own and those of no thread. Thread `None` has the
/// latter alone.
fn by_thread(tables: &Tables, spans: &[Span]) -> Vec<(Option<i64>, Vec<Span>)> {
    let mut of_thread: FxHashMap<Option<i64>, Vec<Span>> = FxHashMap::from_iter([(None, Vec::new())]);
    for &span in spans {
        of_thread.entry(thread(tables, span.row)).or_default().push(span);
    }
    let unbound = of_thread.get(&None).cloned().unwrap_or_default();
    let mut threads: Vec<_> = of_thread.into_iter().collect();
    threads.sort_unstable_by_key(|&(tid, _)| tid);
    for (_, spans) in threads.iter_mut().filter(|(tid, _)| tid.is_some()) {
        spans.extend_from_slice(&unbound);
    }
    threads
}

/// The thread that a range belongs to; start and stop may come from any. A step of torch.profiler is one of all threads: the backward
/// pass runs on another one than the loop.
fn thread(tables: &Tables, row: u32) -> Option<i64> {
    let range = &tables.ranges[row as usize];
    let is_step = || tables.strings.get(range.name) == STEP;
    range.tid.filter(|_| range.kind != RangeKind::Process && !is_step())
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Dispatch, Process, Range, Track};

    use super::*;

    #[test]
    fn ops_in_turns_of_processes_that_number_their_ranges_alike_keep_their_own() {
        let mut tables = Tables::default();
        for (process, name) in [(ProcessId(0), "forward"), (ProcessId(1), "backward")] {
            tables.processes.push(Process { space: process.0, ..Process::default() });
            let name = tables.strings.intern(name);
            tables.ranges.push(Range { id: 7, process, name, duration: Some(100), ..Range::default() });
        }
        for (process, range) in [(0, 7), (0, 7), (1, 7), (1, 0), (0, 0), (1, 7), (0, 7)] {
            let track = tables.tracks.intern(Track { process: ProcessId(process), ..Track::default() });
            tables.dispatches.push(Dispatch { track, range, duration: Some(5), ..Dispatch::default() });
        }
        let attribution = Attribution::of(&tables);
        let mut cursor = Cursor::default();
        let ops = (0..tables.dispatches.len() as u32).map(|row| Op { copy: false, row });
        let names = ops.map(|op| attribution.innermost(&tables, op, &mut cursor));
        let names: Vec<_> = names.map(|name| name.map(|name| tables.strings.get(name))).collect();
        let [forward, backward] = [Some("forward"), Some("backward")];
        assert_eq!(names, [forward, forward, backward, None, None, backward, forward]);
    }
}
