//! Time before the first op, which no wall time of a GPU has: the host prepared something, and the GPU had nothing to do.

use rtl_schema::{NameId, Tables};
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use super::words::{percent, time};
use crate::base::ops::Op;
use crate::idle::{Cause, cause_of_function};
use crate::names::span_names::span_name;

/// From this part of the step on it is stated.
const NOTABLE: f64 = 0.1;

/// The beginning of the category of a step of torch.profiler.
const STEP: &str = "ProfilerStep";

/// The time before the first op, and where most of it went.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct BeforeFirst {
    /// From the start of `within` until the first op was launched, in ns.
    pub ns: i64,
    /// `ns` as a part of the time of `within`, 0 to 1.
    pub share: f64,
    /// The step with the first op, such as `ProfilerStep#6`; without one the recording, up to the end of the last op.
    pub within: Option<String>,
    /// The innermost function, operator, range or call with at least half of `ns`.
    pub place: Option<String>,
}

/// A row of the host.
#[derive(Debug, Clone, Copy)]
struct Row {
    name: NameId,
    start: i64,
    end: i64,
    is_of_thread: bool,
}

impl BeforeFirst {
    /// `Before its first op the GPU had nothing to do for 218 ms of ProfilerStep#6 (57.0 %), most at preprocess`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let of = match &self.within {
            Some(step) => format!(" of {step} ({})", percent(self.share)),
            None => String::new(),
        };
        let place = self.place.as_ref().map_or_else(String::new, |place| format!(", most at {place}"));
        format!("Before its first op the GPU had nothing to do for {}{of}{place}", time(self.ns))
    }

    /// The time before the first op of a trace of one process; `None` where that is short, where nothing ties the op to a call, and
    /// where the host waited for a GPU that must have been busy.
    pub(super) fn of(inputs: &Inputs<'_>) -> Option<Self> {
        Self::measure(inputs).filter(|(_, waited)| !waited).map(|(before, _)| before)
    }

    /// The time before the first op, and whether the host waited for a GPU for most of it.
    pub(super) fn measure(inputs: &Inputs<'_>) -> Option<(Self, bool)> {
        let tables = inputs.analysis.tables;
        let [process] = inputs.analysis.processes()[..] else { return None };
        let ops = inputs.analysis.order().agents.iter().min_by_key(|ops| ops.base(tables))?;
        let (start, end) = (ops.base(tables), ops.end);
        let first = ops.ops().find(|op| op.start(tables) == start)?;
        let call = call(tables, first)?;
        let calls = &tables.api_calls;
        let returned = calls.start[call].saturating_add(calls.duration.valid(call).unwrap_or(0));
        let until = returned.min(start);
        let step = tables.ranges.iter().find_map(|range| {
            let category = if range.category.is_some() { range.category } else { range.name };
            let label = tables.strings.get(category);
            let length = range.duration?;
            let holds =
                range.start <= calls.start[call] && calls.start[call].saturating_sub(range.start) < length;
            (holds && range.process == process && label.starts_with(STEP))
                .then(|| (range.start, length, label.to_owned()))
        });
        let begin = match &step {
            Some((begin, ..)) => *begin,
            None => rows(tables, call).map(|row| row.start).min()?,
        };
        let (ns, of) = (
            until.saturating_sub(begin),
            step.as_ref().map_or(end.saturating_sub(begin), |(_, length, _)| *length),
        );
        if ns <= 0 || (ns as f64) < NOTABLE * of as f64 {
            return None;
        }
        let overlap = |row: &Row| row.end.min(until).saturating_sub(row.start.max(begin)).max(0);
        let waits = |row: &Row| cause_of_function(tables.strings.get(row.name)) == Some(Cause::Synchronise);
        let of_calls = (0..calls.len()).map(|at| call_row(tables, at, call));
        let waited: i64 =
            of_calls.filter(|row| row.start < until && waits(row)).map(|row| overlap(&row)).sum();
        let innermost = rows(tables, call)
            .filter(|row| row.is_of_thread && overlap(row) >= ns - ns / 2)
            .min_by_key(|row| (row.end.saturating_sub(row.start), row.start));
        // A recorder that prepares records nothing.
        if step.is_none() && innermost.is_none() && waited <= ns / 2 {
            return None;
        }
        let before = Self {
            ns,
            share: ns as f64 / of as f64,
            within: step.map(|(.., label)| label),
            place: innermost.map(|row| span_name(tables.strings.get(row.name)).into_owned()),
        };
        Some((before, waited > ns / 2))
    }
}

/// The call that launched an op.
fn call(tables: &Tables, op: Op) -> Option<usize> {
    let (calls, correlation) = (&tables.api_calls, op.correlation(tables));
    let is_it = |row: &usize| correlation != 0 && calls.correlation.get(*row) == correlation;
    (0..calls.len()).filter(is_it).min_by_key(|&row| calls.start[row])
}

fn call_row(tables: &Tables, row: usize, of_thread: usize) -> Row {
    let calls = &tables.api_calls;
    let (name, start) = (calls.name[row], calls.start[row]);
    let end = start.saturating_add(calls.duration.valid(row).unwrap_or(0));
    Row { name, start, end, is_of_thread: calls.tid.get(row) == calls.tid.get(of_thread) }
}

/// Calls, operators, Python functions and ranges, but steps.
fn rows(tables: &Tables, call: usize) -> impl Iterator<Item = Row> {
    let thread = tables.api_calls.tid.get(call);
    let row = move |name, start: i64, duration: Option<i64>, tid| Row {
        name,
        start,
        end: start.saturating_add(duration.unwrap_or(0)),
        is_of_thread: tid == thread,
    };
    let (operators, frames) = (&tables.operators, &tables.python_frames);
    let of_calls = (0..tables.api_calls.len()).map(move |at| call_row(tables, at, call));
    let of_operators = (0..operators.len()).map(move |at| {
        row(operators.name[at], operators.start[at], operators.duration.valid(at), operators.tid.get(at))
    });
    let of_frames = (0..frames.len())
        .map(move |at| row(frames.name[at], frames.start[at], frames.duration.valid(at), frames.tid.get(at)));
    let ranges = tables
        .ranges
        .iter()
        .filter(|range| !range.is_marker() && !tables.strings.get(range.name).starts_with(STEP));
    let of_ranges = ranges.map(move |range| row(range.name, range.start, range.duration, range.tid));
    of_calls.chain(of_operators).chain(of_frames).chain(of_ranges)
}
