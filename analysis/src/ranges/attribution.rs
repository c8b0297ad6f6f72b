//! Which ranges enclose an op, a call or another range.

use std::cmp::Reverse;

use rtl_schema::table::RangeKind;
use rtl_schema::{Id, NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::sets::{EMPTY, SetId, Sets};
use super::timeline::{Span, Timeline, enclosing};
use crate::first_use::distinct;
use crate::lookup::Lookup;
use crate::ops::Op;

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

impl RangeMethod {
    /// The word of reports: `stored`, `linked`, `contained`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Linked => "linked",
            Self::Contained => "contained",
        }
    }
}

/// Ties ops, calls and ranges to the ranges around them. How ops are tied is decided for each id space (for
/// each trace, where several are combined): by the range id they carry if any does, else by their launching
/// call if any has one, else by their own start.
#[derive(Debug)]
pub(crate) struct Attribution {
    /// Names of ranges; sets refer to them by position.
    pub(crate) names: Vec<NameId>,
    sets: Sets,
    spaces: Vec<Space>,
    space_of_process: Vec<usize>,
    set_of_range: Vec<SetId>,
    whole: Vec<Timeline>,
    threads: FxHashMap<(ProcessId, Option<i64>), Timeline>,
}

#[derive(Debug)]
struct Space {
    /// `None` where the space has no ranges.
    method: Option<RangeMethod>,
    /// Sets by range id (stored) or correlation id (linked).
    sets: Lookup,
}

/// Remembers where on each process's timeline the last op was.
#[derive(Debug, Default)]
pub(crate) struct Cursor(Vec<usize>);

impl Attribution {
    /// Looks at all ranges, calls and ids.
    pub(crate) fn of(tables: &Tables) -> Self {
        let (names, spans) = spans(tables);
        let (spaces, space_of_process) = distinct(tables.processes.iter().map(|process| process.space));
        let mut sets = Sets::new();
        let mut set_of_range = vec![EMPTY; tables.ranges.len()];
        let mut threads = FxHashMap::default();
        let mut whole = Vec::new();
        if !spans.is_empty() {
            let by_process = by_process(tables, spans);
            for (process, spans) in by_process.iter().enumerate() {
                for (tid, spans) in by_thread(tables, spans) {
                    enclosing(spans.clone(), &mut sets, |row, set| {
                        let is_own = tid == thread(tables, row);
                        let known = &mut set_of_range[row as usize];
                        *known = if is_own { set } else { *known };
                    });
                    threads.insert((ProcessId(process as u32), tid), Timeline::of(spans, &mut sets));
                }
            }
            whole = by_process.into_iter().map(|spans| Timeline::of(spans, &mut sets)).collect();
        }
        let mut attribution =
            Self { names, sets, spaces: Vec::new(), space_of_process, set_of_range, whole, threads };
        attribution.spaces = (0..spaces.len()).map(|space| attribution.space(tables, space)).collect();
        attribution
    }

    /// Whether no range has any extent.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The methods in use, each once.
    pub(crate) fn methods(&self) -> Vec<RangeMethod> {
        let mut methods: Vec<_> = self.spaces.iter().filter_map(|space| space.method).collect();
        methods.sort_unstable();
        methods.dedup();
        methods
    }

    /// How the ops of a space are tied to ranges.
    pub(super) fn method(&self, space: usize) -> Option<RangeMethod> {
        self.spaces.get(space).and_then(|space| space.method)
    }

    /// The space of each process.
    pub(super) fn spaces(&self) -> &[usize] {
        &self.space_of_process
    }

    /// The names around an op, as positions in `names`.
    #[inline]
    pub(crate) fn op(&self, tables: &Tables, op: Op, cursor: &mut Cursor) -> &[u32] {
        &self.sets.get(self.set(tables, op, cursor)).names
    }

    /// The names of the ranges that were open when `process` did something at `start`, on whatever thread.
    pub(crate) fn moment(&self, process: ProcessId, start: i64, cursor: &mut Cursor) -> &[u32] {
        &self.sets.get(self.contained(process, start, cursor)).names
    }

    /// The names around a call: ranges of its thread, and those that belong to no thread.
    pub(crate) fn call(&self, tables: &Tables, row: usize) -> &[u32] {
        let calls = &tables.api_calls;
        let set = self.on_thread(calls.process.get(row), calls.tid.get(row), calls.start[row]);
        &self.sets.get(set).names
    }

    /// The names around a range, its own included.
    pub(crate) fn range(&self, row: usize) -> &[u32] {
        &self.sets.get(self.set_of_range[row]).names
    }

