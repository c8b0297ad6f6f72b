//! Reading takes time and memory in proportion to the file, whatever its schema and its pages state.

use std::path::{Path, PathBuf};

use rtl_schema::sqlite::Database;
use rtl_schema::{Error, Select, Trace};
use rusqlite::Connection;
use tempfile::TempDir;

const OPS: &str = "create table rocpd_op(id integer primary key, gpuId integer, queueId integer, sequenceId integer,
    completionSignal text, start integer, end integer, description_id integer, opType_id integer, roctxId integer);";
const STRINGS: &str = "create table rocpd_string(id integer primary key, string text);";
const METADATA: &str = "create table rocpd_metadata(id integer primary key, tag text, value text);";

fn database(sql: &[&str]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.db");
    Connection::open(&path).unwrap().execute_batch(&sql.concat()).unwrap();
    (folder, path)
}

fn read(path: &Path) -> rtl_schema::Result<()> {
    Trace::open(path)?.read(&Select::everything()).map(drop)
}

#[track_caller]
fn assert_excessive(path: &Path) {
    match read(path) {
        Err(Error::Excessive { path: named, detail }) => {
            assert_eq!(named, path);
            assert!(!detail.contains('\n'), "{detail}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_recursive_view_is_refused() {
    let view = "create view rocpd_op as with recursive r(id) as (select 1 union all select id + 1 from r)
        select id, 0 gpuId, 0 queueId, 0 sequenceId, '' completionSignal, id start, id + 1 end, 1 description_id,
        2 opType_id, 0 roctxId from r";
    let (_folder, path) = database(&[STRINGS, METADATA, view]);
    assert_excessive(&path);
    let (_folder, path) = database(&[STRINGS, METADATA, view, " where id < 0"]);
    assert_excessive(&path);
}

#[test]
fn a_value_that_a_view_or_a_generated_column_blows_up_is_refused() {
    let blown = "hex(zeroblob(400000000))";
    let view = format!("create view rocpd_metadata as select 1 id, 'tag' tag, {blown} value;");
    let (_folder, path) = database(&[STRINGS, OPS, &view]);
    assert_excessive(&path);
    for blown in [blown, "printf('%.400000000c', 'a')"] {
        let generated = format!(
            "create table rocpd_string(id integer primary key, string text as ({blown}) virtual, x);
             insert into rocpd_string(x) values(1);"
        );
        let (_folder, path) = database(&[METADATA, OPS, &generated]);
        assert_excessive(&path);
    }
}

#[test]
fn joins_whose_rows_multiply_are_refused() {
    let rows = "insert into rocpd_string(string) values('a'), ('b'), ('c'), ('d'), ('e'), ('f'), ('g'), ('h'), ('i');";
    let factors: Vec<String> = (0..12).map(|number| format!("rocpd_string s{number}")).collect();
    let view = format!(
        "create view rocpd_metadata as select 1 id, 'tag' tag, 'x' value from {}",
        factors.join(", ")
    );
    let (_folder, path) = database(&[STRINGS, rows, OPS, &view]);
    assert_excessive(&path);
}

#[test]
fn views_that_contain_each_other_twice_are_refused() {
    let mut sql = "create view v0 as select 1 id, 'a' tag, 'b' value;".to_owned();
    for level in 1..40 {
        let below = level - 1;
        sql += &format!("create view v{level} as select * from v{below} union all select * from v{below};");
    }
    let (_folder, path) = database(&[STRINGS, OPS, &sql, "create view rocpd_metadata as select * from v39;"]);
    assert!(read(&path).is_err());
}

#[test]
fn a_view_that_renames_and_a_generated_column_are_read() {
    let rows = "insert into texts values(1, 'gemm'), (2, 'KernelExecution');
        create view rocpd_string as select number as id, text as string from texts;
        insert into rocpd_op(id, start, end, description_id, opType_id) values(1, 10, 20, 1, 2);";
    let (_folder, path) = database(&["create table texts(number, text);", METADATA, OPS, rows]);
    let tables = Trace::open(&path).unwrap().read(&Select::everything()).unwrap();
    assert_eq!(tables.strings.get(tables.dispatches.name[0]), "gemm");

    let generated =
        "create table t(a, b as ('hwq=' || printf('0x%x', a)) virtual); insert into t values(255);";
    let (_folder, path) = database(&[generated]);
    let database = Database::open(&path, &path).unwrap();
    database.scan("t", &["b"], |row| assert_eq!(row.text(0).as_deref(), Some("hwq=0xff"))).unwrap();
}

/// A database of which all long texts continue on one chain of pages that returns to its first page.
fn looping_chain() -> (TempDir, PathBuf) {
    const PAGE: usize = 512;
    let (folder, path) = database(&["pragma page_size = 512;", STRINGS, METADATA, OPS]);
    let connection = Connection::open(&path).unwrap();
    // Short enough for a leaf to hold several, long enough for overflow pages.
    for number in 0..400 {
        let text = format!("{number:05}").repeat(500);
        connection.execute("insert into rocpd_string(string) values(?1)", [text]).unwrap();
    }
    drop(connection);
    let mut bytes = std::fs::read(&path).unwrap();
    let size = bytes.len() as u64;
    // Leaves of tables: each cell gets the length of almost the whole file.
    let number = |at: usize, bytes: &[u8]| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
    for page in (PAGE..bytes.len()).step_by(PAGE) {
        if bytes[page] != 0x0d {
            continue;
        }
        for cell in 0..number(page + 3, &bytes) {
            let at = page + number(page + 8 + 2 * cell, &bytes);
            // Two bytes of length become the largest that two bytes hold.
            if bytes[at] >= 0x80 && bytes[at + 1] < 0x80 {
                (bytes[at], bytes[at + 1]) = (0xff, 0x7f);
            }
        }
    }
    assert!(size > 1 << 14);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn chains_of_pages_that_records_share_end() {
    let (_folder, path) = looping_chain();
    // Damaged, excessive or readable: SQLite judges; it must end.
    if let Err(error) = read(&path) {
        assert!(matches!(error, Error::Excessive { .. } | Error::Damaged { .. }), "{error:?}");
    }
}

/// A database of which 6,500 cells of one page are the same 50,000 bytes.
fn shared_cell() -> (TempDir, PathBuf) {
    const PAGE: usize = 1 << 16;
    const CELLS: u16 = 6500;
    let (folder, path) = database(&["pragma page_size = 65536;", STRINGS, METADATA, OPS]);
    let connection = Connection::open(&path).unwrap();
    connection.execute("insert into rocpd_metadata values(1, 'tag', ?1)", ["x".repeat(50_000)]).unwrap();
    let root = "select rootpage from sqlite_master where name = 'rocpd_metadata'";
    let root: usize = connection.query_row(root, [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap();
    drop(connection);
    let mut bytes = std::fs::read(&path).unwrap();
    let page = &mut bytes[(root - 1) * PAGE..root * PAGE];
    page[3..5].copy_from_slice(&CELLS.to_be_bytes());
    for cell in 1..usize::from(CELLS) {
        page.copy_within(8..10, 8 + 2 * cell);
    }
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn cells_that_share_their_bytes_are_refused() {
    let (_folder, path) = shared_cell();
    assert_excessive(&path);
}

#[test]
fn hostile_files_end_with_a_report_or_an_error_that_names_them() {
    let Some(shared) = support::shared() else { return };
    for entry in std::fs::read_dir(shared.join("hostile")).into_iter().flatten().flatten() {
        let path = entry.path();
        if let Err(error) = read(&path) {
            assert_eq!(error.path(), path);
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}
