//! A recording in which the profiler itself takes much of the time.
//!
//! torch.profiler makes each call and each operator longer, and states only some of that as rows of its own. How much longer differs
//! with the machine, and the duration of an operator that does next to nothing ([`SCALE`]) differs with it.
//! docs/reference/trust.md states how well the estimate fits loops that were timed with and without the profiler.

use rtl_schema::table::SpanKind;
use rtl_schema::{Dialect, NameId, Tables};

use super::reason::Reason;
use crate::Analysis;
use crate::base::union_length::UnionLength;

/// The rule, whose sentence findings on a slow host repeat.
pub(crate) const ID: &str = "profiler-cost";

/// From this part of the wall time the estimate, which may be too low by a tenth, stands for half of it.
const MUCH: f64 = 0.4;

/// Less is not stated.
const LEAST: f64 = 0.1;

/// An operator that only describes a tensor anew: most of what it takes is the profiler's.
const SCALE: &str = "aten::as_strided";

/// A recorded event makes the program longer by a multiple of what [`SCALE`] takes.
const SCALES: i64 = 5;

/// Fewer of them say nothing.
const LEAST_SCALES: usize = 20;

/// The usual cost of a recorded call of the runtime in ns, where [`SCALE`] does not run.
const CALL: i64 = 2_000;

/// That of a recorded operator.
const OPERATOR: i64 = 3_000;

/// The host works in this time in ns if it begins a call or an operator.
const SLICE: u64 = 200_000;

/// A long time has longer slices, at most this number of them.
const SLICES: u64 = 1 << 20;

/// Time that the profiler takes, as far as the GPU waits for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    cost_ns: i64,
    wall_ns: i64,
    /// The calls and operators that were recorded, and the Python functions.
    events: i64,
    frames: i64,
}

impl Cost {
    /// The part of the wall time, 0 to 1.
    pub(crate) fn share(self) -> f64 {
        self.cost_ns as f64 / self.wall_ns.max(1) as f64
    }
}

/// The cost of torch.profiler, unless it is small.
pub(crate) fn cost(analysis: &Analysis<'_>) -> Option<Cost> {
    let tables = analysis.tables;
    if tables.info.dialect != Dialect::Kineto {
        return None;
    }
    let gpus = &analysis.sweep().gpus;
    let sum = |time: fn(&crate::gpu_time::sweep::Gpu) -> i64| {
        gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(time(gpu))) / gpus.len().max(1) as i64
    };
    // The profiler costs a GPU with enough work in its queue nothing.
    let (wall_ns, idle_ns) = (sum(|gpu| gpu.wall_ns), sum(|gpu| gpu.idle_ns));
    let is_worth = |cost: i64| wall_ns > 0 && cost as f64 >= LEAST * wall_ns as f64;
    if !is_worth(idle_ns) {
        return None;
    }
    let first = gpus.iter().map(|gpu| gpu.start_ns).min()?;
    let last = gpus.iter().map(|gpu| gpu.end_ns).max()?;
    let stated = stated(tables, first, last);
    let mut slices = Slices::new(first, last);
    let calls = slices.add(&tables.api_calls.start);
    let operators = slices.add(&tables.operators.start);
    let processes = analysis.processes().len().max(1) as i64;
    let events = match scale(tables) {
        Some(scale) => (calls + operators).saturating_mul(SCALES).saturating_mul(scale),
        None => (calls * CALL).saturating_add(operators * OPERATOR),
    };
    let works_ns = slices.worked_ns().saturating_add(stated).min(wall_ns);
    // Idle time while the host does nothing is no cost of the profiler.
    let cost_ns = (stated.saturating_add(events) / processes).min(idle_ns.saturating_sub(wall_ns - works_ns));
    let frames = slices.add(&tables.python_frames.start);
    is_worth(cost_ns).then_some(Cost { cost_ns, wall_ns, events: calls + operators, frames })
}

pub(super) fn reason(analysis: &Analysis<'_>) -> Option<Reason> {
    let cost = cost(analysis)?;
    let frames = match cost.frames {
        0 => String::new(),
        frames => format!(", {} Python functions", grouped(frames)),
    };
    let sentence = format!(
        "about {:.0} % of the wall time is torch.profiler itself ({} calls and operators{frames})",
        100.0 * cost.share(),
        grouped(cost.events),
    );
    let (count, of) = (cost.cost_ns.unsigned_abs(), cost.wall_ns.unsigned_abs());
    Some(Reason::new(ID, count, of, sentence).remark_below(MUCH))
}

/// A count with thousands separators: `43,915`.
fn grouped(count: i64) -> String {
    let digits = count.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).collect();
    let text = |group: &&[u8]| String::from_utf8_lossy(group).into_owned();
    groups.iter().rev().map(text).collect::<Vec<_>>().join(",")
}

/// The median duration of [`SCALE`] in ns.
fn scale(tables: &Tables) -> Option<i64> {
    let scale = tables.strings.lookup(SCALE)?;
    let operators = &tables.operators;
    let scales = (0..operators.len()).filter(|&at| operators.name[at] == scale);
    let mut durations: Vec<i64> = scales.filter_map(|at| operators.duration.get(at)).collect();
    if durations.len() < LEAST_SCALES {
        return None;
    }
    let middle = durations.len() / 2;
    Some(*durations.select_nth_unstable(middle).1)
}

/// The time between two moments in slices: whether the host began something in each.
#[derive(Debug)]
struct Slices {
    first: i64,
    last: i64,
    length: u64,
    begun: Vec<bool>,
}

impl Slices {
    fn new(first: i64, last: i64) -> Self {
        let time = last.abs_diff(first);
        let length = SLICE.max(time / SLICES + 1);
        Self { first, last, length, begun: vec![false; (time / length + 1) as usize] }
    }

    /// Marks the slices in which these began, and returns how many did between the two moments.
    fn add(&mut self, starts: &[i64]) -> i64 {
        let mut count = 0;
        for start in starts.iter().filter(|start| (self.first..self.last).contains(start)) {
            self.begun[(start.abs_diff(self.first) / self.length) as usize] = true;
            count += 1;
        }
        count
    }

    fn worked_ns(&self) -> i64 {
        let begun = self.begun.iter().filter(|begun| **begun).count() as u64;
        i64::try_from(begun.saturating_mul(self.length)).unwrap_or(i64::MAX)
    }
}

/// CUPTI also states work that is not its own: that of the runtime, which the program needs, and waits for a queue that is full.
const OF_THE_PROGRAM: [&str; 3] = ["Loading", "Compiler", "Command Buffer Full"];

/// The time from a moment to another that the profiler states for itself, in ns.
fn stated(tables: &Tables, first: i64, last: i64) -> i64 {
    let is_own = |name: NameId| {
        let name = tables.strings.get(name);
        !OF_THE_PROGRAM.iter().any(|part| name.contains(part))
    };
    let mut rows: Vec<(i64, i64)> = tables
        .spans
        .iter()
        .filter(|span| span.kind == SpanKind::Overhead && is_own(span.name))
        .filter_map(|span| {
            let end = span.start.saturating_add(span.duration?).min(last);
            let start = span.start.max(first);
            (start < end).then_some((start, end))
        })
        .collect();
    rows.sort_unstable();
    let mut union = UnionLength::default();
    for (start, end) in rows {
        union.add(start.abs_diff(first), end.abs_diff(first));
    }
    union.length_ns()
}