    /// The name of the innermost range around an op.
    pub(crate) fn innermost(&self, tables: &Tables, op: Op, cursor: &mut Cursor) -> Option<NameId> {
        self.sets.get(self.set(tables, op, cursor)).innermost.map(|name| self.names[name as usize])
    }

    #[inline]
    fn set(&self, tables: &Tables, op: Op, cursor: &mut Cursor) -> SetId {
        let process = tables.tracks.get(op.track(tables)).process;
        let Some(space) = self.space_of_process.get(process.index()).map(|&space| &self.spaces[space]) else {
            return EMPTY;
        };
        match space.method {
            None => EMPTY,
            Some(RangeMethod::Stored) => space.sets.get(op.range(tables)).unwrap_or(EMPTY),
            Some(RangeMethod::Linked) => space.sets.get(op.correlation(tables)).unwrap_or(EMPTY),
            Some(RangeMethod::Contained) => self.contained(process, op.start(tables), cursor),
        }
    }

    #[inline]
    fn contained(&self, process: ProcessId, start: i64, cursor: &mut Cursor) -> SetId {
        let Some(timeline) = self.whole.get(process.index()) else { return EMPTY };
        if cursor.0.len() < self.whole.len() {
            cursor.0.resize(self.whole.len(), 0);
        }
        timeline.at(start, &mut cursor.0[process.index()])
    }

    fn on_thread(&self, process: ProcessId, tid: Option<i64>, start: i64) -> SetId {
        let timeline = self.threads.get(&(process, tid)).or_else(|| self.threads.get(&(process, None)));
        timeline.map_or(EMPTY, |timeline| timeline.at(start, &mut 0))
    }

    /// Decides how the ops of a space are tied to ranges.
    fn space(&self, tables: &Tables, space: usize) -> Space {
        let of = |process: ProcessId| self.space_of_process.get(process.index()) == Some(&space);
        let nothing = || Lookup::of(Vec::new());
        let ranges = || tables.ranges.iter().enumerate().filter(|(_, range)| of(range.process));
        if self.is_empty() || !ranges().any(|(row, _)| self.set_of_range[row] != EMPTY) {
            return Space { method: None, sets: nothing() };
        }
        let stored = Lookup::of(ranges().map(|(row, range)| (range.id, self.set_of_range[row])).collect());
        let dispatches = &tables.dispatches;
        let tracks: Vec<bool> = tables.tracks.rows().iter().map(|track| of(track.process)).collect();
        let in_space = |row: &usize| tracks[dispatches.track[*row].index()];
        let copies = || tables.copies.iter().filter(|copy| tracks[copy.track.index()]);
        let carries_range = |id: Id| id != 0 && stored.get(id).is_some();
        if dispatches.range.uniform() != Some(0)
            && (0..dispatches.len()).filter(in_space).any(|row| carries_range(dispatches.range.get(row)))
            || copies().any(|copy| carries_range(copy.range))
        {
            return Space { method: Some(RangeMethod::Stored), sets: stored };
        }
        let linked = self.linked(tables, of);
        let carries_link = |id: Id| linked.get(id).is_some();
        if dispatches.correlation.uniform() != Some(0)
            && (0..dispatches.len()).filter(in_space).any(|row| carries_link(dispatches.correlation.get(row)))
            || copies().any(|copy| carries_link(copy.correlation))
        {
            return Space { method: Some(RangeMethod::Linked), sets: linked };
        }
        Space { method: Some(RangeMethod::Contained), sets: nothing() }
    }

    /// For each correlation id the ranges around its call; of several calls the first one made.
    fn linked(&self, tables: &Tables, of: impl Fn(ProcessId) -> bool) -> Lookup {
        let calls = &tables.api_calls;
        let mut hints: FxHashMap<(ProcessId, Option<i64>), usize> = FxHashMap::default();
        let mut found: Vec<(Id, i64, Option<i64>, SetId)> = Vec::new();
        for row in 0..calls.len() {
            let (process, tid, start) = (calls.process.get(row), calls.tid.get(row), calls.start[row]);
            let correlation = calls.correlation.get(row);
            if correlation == 0 || !of(process) {
                continue;
            }
            let timeline = self.threads.get(&(process, tid)).or_else(|| self.threads.get(&(process, None)));
            let hint = hints.entry((process, tid)).or_default();
            let set = timeline.map_or(EMPTY, |timeline| timeline.at(start, hint));
            found.push((correlation, start, tid, set));
        }
        found.sort_unstable();
        Lookup::of(found.into_iter().map(|(correlation, _, _, set)| (correlation, set)).collect())
    }
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

/// The thread that a range belongs to; start and stop may come from any.
fn thread(tables: &Tables, row: u32) -> Option<i64> {
    let range = &tables.ranges[row as usize];
    range.tid.filter(|_| range.kind != RangeKind::Process)
}
