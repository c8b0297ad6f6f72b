//! RTG's report: hand-checked cases, and what holds for any trace.

use proptest::prelude::*;
use rtl_analysis::rpt::{Report, Resource, report};
use rtl_schema::table::{Agent, Barrier, Copy, Dispatch, Process, Track};
use rtl_schema::{Id, NameId, Tables};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Kernel,
    Barrier,
    Copy,
}

#[derive(Debug, Clone, Copy)]
struct Op {
    kind: Kind,
    agent: i64,
    name: &'static str,
    start: i64,
    end: i64,
    id: Id,
}

const fn kernel(name: &'static str, start: i64, end: i64, id: Id) -> Op {
    Op { kind: Kind::Kernel, agent: 0, name, start, end, id }
}

fn tables(ops: &[Op]) -> Tables {
    let mut tables = Tables::default();
    tables.processes.push(Process::default());
    tables.agents.extend((0..3).map(|number| Agent { number, ..Agent::default() }));
    for op in ops {
        let agent = rtl_schema::AgentId(op.agent as u32);
        let track = tables.tracks.intern(Track { agent, ..Track::default() });
        let name = tables.strings.intern(op.name);
        let Op { id, start, .. } = *op;
        let duration = Some(op.end - start);
        match op.kind {
            Kind::Kernel => {
                tables.dispatches.push(Dispatch { id, name, track, start, duration, ..Dispatch::default() });
            }
            Kind::Barrier => {
                tables.barriers.push(Barrier { id, name, track, start, duration, ..Barrier::default() });
            }
            Kind::Copy => {
                tables.copies.push(Copy {
                    id,
                    name,
                    track,
                    start,
                    duration,
                    bytes: Some(64),
                    ..Copy::default()
                });
            }
        }
    }
    tables
}

fn rows(resource: &Resource) -> Vec<(&str, i64, u64)> {
    resource.rows.iter().map(|row| (row.name.as_str(), row.times.total_ns(), row.times.calls)).collect()
}

#[test]
fn an_op_adds_only_the_time_that_no_earlier_one_covers() {
    let ops = [
        kernel("a", 0, 1_000, 1),
        kernel("b", 400, 900, 2),
        kernel("c", 800, 1_500, 3),
        kernel("last", 2_000, 2_100, 4),
    ];
    let report = report(&tables(&ops), None);
    assert_eq!(rows(&report.resources[0]), [("a", 1_000, 1), ("c", 500, 1), ("b", 0, 1)]);
    assert_eq!(report.resources[0].busy, 1_500);
    assert_eq!(report.region.map(|region| region.duration), Some(2_100));
}

#[test]
fn a_gap_row_holds_its_lower_bound_and_not_its_upper() {
    let ops = [
        kernel("a", 0, 0, 1),
        kernel("a", 9_999, 9_999, 2),
        kernel("a", 19_999, 19_999, 3),
        kernel("a", 200_019_999, 200_019_999, 4),
        kernel("last", 200_020_000, 200_020_001, 5),
    ];
    let report = report(&tables(&ops), None);
    let expected = [
        ("gap >=100000us", 200_000_000, 1),
        ("gap 10us-20us", 10_000, 1),
        ("gap <10us", 9_999, 1),
        ("a", 0, 4),
    ];
    assert_eq!(rows(&report.resources[0]), expected);
}

#[test]
fn equal_starts_keep_the_order_of_ids_over_all_tables() {
    let barrier = Op { kind: Kind::Barrier, ..kernel("wait", 10, 30, 1) };
    let ops = [kernel("k", 10, 30, 2), barrier, kernel("last", 50, 60, 3)];
    let report = report(&tables(&ops), None);
    assert_eq!(rows(&report.resources[0]), [("wait", 20, 1), ("k", 0, 1)]);
}

#[test]
fn a_barrier_with_dependencies_in_its_name_counts_from_its_end() {
    let wait = Op { kind: Kind::Barrier, ..kernel("depcnt=1,acq=none,rel=sys", 10, 500, 1) };
    let ops = [wait, kernel("k", 100, 600, 2), kernel("last", 700, 800, 3)];
    let report = report(&tables(&ops), None);
    assert_eq!(rows(&report.resources[0]), [("k", 500, 1), ("depcnt=1,acq=none,rel=sys", 0, 1)]);
}

