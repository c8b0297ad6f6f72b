//! Calls of HIP: what the program, and a judge between it and HIP, have counted against the rows of the trace.

use std::collections::BTreeMap;

use support::rusqlite::Connection;

use crate::compare::assert_has_what_was_executed;
use crate::copies::assert_copies_were_executed;
use crate::outcome::Outcome;
use crate::trace::Trace;

/// How often functions were called, by name.
pub type Made = BTreeMap<String, i64>;

/// An account as programs write it: `name <TAB> calls` in each line, a name perhaps more than once.
///
/// # Panics
/// If a line is something else.
#[must_use]
pub fn made(account: &str) -> Made {
    let mut made = Made::new();
    for (name, calls) in account.lines().map(|line| line.split_once('\t').unwrap()) {
        *made.entry(name.to_owned()).or_default() += calls.parse::<i64>().unwrap();
    }
    made
}

/// What a trace says of calls.
#[derive(Debug)]
pub struct Calls {
    /// Those that the program made.
    pub made: Made,
    /// Those that HIP itself made.
    pub nested: Made,
    /// By function, what it returned where that was no success.
    pub failed: Made,
    /// Ops without a call.
    pub unlinked: i64,
    /// Ops whose call is of another thread, began later, or is not there.
    pub mislinked: i64,
}

impl Calls {
    /// Reads those of a trace.
    ///
    /// # Panics
    /// If it has none.
    #[must_use]
    pub fn of(trace: &Trace) -> Self {
        let database = Connection::open(&trace.path).unwrap();
        let count = |query: &str| database.query_row(query, [], |row| row.get(0)).unwrap();
        let made = |condition: &str| {
            let query = format!(
                "SELECT string, count(*) FROM rocpd_api JOIN rocpd_string name ON name.id = apiName_id
                 WHERE {condition} GROUP BY string"
            );
            let mut statement = database.prepare(&query).unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect::<Made>()
        };
        let returned = "SELECT count(*) FROM sqlite_schema WHERE name = 'rocpd_arg'";
        let has_failed = count(returned) > 0;
        Self {
            made: made("parentId IS NULL"),
            nested: made("parentId IN (SELECT correlationId FROM rocpd_api)"),
            failed: if has_failed { made("rocpd_api.id IN (SELECT api_id FROM rocpd_arg)") } else { Made::new() },
            unlinked: count("SELECT count(*) FROM rocpd_op WHERE gpuId >= 0 AND correlationId IS NULL"),
            mislinked: count(
                "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0 AND correlationId IS NOT NULL AND correlationId NOT IN (
                 SELECT correlationId FROM rocpd_api call WHERE call.tid = rocpd_op.tid AND call.start <= rocpd_op.start)",
            ),
        }
    }
}

/// Each op without a call, with the thread that enqueued it and the calls of that and other threads while it ran or just before.
fn around_unlinked(trace: &Trace) -> Vec<String> {
    let database = Connection::open(&trace.path).unwrap();
    let query = "SELECT printf('%s on GPU %s, queue %s, by thread %s from %d to %d, beside ', name.string, gpuId, queueId, op.tid, op.start,
            op.end) || ifnull((SELECT group_concat(printf('%s in %s %d to %d', call.tid, function.string, call.start, call.end), '; ')
            FROM rocpd_api call JOIN rocpd_string function ON function.id = call.apiName_id
            WHERE call.start <= op.end AND call.end >= op.start - 1000000), 'no call')
        FROM rocpd_op op JOIN rocpd_string name ON name.id = op.description_id
        WHERE gpuId >= 0 AND op.correlationId IS NULL";
    let mut statement = database.prepare(query).unwrap();
    let ops = statement.query_map([], |row| row.get(0)).unwrap();
    ops.map(Result::unwrap).collect()
}

/// Holds that the trace has every call that the program made, no other, and the call of every op.
///
/// # Panics
/// If not.
#[track_caller]
pub fn assert_has_what_was_called(outcome: &Outcome, trace: &Trace) -> Calls {
    let calls = Calls::of(trace);
    assert!(!outcome.calls.is_empty(), "the program has counted nothing: {outcome:?}");
    assert_eq!(calls.made, outcome.calls, "{outcome:?}");
    assert_eq!(
        (calls.unlinked, calls.mislinked),
        (0, 0),
        "{outcome:?} {:?} {:#?}",
        trace.metadata,
        around_unlinked(trace)
    );
    let all = calls.made.values().chain(calls.nested.values()).sum::<i64>();
    let tag = |name: &str| trace.metadata.get(name).map_or(0, |count| count.parse().unwrap());
    assert_eq!((tag("hip_seen"), tag("hip_recorded")), (all, all), "{:?}", trace.metadata);
    calls
}

/// Holds that the trace has as many calls of each function as a judge has counted, who stands before HIP's own calls of its
/// functions, too.
///
/// # Panics
/// If not.
#[track_caller]
pub fn assert_as_judged(outcome: &Outcome, calls: &Calls) {
    let mut all = calls.made.clone();
    for (name, nested) in &calls.nested {
        *all.entry(name.clone()).or_default() += nested;
    }
    assert!(!outcome.judged.is_empty(), "the judge has counted nothing: {outcome:?}");
    assert_eq!(all, outcome.judged, "{outcome:?}");
}

/// The trace of a program that is linked with HIP and looks at its results: all calls are in it as a judge has counted them,
/// all kernels and copies as they were executed, and nothing came out otherwise.
///
/// # Panics
/// If not.
#[must_use]
#[track_caller]
pub fn assert_is_whole(outcome: &Outcome) -> Trace {
    assert!(!outcome.stdout.contains("differs"), "{outcome:?}");
    let trace = outcome.trace();
    let calls = assert_has_what_was_called(outcome, &trace);
    assert_as_judged(outcome, &calls);
    assert_has_what_was_executed(outcome, &trace);
    assert_copies_were_executed(&outcome.log, &trace);
    trace
}
