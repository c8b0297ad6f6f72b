//! A recording in which the profiler itself takes much of the time.
//!
//! torch.profiler makes each call and each operator longer, and states only some of that as rows of its own. The cost per operator
//! differs by what is recorded, so it follows from the trace: the time that passes before the first operator within another one
//! and behind the last is that of the profiler where it is shortest. Measured with and without the profiler, the whole cost is
//! about three times that.

use rtl_schema::table::SpanKind;
use rtl_schema::{Dialect, NameId, Tables};

use super::reason::Reason;
use crate::Analysis;
use crate::base::union_length::UnionLength;

/// From this part of the time.
const MUCH: f64 = 0.5;

/// The cost of a recorded call of the runtime, in ns.
const CALL: i64 = 2_000;

/// The cost of a recorded operator in ns, where none is within another one.
const OPERATOR: i64 = 3_000;

/// No operator costs more, in ns.
const MOST: i64 = 8_000;

/// The whole cost of an operator as a multiple of the shortest times around operators within it, in tenths: the median of
/// eight loops with and without the profiler, which were between 17 and 80. No loop was kept apart to test it.
const TENTHS: i64 = 32;

/// Times as short as one in this many are those of operators that do nothing beside.
const SHORTEST: usize = 10;

/// Fewer operators within others show no shortest time.
const ENOUGH: usize = 100;

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
    let processes = tables.processes.len().max(1) as i64;
    let is_much = |cost: i64| cost as f64 >= MUCH * wall as f64;
    if wall == 0 || !is_much(idle) {
        return None;
    }
    let first = gpus.iter().map(|gpu| gpu.start_ns).min()?;
    let last = gpus.iter().map(|gpu| gpu.end_ns).max()?;
    let stated = stated(tables, first, last);
    let cost = |calls: i64, operators: i64, operator: i64| {
        let events = (calls * CALL).saturating_add(operators * operator);
        stated.saturating_add(events) / processes
    };
    let (all_calls, all_operators) = (tables.api_calls.len() as i64, tables.operators.len() as i64);
    if !is_much(cost(all_calls, all_operators, MOST)) {
        return None;
    }
    let within = |starts: &[i64]| starts.iter().filter(|start| (first..last).contains(start)).count() as i64;
    let (calls, operators) = (within(&tables.api_calls.start), within(&tables.operators.start));
    if !is_much(cost(calls, operators, MOST)) {
        return None;
    }
    let operator = operator_cost(tables);
    let cost = cost(calls, operators, operator).min(idle);
    let sentence = format!(
        "the profiler itself takes about {:.0} % of the time: {calls} calls at about 2 us and {operators} operators at about \
         {:.0} us each; without it the program is faster",
        cost as f64 / wall as f64 * 100.0,
        operator as f64 / 1_000.0,
    );
    is_much(cost).then(|| Reason::new("profiler-cost", cost.unsigned_abs(), wall.unsigned_abs(), sentence))
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

/// An operator in which others may be.
#[derive(Debug, Clone, Copy)]
struct Open {
    start: i64,
    end: i64,
    /// The end of the last operator within it.
    inner_end: Option<i64>,
}

/// The estimated cost of recording an operator, in ns.
fn operator_cost(tables: &Tables) -> i64 {
    let operators = &tables.operators;
    let mut rows: Vec<_> = (0..operators.len())
        .filter_map(|row| {
            let (start, length) = (operators.start[row], operators.duration.valid(row)?);
            Some((operators.process.get(row), operators.tid.get(row), start, -length))
        })
        .collect();
    rows.sort_unstable();
    let (mut before, mut behind) = (Vec::new(), Vec::new());
    for thread in rows.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        let mut open: Vec<Open> = Vec::new();
        let close = |done: Open, behind: &mut Vec<i64>| {
            behind.extend(done.inner_end.map(|end| done.end.saturating_sub(end)));
        };
        for &(.., start, negative) in thread {
            let end = start.saturating_sub(negative);
            while let Some(done) = open.pop_if(|outer| outer.end <= start) {
                close(done, &mut behind);
            }
            if let Some(outer) = open.last_mut() {
                if outer.inner_end.is_none() {
                    before.push(start - outer.start);
                }
                outer.inner_end = Some(end);
            }
            open.push(Open { start, end, inner_end: None });
        }
        open.into_iter().for_each(|done| close(done, &mut behind));
    }
    let shortest = |mut times: Vec<i64>| {
        let at = times.len() / SHORTEST;
        (times.len() >= ENOUGH).then(|| *times.select_nth_unstable(at).1)
    };
    let (Some(before), Some(behind)) = (shortest(before), shortest(behind)) else { return OPERATOR };
    ((before + behind).max(0).saturating_mul(TENTHS) / 10).min(MOST)
}