#[test]
fn the_last_op_ends_the_region_and_is_in_no_table() {
    let alone = report(&tables(&[kernel("only", 5, 9, 1)]), None);
    assert_eq!((alone.resources.len(), alone.region.map(|region| region.duration)), (0, Some(4)));

    let outlasted = report(&tables(&[kernel("long", 0, 100, 1), kernel("last", 10, 20, 2)]), None);
    assert_eq!((outlasted.resources[0].busy, outlasted.resources[0].trailing), (100, -80));
}

#[test]
fn ops_without_a_valid_end_are_left_out_and_counted() {
    let mut tables = tables(&[kernel("a", 0, 10, 1), kernel("back", 20, 15, 2), kernel("last", 30, 40, 3)]);
    let name = NameId::NONE;
    tables.dispatches.push(Dispatch { id: 4, name, start: 35, duration: None, ..Dispatch::default() });
    let report = report(&tables, None);
    assert_eq!((report.left_out, rows(&report.resources[0])), (2, vec![("a", 10, 1)]));
}

#[test]
fn the_cut_counts_gap_rows() {
    let ops = [
        kernel("a", 0, 5, 1),
        kernel("b", 1_005, 1_008, 2),
        kernel("c", 1_008, 1_009, 3),
        kernel("last", 2_000, 2_001, 4),
    ];
    let report = report(&tables(&ops), Some(2));
    let resource = &report.resources[0];
    assert_eq!((resource.row_count, resource.busy, resource.leading), (4, 9, 0));
    assert_eq!(rows(resource), [("gap <10us", 1_000, 1), ("a", 5, 1)]);
}

#[test]
fn the_ends_of_time_are_no_reason_to_panic() {
    let ops = [
        kernel("a", i64::MIN, i64::MIN + 5, 1),
        kernel("b", i64::MAX - 9, i64::MAX, 2),
        kernel("c", i64::MAX, i64::MAX, 3),
    ];
    assert_eq!(report(&tables(&ops), None).resources.len(), 1);
}

/// Up to 40 ops of two GPUs with distinct starts, in random order of tables and lengths.
fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = (0..3_u8, 0..2_i64, 0..4_usize, 0..300_i64);
    prop::collection::btree_map(0..2_000_i64, op, 2..40).prop_map(|ops| {
        ops.into_iter()
            .map(|(start, (kind, agent, name, length))| Op {
                kind: [Kind::Kernel, Kind::Barrier, Kind::Copy][usize::from(kind)],
                agent,
                name: ["", "gemm", "copy", "norm"][name],
                start,
                end: start + length,
                id: start,
            })
            .collect()
    })
}

/// How many of the nanoseconds are covered by any op of a resource, counted one by one.
fn covered(ops: &[Op], resource: &str) -> i64 {
    let of = |op: &Op| match op.kind {
        Kind::Copy => "DATA".to_owned(),
        _ => format!("GPU{}", op.agent),
    };
    let mine: Vec<&Op> = ops.iter().filter(|op| of(op) == resource).collect();
    (0..2_400).filter(|&time| mine.iter().any(|op| (op.start..op.end).contains(&time))).count() as i64
}

fn checked(report: &Report, ops: &[Op]) -> Result<(), TestCaseError> {
    let region = report.region.as_ref().map_or(0, |region| region.duration);
    for resource in &report.resources {
        let time: i64 = resource.rows.iter().map(|row| row.times.total_ns()).sum();
        prop_assert_eq!(resource.leading + time + resource.trailing, region);
        prop_assert_eq!(resource.busy, covered(&ops[..ops.len() - 1], &resource.name));
        prop_assert!(resource.busy <= region + (-resource.trailing).max(0));
    }
    Ok(())
}

proptest! {
    #[test]
    fn rows_and_idle_ends_add_up_to_the_region(ops in ops()) {
        checked(&report(&tables(&ops), None), &ops)?;
    }

    #[test]
    fn busy_never_exceeds_a_region_whose_last_op_ends_last(mut ops in ops()) {
        ops.push(kernel("last", 2_400, 2_401, 9_999));
        let report = report(&tables(&ops), None);
        checked(&report, &ops)?;
        for resource in &report.resources {
            prop_assert!(resource.busy <= 2_401 - ops[0].start && resource.trailing > 0);
        }
    }

    #[test]
    fn the_order_of_rows_changes_nothing(
        (sorted, shuffled) in ops().prop_flat_map(|ops| (Just(ops.clone()), Just(ops).prop_shuffle())),
    ) {
        prop_assert_eq!(report(&tables(&sorted), None), report(&tables(&shuffled), None));
    }
}
