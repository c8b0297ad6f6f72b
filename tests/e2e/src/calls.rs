//! Compares the calls of HIP that the program, and a judge between it and HIP, have counted with the rows of the trace.

use std::collections::BTreeMap;

use support::rusqlite::Connection;

use crate::compare::assert_has_what_was_executed;
use crate::copies::assert_copies_were_executed;
use crate::outcome::Outcome;
use crate::trace::Trace;

/// Numbers of calls by the function's name.
pub type CallCounts = BTreeMap<String, i64>;

/// Parses an account as programs write it: `name <TAB> calls` in each line, a name perhaps more than once.
#[must_use]
pub fn call_counts(account: &str) -> CallCounts {
    let mut made = CallCounts::new();
    for (name, calls) in account.lines().map(|line| line.split_once('\t').unwrap()) {
        *made.entry(name.to_owned()).or_default() += calls.parse::<i64>().unwrap();
    }
    made
}

/// The calls in a trace.
#[derive(Debug)]
pub struct Calls {
    /// Calls of the program.
    pub made: CallCounts,
    /// HIP's own calls of its functions.
    pub nested: CallCounts,
    /// Statuses of calls that did not succeed, by function.
    pub failed: CallCounts,
    /// Number of ops without a call.
    pub unlinked: i64,
    /// Number of ops whose call is of another thread, began later, or does not exist.
    pub mislinked: i64,
}

impl Calls {
    #[must_use]
    pub fn read(trace: &Trace) -> Self {
        let database = Connection::open(&trace.path).unwrap();
        let count = |query: &str| database.query_row(query, [], |row| row.get(0)).unwrap();
        let counts_where = |condition: &str| {
            let query = format!(
                "SELECT string, count(*) FROM rocpd_api JOIN rocpd_string name ON name.id = apiName_id
                 WHERE {condition} GROUP BY string"
            );
            let mut statement = database.prepare(&query).unwrap();
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.map(Result::unwrap).collect::<CallCounts>()
        };
        let returned = "SELECT count(*) FROM sqlite_schema WHERE name = 'rocpd_arg'";
        let has_failed = count(returned) > 0;
        Self {
            made: counts_where("parentId IS NULL"),
            nested: counts_where("parentId IN (SELECT correlationId FROM rocpd_api)"),
            failed: if has_failed { counts_where("rocpd_api.id IN (SELECT api_id FROM rocpd_arg)") } else { CallCounts::new() },
            unlinked: count("SELECT count(*) FROM rocpd_op WHERE gpuId >= 0 AND correlationId IS NULL"),
            mislinked: count(
                "SELECT count(*) FROM rocpd_op WHERE gpuId >= 0 AND correlationId IS NOT NULL AND correlationId NOT IN (
                 SELECT correlationId FROM rocpd_api call WHERE call.tid = rocpd_op.tid AND call.start <= rocpd_op.start)",
            ),
        }
    }
}

/// Describes each op without a call, with the thread that enqueued it and the calls of all threads while it ran or just before.
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

/// Checks that the trace has every call that the program made and no other, and the call of every op.
#[track_caller]
pub fn assert_has_what_was_called(outcome: &Outcome, trace: &Trace) -> Calls {
    let calls = Calls::read(trace);
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

/// Checks that the trace has as many calls of each function as a judge has counted, which also sees HIP's own calls of its
/// functions.
#[track_caller]
pub fn assert_as_judged(outcome: &Outcome, calls: &Calls) {
    let mut all = calls.made.clone();
    for (name, nested) in &calls.nested {
        *all.entry(name.clone()).or_default() += nested;
    }
    assert!(!outcome.judged.is_empty(), "the judge has counted nothing: {outcome:?}");
    assert_eq!(all, outcome.judged, "{outcome:?}");
}

/// Checks the trace of a program that is linked with HIP and verifies its results: it has all calls as a judge has counted them,
/// and all kernels and copies as they were executed, and the program ran as without the tracer.
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
