//! A recording in which the profiler itself takes much of the time.
//!
//! torch.profiler makes each call and each operator longer, and states only some of that as rows of its own. Of twelve loops that were
//! timed with and without it, a call took 1 to 4 us longer and an operator 1 to 6 us, so no constant tells how much it is. But the
//! loops for which [`CALL`] and [`OPERATOR`] come to a quarter of the host's time or more were all slowed by 22 % to 55 %, and
//! of the others, one whose first steps were slow apart, by at most 20 %.

use rtl_schema::table::SpanKind;
use rtl_schema::{Dialect, NameId, Tables};

use super::reason::Reason;
use crate::Analysis;
use crate::base::union_length::UnionLength;

/// From this part of the time in which the host works.
const MUCH: f64 = 0.25;

/// Nor is it much below this part of the wall time.
const LEAST: f64 = 0.05;

/// The usual cost of a recorded call of the runtime, in ns.
const CALL: i64 = 2_000;

/// The usual cost of a recorded operator, in ns.
const OPERATOR: i64 = 3_000;

/// The host works in this time in ns if it begins a call or an operator.
const SLICE: u64 = 200_000;

/// A long time has longer slices, at most this number of them.
const SLICES: u64 = 1 << 20;

pub(super) fn reason(analysis: &Analysis<'_>) -> Option<Reason> {
    let tables = analysis.tables;
    if tables.info.dialect != Dialect::Kineto {
        return None;
    }
    let gpus = &analysis.sweep().gpus;
    let sum = |time: fn(&crate::gpu_time::sweep::Gpu) -> i64| {
        gpus.iter().fold(0, |sum: i64, gpu| sum.saturating_add(time(gpu))) / gpus.len().max(1) as i64
    };
    // The profiler costs a GPU with enough work in its queue nothing.
    let (wall, idle) = (sum(|gpu| gpu.wall_ns), sum(|gpu| gpu.idle_ns));
    let is_worth = |cost: i64| wall > 0 && cost as f64 >= LEAST * wall as f64;
    if !is_worth(idle) {
        return None;
    }
    let first = gpus.iter().map(|gpu| gpu.start_ns).min()?;
    let last = gpus.iter().map(|gpu| gpu.end_ns).max()?;
    let stated = stated(tables, first, last);
    let mut slices = Slices::new(first, last);
    let calls = slices.add(&tables.api_calls.start);
    let operators = slices.add(&tables.operators.start);
    let processes = analysis.processes().len().max(1) as i64;
    let events = (calls * CALL).saturating_add(operators * OPERATOR);
    let works = slices.worked_ns().saturating_add(stated).min(wall);
    // Idle time while the host does nothing is no cost of the profiler.
    let cost = (stated.saturating_add(events) / processes).min(idle.saturating_sub(wall - works));
    let sentence = format!(
        "the profiler itself takes a fifth to a half of the time in which the host works: recording its {} calls and operators makes each \
         1 to 6 us longer; without the profiler the program is faster",
        calls + operators,
    );
    let reason = || Reason::new("profiler-cost", cost.unsigned_abs(), works.unsigned_abs(), sentence);
    (is_worth(cost) && cost as f64 >= MUCH * works as f64).then(reason)
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
