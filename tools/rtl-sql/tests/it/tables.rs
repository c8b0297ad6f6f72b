//! Every table beside the columns that the readers give, on every dialect.

use std::path::Path;

use rtl_schema::{Select, Trace};
use serde_json::{Value, json};

use crate::rows;

/// The rows of each table, and sums over columns of ops.
fn expected(path: &Path) -> Value {
    let tables = Trace::open(path).unwrap().read(&Select::everything()).unwrap();
    let valid = |duration: Option<i64>| duration.filter(|&length| length >= 0).unwrap_or(0);
    let dispatches = &tables.dispatches;
    json!({
        "ops": dispatches.len() + tables.copies.len() + tables.barriers.len(),
        "dispatches": dispatches.len(),
        "copies": tables.copies.len(),
        "api_calls": tables.api_calls.len(),
        "operators": tables.operators.len(),
        "ranges": tables.ranges.len(),
        "allocations": tables.allocations.len(),
        "counters": tables.counters.len(),
        "agents": tables.agents.len(),
        "processes": tables.processes.len(),
        "metadata": tables.info.metadata.len(),
        "kernel_ns": (0..dispatches.len()).map(|row| valid(dispatches.duration.get(row))).sum::<i64>(),
        "kernel_starts": dispatches.start.iter().map(|&start| start % 1_000_000_007).sum::<i64>(),
        "copied_bytes": tables.copies.iter().map(|copy| copy.bytes.unwrap_or(0)).sum::<u64>(),
        "call_ns": tables.api_calls.iter().map(|call| valid(call.duration)).sum::<i64>(),
        "correlations": (0..dispatches.len()).filter(|&row| dispatches.correlation.get(row) != 0).count(),
    })
}

/// The figures of [`expected`] by SQL.
const FIGURES: &str = "
select (select count(*) from ops) as ops, (select count(*) from dispatches) as dispatches,
    (select count(*) from copies) as copies, (select count(*) from api_calls) as api_calls,
    (select count(*) from operators) as operators, (select count(*) from ranges) as ranges,
    (select count(*) from allocations) as allocations, (select count(*) from counters) as counters,
    (select count(*) from agents) as agents, (select count(*) from processes) as processes,
    (select count(*) from metadata) as metadata,
    (select coalesce(sum(duration), 0) from dispatches) as kernel_ns,
    (select coalesce(sum(start % 1000000007), 0) from dispatches) as kernel_starts,
    (select coalesce(sum(bytes), 0) from copies) as copied_bytes,
    (select coalesce(sum(duration), 0) from api_calls) as call_ns,
    (select count(correlation_id) from dispatches) as correlations";

fn compare(path: &Path) {
    let Some(rows) = rows(&[path], FIGURES) else { return };
    assert_eq!(rows, [expected(path)], "{}", path.display());
}

#[test]
fn every_fixture_has_the_rows_of_its_reader() {
    for name in [
        "two-kernels",
        "bad-rows",
        "copies-both-ways",
        "eight-gpus",
        "empty",
        "graph-launch",
        "ranges-nested",
    ] {
        compare(&support::fixture(name));
    }
}

#[test]
fn foreign_traces_have_the_rows_of_their_readers() {
    let Some(shared) = support::shared() else { return };
    for name in [
        "traces/real/rpd2-matmul-mi200.rpd",
        "traces/real/rpd2-vllm-fp8.rpd.gz",
        "traces/made/rocprofv3-rank0.db",
        "traces/made/rpd3.rpd",
        "kineto/mi300-qwen.json.gz",
    ] {
        compare(&shared.join(name));
    }
}

#[test]
fn every_column_of_every_table_can_be_read() {
    let trace = support::fixture("copies-both-ways");
    for table in [
        "ops",
        "dispatches",
        "copies",
        "api_calls",
        "operators",
        "ranges",
        "allocations",
        "counters",
        "collectives",
        "agents",
        "processes",
        "metadata",
        "idle",
    ] {
        let Some(_) = rows(&[&trace], &format!("from {table}")) else { return };
    }
}

const TIMES: &str = "select trace, count(*) as rows, sum(duration) as ns, count(duration) as known, min(start) as first, max(stop) as last,
    count(distinct name) as names, list(name order by start, name)[:3] as firsts";

#[test]
fn names_and_times_are_the_same_alone_and_beside_other_columns() {
    let folder = tempfile::tempdir().unwrap();
    let big = folder.path().join("big.db");
    support::generate(&support::Options { ops: 100_000, ..support::Options::default() }, &big).unwrap();
    let fixtures = ["two-kernels", "bad-rows", "empty", "graph-launch"].map(support::fixture);
    let mut traces: Vec<&Path> = fixtures.iter().map(|path| &**path).collect();
    traces.push(&big);
    for (traces, table) in
        [(traces.clone(), "dispatches"), (traces, "ops"), (vec![&big], "dispatches"), (vec![&big], "ops")]
    {
        let alone = format!("{TIMES} from {table} group by 1 order by 1");
        let Some(expected) =
            rows(&traces, &format!("{TIMES}, max(queue) as queue from {table} group by 1 order by 1"))
        else {
            return;
        };
        let without_queue = |mut row: Value| {
            row.as_object_mut().unwrap().remove("queue");
            row
        };
        let expected: Vec<Value> = expected.into_iter().map(without_queue).collect();
        assert!(!expected.is_empty());
        for text in [
            alone.clone(),
            format!("{alone};").repeat(6),
            format!("select count(*) from dispatches; {alone}"),
        ] {
            assert_eq!(rows(&traces, &text).unwrap(), expected, "{text}");
        }
        let count = "select count(*) as rows from dispatches a join dispatches b on a.start = b.start and a.trace = b.trace";
        let joined = rows(&traces, &format!("{count} where a.queue is not null or b.queue is null")).unwrap();
        assert_eq!(rows(&traces, count).unwrap(), joined);
    }
}

#[test]
fn rows_of_several_traces_carry_the_name_of_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.db", "b.db"].map(|name| folder.path().join(name));
    for path in &paths {
        std::fs::copy(support::fixture("two-kernels"), path).unwrap();
    }
    let traces = paths.each_ref().map(|path| path.as_path());
    let query = "select trace, count(*) as rows from dispatches group by trace order by trace";
    let Some(all) = rows(&traces, query) else { return };
    let of_one = all[0]["rows"].clone();
    assert_eq!(all, [json!({"trace": "a.db", "rows": of_one}), json!({"trace": "b.db", "rows": of_one})]);
    let one = rows(&traces, "select count(*) as rows from dispatches(trace := 'b.db')").unwrap();
    assert_eq!(one[0]["rows"], of_one);
    let ops = rows(&traces, "select distinct trace from trace('a.db')").unwrap();
    assert_eq!(ops, [json!({"trace": "a.db"})]);
}

#[test]
fn rows_keep_their_order_over_many_chunks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.db");
    let options = support::Options { ops: 100_000, ..support::Options::default() };
    support::generate(&options, &path).unwrap();
    let tables = Trace::open(&path).unwrap().read(&Select::ops()).unwrap();
    let Some(rows) = rows(&[&path], "select start, name from dispatches limit 30 offset 60000") else {
        return;
    };
    let row = |row: usize| {
        let name = tables.strings.get(tables.dispatches.name[row]);
        json!({"start": tables.dispatches.start[row], "name": rtl_schema::identity(name)})
    };
    assert_eq!(rows, (60_000..60_030).map(row).collect::<Vec<_>>());
}
