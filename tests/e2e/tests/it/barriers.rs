//! Tests of barrier packets, which are recorded with RTL_BARRIER=1.

use std::collections::{BTreeMap, HashSet};

use e2e::compare::{TWO_TICKS, assert_complete, assert_has_what_was_executed};
use e2e::{Outcome, Process, Trace};
use support::stacks;

/// GPU, start, end.
type Barrier = (i64, i64, i64);

/// The barriers on the program's queues, as the simulator executed them.
fn executed(log: &str) -> Vec<Barrier> {
    let lines = || log.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let queue = |columns: &[&str]| [columns[1], columns[2], columns[3]].map(str::to_owned);
    let programs: HashSet<_> =
        lines().filter(|line| line[0] == "queue" && line[7] == "program").map(|line| queue(&line)).collect();
    let barriers = lines().filter(|line| line[0] == "barrier" && programs.contains(&queue(line)));
    let number = |text: &str| text.parse::<i64>().unwrap();
    barriers.map(|line| (number(line[2]) - 1, number(line[6]), number(line[7]))).collect()
}

fn recorded(trace: &Trace) -> Vec<Barrier> {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT gpuId, start, end FROM rocpd_op JOIN rocpd_string kind ON kind.id = opType_id
             WHERE kind.string = 'Barrier' AND queueId >= 0 AND tid > 0 AND correlationId > 1 << 41",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Checks that the trace has each barrier that was executed, and no other.
#[track_caller]
pub(crate) fn assert_barriers(outcome: &Outcome, trace: &Trace) {
    let (mut executed, recorded) = (executed(&outcome.log), recorded(trace));
    let counts = ["barriers_seen", "barriers_recorded"].map(|tag| trace.count(tag));
    assert_eq!(counts, [executed.len() as i64; 2], "{:?}", trace.metadata);
    assert_eq!(recorded.len(), executed.len());
    for row in recorded {
        let is_it = |barrier: &Barrier| {
            let near = |one: i64, other: i64| (one - other).abs() <= TWO_TICKS;
            barrier.0 == row.0 && near(barrier.1, row.1) && near(barrier.2, row.2)
        };
        let at = executed.iter().position(is_it);
        executed.swap_remove(at.unwrap_or_else(|| panic!("not executed so: {row:?} {executed:?}")));
    }
}

#[test]
fn barriers_are_recorded_with_the_times_at_which_they_were_executed() {
    for process in Process::on_every_stack("dependencies") {
        let outcome = process.arguments(&["5"]).setting("RTL_BARRIER", "1").well();
        let trace = assert_complete(&outcome);
        assert_barriers(&outcome, &trace);
        assert_eq!(trace.count("barriers_seen"), 10);
    }
}

#[test]
fn barriers_of_hip_are_recorded_and_nothing_else_changes() {
    for (name, arguments) in [("hip_streams", &["3", "20"][..]), ("hip_copies", &["100004"])] {
        for stack in stacks() {
            let Some(process) = Process::for_hip(&stack, name, arguments) else { return };
            let outcome = process.gpus(2).setting("RTL_BARRIER", "1").well();
            let trace = outcome.trace();
            assert_eq!(trace.left_out(), BTreeMap::new());
            assert_has_what_was_executed(&outcome, &trace);
            assert_barriers(&outcome, &trace);
        }
    }
}

#[test]
fn without_being_asked_for_no_barrier_is_recorded() {
    for process in Process::on_every_stack("dependencies") {
        let outcome = process.arguments(&["1"]).well();
        let trace = outcome.trace();
        assert_eq!((recorded(&trace), trace.metadata.get("barriers_seen")), (vec![], None));
    }
}
