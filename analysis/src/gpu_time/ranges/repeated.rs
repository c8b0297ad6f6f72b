//! Ranges of one name that come again and again, and which of them each dispatch belongs to.

use std::sync::OnceLock;

use rtl_schema::{NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

use super::attribution::{LastTied, RangeMethod, Ties, linked};
use super::methods::Methods;
use crate::base::lookup::Lookup;
use crate::base::ops::Op;

/// The name of torch.profiler's steps.
const PROFILER_STEP: &str = "ProfilerStep";
const LEAST_PROFILER_STEPS: usize = 2;

/// torch.profiler marks collectives with ranges, which are no steps.
const COLLECTIVE: &str = "nccl:";

/// The ranges of one name, numbered in each process by their start; they come one after the other there.
#[derive(Debug)]
pub(crate) struct Repeated {
    pub(crate) name: NameId,
    /// Start and end of each by process, in ns.
    spans: Vec<Vec<(i64, i64)>>,
    ties: Ties,
    /// By number, once a label was asked for.
    categories: OnceLock<Vec<NameId>>,
}

impl Repeated {
    /// The ranges that all of `processes` went through equally often, `least` times at least; of several names the one
    /// with the most time. Two steps of torch.profiler are enough, and come before all others.
    pub(crate) fn new(methods: &Methods<'_>, processes: &[ProcessId], least: usize) -> Option<Self> {
        let tables = methods.tables;
        let mut by_name: FxHashMap<NameId, Vec<(ProcessId, i64, i64)>> = FxHashMap::default();
        for range in tables.ranges.iter().filter(|range| !range.is_marker()) {
            if let Some(length) = range.duration.filter(|&length| length > 0) {
                let end = range.start.saturating_add(length);
                by_name.entry(range.name).or_default().push((range.process, range.start, end));
            }
        }
        let mut best: Option<((bool, i64), &str, NameId)> = None;
        for (&name, all) in &mut by_name {
            all.sort_unstable();
            let text = tables.strings.get(name);
            let is_step = text == PROFILER_STEP;
            let least = if is_step { least.min(LEAST_PROFILER_STEPS) } else { least };
            if text.starts_with(COLLECTIVE)
                || !processes.iter().all(|&process| of_process(all, process).len() >= least)
                || !is_even(all, processes)
            {
                continue;
            }
            let time = processes
                .iter()
                .flat_map(|&process| of_process(all, process))
                .fold(0, |sum: i64, &(_, start, end)| sum.saturating_add(end.saturating_sub(start)));
            // Of equal ones the first by name.
            let key = (is_step, time);
            if best.is_none_or(|(most, first, _)| key > most || key == most && text < first) {
                best = Some((key, text, name));
            }
        }
        let (_, _, name) = best?;
        let mut spans = vec![Vec::new(); tables.processes.len()];
        for (process, start, end) in by_name.remove(&name)? {
            if let Some(spans) = spans.get_mut(process.index()) {
                spans.push((start, end));
            }
        }
        let by_space = methods.by_space();
        // The space of a process whose ops are tied by `method`, with the number of its range at a moment.
        let number = |method: RangeMethod, process: ProcessId, moment| {
            let space = by_space.space(method, process)?;
            Some((space, number_at(&spans, process, moment)?))
        };
        let mut of_ranges = vec![Vec::new(); by_space.methods.len()];
        for range in &tables.ranges {
            if let Some((space, number)) = number(RangeMethod::Stored, range.process, range.start) {
                of_ranges[space].push((range.id, number));
            }
        }
        let of_calls = linked(tables, by_space.methods.len(), |process, _, start| {
            number(RangeMethod::Linked, process, start)
        });
        let numbers = by_space.methods.iter().zip(of_ranges).zip(of_calls);
        let spaces = numbers.map(|((method, of_ranges), of_calls)| match method {
            Some(RangeMethod::Linked) => (*method, of_calls),
            _ => (*method, Lookup::of(of_ranges)),
        });
        let ties = Ties { spaces: spaces.collect(), space_of_process: by_space.space_of_process.clone() };
        Some(Self { name, spans, ties, categories: OnceLock::new() })
    }

    /// Returns whether ops of some process are tied to ranges by nothing but their start.
    pub(crate) fn is_by_start(&self) -> bool {
        self.ties.spaces.iter().any(|(method, _)| *method == Some(RangeMethod::Contained))
    }

    /// Returns whether these are the steps of the run: where torch.profiler marks steps, ranges of another name are none.
    pub(crate) fn are_steps(&self, tables: &Tables) -> bool {
        tables.strings.get(self.name) == PROFILER_STEP
            || !tables.strings.iter().any(|(_, text)| text == PROFILER_STEP)
    }

    pub(crate) fn count(&self, process: ProcessId) -> usize {
        self.spans.get(process.index()).map_or(0, Vec::len)
    }

    /// The number of the range that is open in a process at a moment.
    pub(crate) fn of_moment(&self, process: ProcessId, moment: i64) -> Option<usize> {
        number_at(&self.spans, process, moment).map(|number| number as usize)
    }

    /// Start and end of a process's range in ns.
    pub(crate) fn span(&self, process: ProcessId, number: usize) -> Option<(i64, i64)> {
        self.spans.get(process.index())?.get(number).copied()
    }

    /// Returns the label of one range: its category where that has a number (torch.profiler), else its name and its number
    /// from 1.
    pub(crate) fn label(&self, tables: &Tables, number: usize) -> String {
        let category = self.categories.get_or_init(|| self.categories(tables)).get(number);
        let name = tables.strings.get(self.name);
        let category =
            category.filter(|category| category.is_some()).map(|&category| tables.strings.get(category));
        match category.filter(|category| category.starts_with(name)) {
            Some(category) => category.to_owned(),
            None => format!("{name} {}", number + 1),
        }
    }

    /// The category of each range by number, in the first process that has that number: all are found in one pass.
    fn categories(&self, tables: &Tables) -> Vec<NameId> {
        let mut first: Vec<(ProcessId, i64)> = Vec::new();
        for (spans, process) in self.spans.iter().zip(0..) {
            let further = spans.get(first.len()..).unwrap_or_default();
            first.extend(further.iter().map(|&(start, _)| (ProcessId(process), start)));
        }
        let mut categories: FxHashMap<(ProcessId, i64), NameId> = FxHashMap::default();
        for range in tables.ranges.iter().filter(|range| range.name == self.name) {
            categories.entry((range.process, range.start)).or_insert(range.category);
        }
        first.iter().map(|range| categories.get(range).copied().unwrap_or(NameId::NONE)).collect()
    }

    /// The number of the range that a dispatch was launched in, or ran in where nothing ties it to its launch.
    #[inline]
    pub(crate) fn of_dispatch(&self, tables: &Tables, row: usize) -> Option<usize> {
        self.of_op(tables, Op { copy: false, row: row as u32 })
    }

    /// As [`Self::of_dispatch`] for any op.
    #[inline]
    pub(crate) fn of_op(&self, tables: &Tables, op: Op) -> Option<usize> {
        self.of_next_op(tables, op, &mut LastTied::default())
    }

    /// As [`Self::of_op`] for one op after the other.
    #[inline]
    pub(crate) fn of_next_op(&self, tables: &Tables, op: Op, last: &mut LastTied) -> Option<usize> {
        let contained = |process, moment| number_at(&self.spans, process, moment);
        self.ties.number(tables, op, last, contained).map(|number| number as usize)
    }
}

/// The number of the range that is open in a process at a moment, of spans by process.
fn number_at(spans: &[Vec<(i64, i64)>], process: ProcessId, moment: i64) -> Option<u32> {
    let spans = spans.get(process.index())?;
    let number = spans.partition_point(|&(start, _)| start <= moment).checked_sub(1)?;
    (moment < spans[number].1).then_some(number as u32)
}

/// The spans of one process, of spans sorted by process.
fn of_process(all: &[(ProcessId, i64, i64)], process: ProcessId) -> &[(ProcessId, i64, i64)] {
    let begin = all.partition_point(|span| span.0 < process);
    &all[begin..begin + all[begin..].partition_point(|span| span.0 == process)]
}

/// Returns whether all processes went through equally many ranges, one after the other.
fn is_even(all: &[(ProcessId, i64, i64)], processes: &[ProcessId]) -> bool {
    let count = processes.first().map_or(0, |&process| of_process(all, process).len());
    let pair = |pair: &[(ProcessId, i64, i64)]| follows((pair[0].1, pair[0].2), (pair[1].1, pair[1].2));
    processes.iter().all(|&process| {
        let spans = of_process(all, process);
        spans.len() == count && spans.windows(2).all(pair)
    })
}

/// Returns whether a range comes after another: one that begins in the first half of it is beside it, on another thread.
fn follows((start, end): (i64, i64), (next_start, next_end): (i64, i64)) -> bool {
    next_start >= start.saturating_add(end.saturating_sub(start) / 2) && next_end >= end
}
