//! Ops on the fast path are read as all others are: those of a view, which only SQLite reads, are all others.

use std::path::Path;

use proptest::prelude::*;
use rtl_schema::{Select, Tables, Trace};
use rusqlite::Connection;
use rusqlite::types::Value;
use support::{Layout, Options};

/// Everything of a trace that its ops bring, with the ids and the order that they are given.
fn ops(path: &Path, select: &Select) -> impl PartialEq + std::fmt::Debug {
    let Tables { dispatches, copies, barriers, ranges, tracks, shapes, problems, info, .. } =
        Trace::open(path).unwrap().read(select).unwrap();
    (
        dispatches.iter().collect::<Vec<_>>(),
        copies,
        barriers,
        ranges,
        tracks.rows().to_vec(),
        shapes.rows().to_vec(),
        (problems, info.linked, info.range_ids),
    )
}

/// Checks that the ops of a trace are the same where a view has taken the place of their table.
fn assert_ops(path: &Path, selects: &[Select]) {
    let before: Vec<_> = selects.iter().map(|select| ops(path, select)).collect();
    let view = path.with_extension("view.db");
    std::fs::copy(path, &view).unwrap();
    let connection = Connection::open(&view).unwrap();
    connection
        .execute_batch(
            "pragma legacy_alter_table = on; alter table rocpd_op rename to stored_op;
             create view rocpd_op as select * from stored_op order by rowid",
        )
        .unwrap();
    drop(connection);
    for (select, before) in selects.iter().zip(before) {
        let after = ops(&view, select);
        assert!(before == after, "{} with {select:?}:\n{before:?}\n{after:?}", path.display());
    }
}

/// Selections that the programs make, and the parts that change how ops are read.
fn selects() -> Vec<Select> {
    let (ops, summary) = (Select::ops(), Select::summary());
    vec![
        ops,
        Select { shapes: true, ..ops },
        Select { launch: true, ranges: true, ..ops },
        Select { ids: true, links: true, ..ops },
        summary,
        Select { shapes: true, ..summary },
        Select::everything(),
    ]
}

#[test]
fn fast_ops_of_generated_traces_are_those_of_a_view() {
    let folder = tempfile::tempdir().unwrap();
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        for (api, ranges) in [(false, false), (false, true), (true, true)] {
            let path = folder.path().join(format!("{layout:?}{api}{ranges}.db"));
            let options = Options { layout, ops: 5_000, api, ranges, shuffle: api, ..Options::default() };
            support::generate(&options, &path).unwrap();
            assert_ops(&path, &selects());
        }
    }
}

#[test]
fn a_range_that_only_a_fast_op_names_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.db");
    support::generate(&Options { ops: 2_000, ..Options::default() }, &path).unwrap();
    let select = Select { ranges: true, ..Select::ops() };
    assert!(!Trace::open(&path).unwrap().read(&select).unwrap().info.range_ids);
    // The most frequent kernel was met before on that queue.
    let last =
        "select max(id) from rocpd_op group by description_id, gpuId, queueId order by count(*) desc limit 1";
    let connection = Connection::open(&path).unwrap();
    connection.execute(&format!("update rocpd_op set roctxId = 70000 where id = ({last})"), []).unwrap();
    drop(connection);
    assert!(Trace::open(&path).unwrap().read(&select).unwrap().info.range_ids);
    assert_ops(&path, &[select]);
}

/// Columns that may have any value, with those that fast rows have.
const COLUMNS: [(&str, [i64; 4]); 18] = [
    ("gpuId", [0, 1, -2, 7]),
    ("queueId", [0, 1, 300, 0x7f00_1200_0000]),
    ("start", [0, 1_000, 1_036_800_000_000_000, -5]),
    ("end", [5, 1_200, 1_036_800_000_000_123, 1_036_800_000_000_000 + 4_294_967_295]),
    ("description_id", [3, 4, 5, 12_345]),
    ("opType_id", [1, 2, 3, 4]),
    ("pid", [4_242, 4_243, 0, -1]),
    ("streamId", [0, 1, 2, 3]),
    ("roctxId", [0, 1, 70_000, -1]),
    ("gridX", [64, 256, 0, 390_144]),
    ("gridY", [1, 152, -1, i64::MAX]),
    ("workgroupX", [64, 256, 1, 1_024]),
    ("lds", [0, 32_768, 1, -1]),
    ("symbol", [1, 2, -1, 999]),
    ("tid", [0, 7, 4_243, -1]),
    ("correlationId", [0, 1, 2, 1 << 40]),
    ("enqueued", [0, 999, 1_036_799_999_999_000, i64::MIN]),
    ("bytes", [0, 64, 1 << 33, -1]),
];

/// A row: mostly a kernel with names, times and few other columns.
fn row() -> impl Strategy<Value = Vec<Value>> {
    let column = |(at, (_, values)): (usize, (&str, [i64; 4]))| {
        let (other, rare) = (prop::sample::select(values.to_vec()).prop_map(Value::Integer), at < 6);
        let first = if rare { Value::Integer(values[0]) } else { Value::Null };
        let odd = prop_oneof![Just(Value::Null), Just(Value::Text("3".to_owned())), Just(Value::Real(2.0))];
        prop_oneof![30 => Just(first), 9 => other, 1 => odd]
    };
    COLUMNS.into_iter().enumerate().map(column).collect::<Vec<_>>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(support::cases(16)))]

    #[test]
    fn ops_of_any_columns_are_those_of_a_view(
        kinds in prop::collection::vec(row(), 1..12),
        picks in prop::collection::vec(any::<prop::sample::Index>(), 1..300),
        collective in any::<bool>(),
        ids in any::<bool>(),
        (launch, links, ranges) in any::<(bool, bool, bool)>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.db");
        support::generate(&Options { ops: 40, ..Options::default() }, &path).unwrap();
        let connection = Connection::open(&path).unwrap();
        let names = COLUMNS.map(|(name, _)| name).join(", ");
        let sql = format!("insert into rocpd_op({names}) values (?{})", ", ?".repeat(COLUMNS.len() - 1));
        for pick in picks {
            let mut insert = connection.prepare_cached(&sql).unwrap();
            insert.execute(rusqlite::params_from_iter(pick.get(&kinds))).unwrap();
        }
        if collective {
            let sql = "create table rocpd_collective(op_id integer, size integer);
                insert into rocpd_collective select id, id % 5 from rocpd_op where id % 3 = 0";
            connection.execute_batch(sql).unwrap();
        }
        drop(connection);
        let select = Select { ids, launch, links, ranges, ..Select::ops() };
        assert_ops(&path, &[select, Select { shapes: true, args: links, ..select }]);
    }
}
