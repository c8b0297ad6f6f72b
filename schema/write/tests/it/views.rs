//! The views of native files, against numbers worked out by hand and by brute force.

use proptest::prelude::*;
use rtl_write::{NativeWriter, Op, OpKind};
use rusqlite::Connection;
use support::fixture;

type Result<T = ()> = anyhow::Result<T>;

fn rows(path: &std::path::Path, sql: &str) -> Result<Vec<Vec<String>>> {
    let connection = Connection::open(path)?;
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..columns)
            .map(|at| {
                Ok(match row.get_ref(at)? {
                    rusqlite::types::ValueRef::Null => "NULL".to_owned(),
                    rusqlite::types::ValueRef::Integer(value) => value.to_string(),
                    rusqlite::types::ValueRef::Real(value) => value.to_string(),
                    rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
                    rusqlite::types::ValueRef::Blob(_) => "blob".to_owned(),
                })
            })
            .collect()
    })?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

#[test]
fn busy_counts_overlapping_ops_once() -> Result {
    let trace = fixture("overlap-two-queues");
    let busy = rows(&trace, "SELECT gpuId, utilization_pct, ops, busy_ns, wall_ns FROM busy")?;
    assert_eq!(busy, [["0", "92.31", "6", "1200", "1300"]]);
    Ok(())
}

#[test]
fn markers_are_on_no_gpu() -> Result {
    let trace = fixture("only-markers");
    assert!(rows(&trace, "SELECT * FROM busy")?.is_empty());
    assert!(rows(&trace, "SELECT * FROM top")?.is_empty());
    Ok(())
}

#[test]
fn the_shares_of_top_add_up_even_where_names_are_missing() -> Result {
    let trace = fixture("bad-rows");
    let top = rows(&trace, "SELECT Name, Calls, TotalNs, AvgNs, MinNs, MaxNs, Pct FROM top")?;
    assert_eq!(
        top,
        [
            ["good", "2", "200", "100", "100", "100", "65.57"],
            ["KernelExecution", "1", "50", "50", "50", "50", "16.39"],
            ["overlaps on its queue", "1", "30", "30", "30", "30", "9.84"],
            ["(no name)", "1", "25", "25", "25", "25", "8.2"],
        ]
    );
    Ok(())
}

#[test]
fn copies_appear_in_top_by_their_direction() -> Result {
    let trace = fixture("copies-both-ways");
    let top = rows(&trace, "SELECT Name, Calls, TotalNs FROM top WHERE Name LIKE 'Copy%'")?;
    assert_eq!(
        top,
        [
            ["CopyDeviceToDevice", "1", "400"],
            ["CopyHostToDevice", "3", "250"],
            ["CopyDeviceToHost", "1", "200"],
        ]
    );
    Ok(())
}

#[test]
fn the_launch_shape_reads_as_rocm_trace_lite_writes_it() -> Result {
    let trace = fixture("two-kernels");
    let signals = rows(&trace, "SELECT completionSignal FROM rocpd_op ORDER BY id")?;
    assert_eq!(signals, [["hwq=0x0 wg=256,1,1 grid=4096,1,1"], ["hwq=0x0 wg=64,1,1 grid=1024,1,1"]]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(16), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn busy_is_the_number_of_moments_at_which_an_op_runs(
        ops in prop::collection::vec((0_i64..3, 0_i64..120, 1_i64..30), 1..40),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.db");
        let mut writer = NativeWriter::create(&path).unwrap();
        for &(gpu, start, duration) in &ops {
            let op = Op { gpu: Some(gpu), start, end: Some(start + duration), ..Op::default() };
            writer.push_op(&op).unwrap();
            writer.push_op(&Op { kind: OpKind::Barrier, end: Some(start + 1_000), ..op }).unwrap();
        }
        writer.finish().unwrap();
        let mut expected = Vec::new();
        for gpu in 0..3 {
            let mine: Vec<_> = ops.iter().filter(|op| op.0 == gpu).collect();
            if !mine.is_empty() {
                let runs = |moment: &i64| mine.iter().any(|(_, start, duration)| (*start..start + duration).contains(moment));
                let busy = (0..200).filter(runs).count();
                expected.push(vec![gpu.to_string(), mine.len().to_string(), busy.to_string()]);
            }
        }
        prop_assert_eq!(rows(&path, "SELECT gpuId, ops, busy_ns FROM busy").unwrap(), expected);
    }
}
