//! Tests of the times at which ops were enqueued, which are recorded with RTL_HSA_HOST_DISPATCH=1.

use std::collections::BTreeMap;

use e2e::compare::assert_complete;
use e2e::{Process, Trace};

/// A kind of op, and the number within the kind.
type Op = (String, i64);

/// Times right before and after each op was enqueued, from the program, in ns of CLOCK_BOOTTIME.
fn reported(process: &Process) -> BTreeMap<Op, (i64, i64)> {
    let text = std::fs::read_to_string(process.folder().join("moments")).unwrap();
    let number = |text: &str| text.parse::<i64>().unwrap();
    text.lines()
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let op = (columns[0].to_owned(), number(columns[1]));
            (op, (number(columns[2]), number(columns[3])))
        })
        .collect()
}

/// Times at which each was enqueued and started, in the trace.
fn recorded(trace: &Trace) -> BTreeMap<Op, (Option<i64>, i64)> {
    let database = trace.database();
    let mut statement = database
        .prepare(
            "SELECT CASE kind.string WHEN 'KernelExecution' THEN 'kernel' WHEN 'Barrier' THEN 'barrier' ELSE 'copy' END AS op,
                    coalesce(gridX, bytes, row_number() OVER (PARTITION BY kind.string ORDER BY start) - 1), enqueued, start
             FROM rocpd_op JOIN rocpd_string kind ON kind.id = opType_id",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))));
    rows.unwrap().map(Result::unwrap).collect()
}

fn program(rounds: &str) -> Vec<Process> {
    let with_path = |process: Process| {
        let path = process.folder().join("moments");
        let arguments = [path.to_str().unwrap().to_owned(), rounds.to_owned()];
        process.arguments(&arguments.each_ref().map(String::as_str)).setting("RTL_BARRIER", "1")
    };
    Process::on_every_stack("enqueued").into_iter().map(with_path).collect()
}

#[test]
fn every_op_was_enqueued_while_the_program_did_so_and_before_it_started() {
    for process in program("20") {
        let process = process.setting("RTL_HSA_HOST_DISPATCH", "1");
        let trace = assert_complete(&process.well());
        let (reported, recorded) = (reported(&process), recorded(&trace));
        assert_eq!(reported.len(), 20 * (12 + 1 + 1));
        assert!(reported.keys().eq(recorded.keys()), "{reported:?} {recorded:?}");
        for (op, (before, after)) in reported {
            let (enqueued, start) = recorded[&op];
            let enqueued = enqueued.unwrap();
            assert!((before..=after).contains(&enqueued), "{op:?}: {before} {enqueued} {after}");
            assert!(enqueued <= start, "{op:?}: {enqueued} {start}");
        }
    }
}

#[test]
fn without_being_asked_for_it_is_not_known_when_an_op_was_enqueued() {
    for process in program("2") {
        let trace = assert_complete(&process.well());
        let recorded = recorded(&trace);
        assert_eq!(recorded.len(), 2 * (12 + 1 + 1));
        assert!(recorded.values().all(|(enqueued, _)| enqueued.is_none()));
    }
}

#[test]
fn a_batch_that_another_tool_makes_of_packets_is_enqueued_when_it_is_passed_on() {
    for process in Process::on_every_stack("no_signal") {
        let process = process.arguments(&["100"]).tool("coalesce").setting("RTL_HSA_HOST_DISPATCH", "1");
        let trace = assert_complete(&process.well());
        let unlikely = trace.database().query_row(
            "SELECT count(*) FROM rocpd_op WHERE enqueued IS NULL OR enqueued > start",
            [],
            |row| row.get::<_, i64>(0),
        );
        assert_eq!((trace.rows.len(), unlikely.unwrap()), (100, 0));
    }
}
