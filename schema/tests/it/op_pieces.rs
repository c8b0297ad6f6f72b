//! Ops that several threads read in pieces are those that one thread reads, with the same ids: a view is read by one thread alone.

use std::num::NonZero;
use std::path::Path;

use rtl_schema::{Select, Tables, Trace};
use rusqlite::Connection;
use support::{Layout, Options};

/// Makes ids appear late and out of order, durations long, negative and missing, and copies and barriers follow each other.
const CHANGES: &str = "
    pragma foreign_keys = off;
    pragma page_size = 512;
    update rocpd_op set gpuId = 9 - gpuId where id % 5 = 0 or id < 3000;
    update rocpd_op set gpuId = 70 where id > 19000 and id % 3 = 0;
    update rocpd_op set queueId = queueId + id / 4000 where id % 7 = 0;
    update or ignore rocpd_op set end = null where id % 401 = 0;
    update rocpd_op set end = start - 5 where id % 503 = 0;
    update rocpd_op set end = start + 5000000000 where id % 607 = 0;
    update rocpd_op set description_id = 99999999 where id % 5003 = 0;
    vacuum;";

/// Processes without an entry, and rows that name none.
const PROCESSES: &str =
    "update rocpd_op set pid = case when id % 11 = 0 or id < 400 then null else 4000 + id / 5000 end;";

/// Ids with more between them than rows.
const SPARSE: &str = "update rocpd_op set id = -id; update rocpd_op set id = -1000000 * id;";

/// Adds columns that make some headers, behind many rows, continue on another page: SQLite reads these.
fn long_headers() -> String {
    let names: Vec<String> = (0..40).map(|column| format!("note{column}")).collect();
    let columns = names.iter().map(|name| format!("alter table rocpd_op add column {name} text;"));
    let values: Vec<String> =
        names.iter().map(|name| format!("{name} = hex(zeroblob(40 + id % 100))")).collect();
    let update = format!("update rocpd_op set {} where id between 15000 and 15100;", values.join(", "));
    columns.chain([update]).collect()
}

fn read(path: &Path, select: &Select, threads: usize) -> impl PartialEq + std::fmt::Debug {
    threads::set_limit(NonZero::new(threads).unwrap());
    let tables = Trace::open(path).unwrap().read(select).unwrap();
    let Tables {
        dispatches,
        copies,
        barriers,
        ranges,
        tracks,
        shapes,
        agents,
        processes,
        problems,
        info,
        ..
    } = tables;
    (
        dispatches.iter().collect::<Vec<_>>(),
        (copies, barriers, ranges),
        (tracks.rows().to_vec(), shapes.rows().to_vec(), agents, processes),
        (problems, info.linked, info.range_ids),
    )
}

#[test]
fn ops_that_several_threads_read_are_those_that_one_thread_reads() {
    let folder = tempfile::tempdir().unwrap();
    for (layout, others) in [
        (Layout::Native, ""),
        (Layout::Native, PROCESSES),
        (Layout::Lite, ""),
        (Layout::Native, &long_headers()),
        (Layout::Native, SPARSE),
        (Layout::Rpd3, ""),
    ] {
        let path = folder.path().join(format!("{layout:?}{}.db", others.len()));
        let options = Options { layout, ops: 20_000, api: layout == Layout::Rpd3, ..Options::default() };
        support::generate(&options, &path).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(CHANGES).unwrap();
        connection.execute_batch(others).unwrap();
        drop(connection);
        let view = path.with_extension("view.db");
        std::fs::copy(&path, &view).unwrap();
        Connection::open(&view)
            .unwrap()
            .execute_batch(
                "pragma legacy_alter_table = on; alter table rocpd_op rename to stored_op;
                 create view rocpd_op as select * from stored_op order by rowid",
            )
            .unwrap();
        for select in [Select::ops(), Select::summary(), Select::everything()] {
            let expected = read(&path, &select, 1);
            // Rows of a view are numbered.
            assert!(
                others == SPARSE || read(&view, &select, 1) == expected,
                "{}, {select:?}",
                path.display()
            );
            for threads in [2, 5] {
                let found = read(&path, &select, threads);
                assert!(found == expected, "{}, {select:?}, {threads} threads", path.display());
            }
        }
    }
}
