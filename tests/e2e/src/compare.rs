//! Compares the accounts of a run with each other.

use std::collections::BTreeMap;

use crate::account::{ExecutedDispatch, ReportedDispatch};
use crate::outcome::Outcome;
use crate::trace::{Row, Trace};

/// Two ticks of 10 ns, the largest error of translating a time from a GPU's clock to the system's.
pub const TWO_TICKS: i64 = 20;

/// Demangles the names of [`crate::process::KERNELS`] and of `tests/programs/kernels.cl`; leaves names of C alone.
#[must_use]
pub fn spoken(name: &str) -> &str {
    match name {
        "_Z5gammaPKfPf" => "gamma(float const*, float*)",
        "_ZN4test4axpyIfEEvPT_PKS1_i" => "void test::axpy<float>(float*, float const*, int)",
        "_ZN4test4axpyIdEEvPT_PKS1_i" => "void test::axpy<double>(double*, double const*, int)",
        other => other,
    }
}

/// Checks that the trace has every dispatch that the program reported, under its name, with the times at which it was executed
/// and which the runtime reported, and no others.
#[track_caller]
pub fn assert_complete(outcome: &Outcome) -> Trace {
    assert_complete_within(outcome, TWO_TICKS)
}

/// Checks what [`assert_complete`] does, where times may differ by `tolerance` ns.
#[track_caller]
pub fn assert_complete_within(outcome: &Outcome, tolerance: i64) -> Trace {
    let trace = outcome.trace();
    assert_eq!(trace.left_out(), BTreeMap::new(), "nothing is left out");
    assert_eq!(trace.rows.len(), outcome.reported.len(), "every dispatch is there");
    assert_executed_within(outcome, &trace, tolerance);
    assert_adds_up(&trace, outcome.reported.len() as i64);
    trace
}

/// Checks that all rows of the trace are true, and that its counts add up.
#[track_caller]
pub fn assert_true(outcome: &Outcome, trace: &Trace) {
    assert_executed(outcome, trace);
    assert_adds_up(trace, outcome.reported.len() as i64);
}

/// Checks that each row of the trace is a dispatch of its own that the program reported and the simulator executed.
#[track_caller]
pub fn assert_executed(outcome: &Outcome, trace: &Trace) {
    assert_executed_within(outcome, trace, TWO_TICKS);
}

#[track_caller]
fn assert_executed_within(outcome: &Outcome, trace: &Trace, tolerance: i64) {
    let reported: BTreeMap<i64, &ReportedDispatch> =
        outcome.reported.iter().map(|dispatch| (dispatch.number, dispatch)).collect();
    assert_eq!(reported.len(), outcome.reported.len(), "the program counts its dispatches");
    let mut seen = BTreeMap::new();
    for row in &trace.rows {
        let dispatch = reported.get(&row.grid).unwrap_or_else(|| panic!("never dispatched: {row:?}"));
        assert_eq!(seen.insert(row.grid, row), None, "twice in the trace");
        assert_eq!((row.gpu, row.name.as_str()), (dispatch.gpu, spoken(&dispatch.kernel)), "{row:?}");
        assert_eq!(row.workgroup, 64, "{row:?}");
        let signal = format!("hwq={:#x} wg=64,1,1 grid={},1,1", row.queue, row.grid);
        assert_eq!(row.completion_signal, signal);
        if let Some(time) = dispatch.time {
            assert!(is_near((row.start, row.end), time, tolerance), "the runtime reported {time:?}: {row:?}");
        }
    }
    assert_each_executed(&outcome.executed, &reported, &trace.rows, tolerance);
}

#[track_caller]
fn assert_each_executed(
    executed: &[ExecutedDispatch],
    reported: &BTreeMap<i64, &ReportedDispatch>,
    rows: &[Row],
    tolerance: i64,
) {
    let mut left: BTreeMap<(i64, u64), Vec<(i64, i64)>> = BTreeMap::new();
    for dispatch in executed {
        left.entry((dispatch.gpu, dispatch.object)).or_default().push((dispatch.start, dispatch.end));
    }
    left.values_mut().for_each(|times| times.sort_unstable());
    for row in rows {
        let times = left.get_mut(&(row.gpu, reported[&row.grid].object));
        let times = times.unwrap_or_else(|| panic!("never executed: {row:?}"));
        let first = times.partition_point(|&(start, _)| start < row.start - tolerance);
        let found = times[first..].iter().take_while(|&&(start, _)| start <= row.start + tolerance);
        let found = found.clone().position(|&time| is_near(time, (row.start, row.end), tolerance));
        let found = found.unwrap_or_else(|| panic!("not executed then: {row:?}"));
        times.remove(first + found);
    }
}

pub(crate) fn is_near(one: (i64, i64), other: (i64, i64), tolerance: i64) -> bool {
    (one.0 - other.0).abs() <= tolerance && (one.1 - other.1).abs() <= tolerance
}

/// Checks, for programs that report nothing, that the trace has every dispatch that was executed on a queue of the program, under
/// its name and with its times, and no others, except those that it counts as left out.
#[track_caller]
pub fn assert_has_what_was_executed(outcome: &Outcome, trace: &Trace) {
    let mut left: BTreeMap<(i64, &str), Vec<(i64, i64)>> = BTreeMap::new();
    let programs: Vec<&ExecutedDispatch> =
        outcome.executed.iter().filter(|dispatch| dispatch.is_of_program).collect();
    for dispatch in &programs {
        let times = left.entry((dispatch.gpu, spoken(&dispatch.kernel))).or_default();
        times.push((dispatch.start, dispatch.end));
    }
    for row in &trace.rows {
        let time = (row.start, row.end);
        let times = left.get_mut(&(row.gpu, row.name.as_str()));
        let times = times.unwrap_or_else(|| panic!("never executed: {row:?}"));
        let found = times.iter().position(|&executed| is_near(executed, time, TWO_TICKS));
        times.swap_remove(found.unwrap_or_else(|| panic!("not executed then: {row:?}")));
    }
    assert_adds_up(trace, programs.len() as i64);
}

/// Checks that every dispatch that was seen is recorded, or left out for a named reason.
#[track_caller]
pub fn assert_adds_up(trace: &Trace, dispatches: i64) {
    let left_out = |kind: &str| -> i64 {
        let reasons = trace.left_out().into_iter().filter(|(tag, _)| kind_of(tag) == kind);
        reasons.map(|(_, count)| count).sum()
    };
    let counts = (trace.count("seen"), trace.count("recorded") + left_out(""), trace.count("recorded"));
    assert_eq!(counts, (dispatches, dispatches, trace.rows.len() as i64), "{:?}", trace.metadata);
    for kind in ["copies_", "barriers_"] {
        let [seen, recorded] = ["seen", "recorded"].map(|what| trace.count(&format!("{kind}{what}")));
        assert_eq!(seen, recorded + left_out(kind), "{:?}", trace.metadata);
    }
}

/// The kind of op that a count of losses is about: copies, barriers or, empty, dispatches.
fn kind_of(tag: &str) -> &str {
    ["copies_", "barriers_"].into_iter().find(|kind| tag.starts_with(kind)).unwrap_or_default()
}
