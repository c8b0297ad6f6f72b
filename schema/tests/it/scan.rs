//! A scan answers what SQLite answers, whoever of the two reads the pages.

use crate::databases;
use crate::databases::recipe;

use std::num::NonZero;
use std::path::{Path, PathBuf};

use crate::databases::{Answer, FastOrOther, by_library, by_scan, by_scan_parts};
use proptest::prelude::*;
use rtl_schema::sqlite::Database;
use rusqlite::Connection;
use tempfile::TempDir;

/// A database of these statements in a folder that lives as long as it is held.
fn database(sql: &str) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.db");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, path)
}

fn assert_equal(path: &Path, table: &str, columns: &[&str]) -> Answer {
    let expected = by_library(path, table, columns).unwrap();
    let database = Database::open(path, path).unwrap();
    assert_eq!(by_scan(&database, table, columns).unwrap(), expected, "{table} {columns:?}");
    assert_eq!(by_scan_parts(&database, table, columns).unwrap(), expected, "{table} {columns:?} in parts");
    expected
}

/// Rowid and one integer column of every row.
fn ids_and_numbers(path: &Path, table: &str, columns: &[&str]) -> Vec<(i64, Option<i64>)> {
    let database = Database::open(path, path).unwrap();
    let mut rows = Vec::new();
    database.scan(table, columns, |row| rows.push((row.id(), row.int(0)))).unwrap();
    rows
}

#[test]
fn columns_come_by_name_in_the_order_asked_for() {
    let (_folder, path) = database("create table t(a, b, c); insert into t values(1, 'two', 3.5)");
    let database = Database::open(&path, &path).unwrap();
    database
        .scan("t", &["c", "A", "missing", "b"], |row| {
            assert_eq!(row.real(0), Some(3.5));
            assert_eq!(row.int(1), Some(1));
            assert!(row.is_null(2));
            assert_eq!(row.text(3).as_deref(), Some("two"));
        })
        .unwrap();
    assert_equal(&path, "t", &["c", "A", "missing", "b", "a"]);
}

#[test]
fn rowids_may_be_negative_and_exceed_32_bits() {
    let ids = [i64::MIN, -1, 0, 1 << 32, i64::MAX];
    let values = ids.map(|id| format!("({id}, 1)")).join(", ");
    let (_folder, path) =
        database(&format!("create table t(id integer primary key, a); insert into t values {values}"));
    assert_eq!(ids_and_numbers(&path, "t", &["id"]), ids.map(|id| (id, Some(id))));
}

#[test]
fn a_descending_integer_key_is_no_rowid() {
    let (_folder, path) = database(
        "create table t(a integer primary key desc, b); insert into t values(10, 1), (5, 2), (null, 3)",
    );
    assert_eq!(ids_and_numbers(&path, "t", &["a"]), [(1, Some(10)), (2, Some(5)), (3, None)]);
}

#[test]
fn a_column_named_rowid_does_not_hide_the_rowid() {
    let (_folder, path) =
        database("create table t(rowid, a as (rowid * 2)); insert into t values(70), (60), (50)");
    let expected = [(1, Some(70)), (2, Some(60)), (3, Some(50))];
    assert_eq!(ids_and_numbers(&path, "t", &["rowid"]), expected);
    assert_eq!(ids_and_numbers(&path, "t", &["rowid", "a"]), expected);
}

#[test]
fn generated_columns_are_computed_or_read() {
    let (_folder, path) = database(
        "create table t(a, twice as (a * 2) virtual, b, thrice as (a * 3) stored, c);
         insert into t values(1, 'b', 'c'), (2, 'd', 'e')",
    );
    assert_equal(&path, "t", &["a", "b", "thrice", "c"]);
    assert_equal(&path, "t", &["c", "twice"]);
}

#[test]
fn rows_older_than_a_column_have_its_default() {
    let (_folder, path) = database(
        "create table t(a); insert into t values(1), (2);
         alter table t add column extra; alter table t add column seven integer default 7;
         insert into t values(3, 4, 5)",
    );
    assert_eq!(ids_and_numbers(&path, "t", &["seven"]), [(1, Some(7)), (2, Some(7)), (3, Some(5))]);
    assert_equal(&path, "t", &["a", "extra", "seven"]);
    assert_equal(&path, "t", &["a", "extra"]);
}

#[test]
fn views_and_tables_without_rowids_are_numbered() {
    let (_folder, path) = database(
        "create table w(k text primary key, v) without rowid; insert into w values('b', 1), ('a', 2);
         create view sums as select k, v + 1 as more from w order by v",
    );
    assert_eq!(ids_and_numbers(&path, "w", &["v"]), [(1, Some(2)), (2, Some(1))]);
    assert_eq!(ids_and_numbers(&path, "sums", &["more"]), [(1, Some(2)), (2, Some(3))]);
}

#[test]
fn other_encodings_are_read_by_the_library() {
    let (_folder, path) = database(
        "pragma encoding = 'UTF-16le'; create table t(a text); insert into t values('grün'), (''), (null)",
    );
    assert_equal(&path, "t", &["a"]);
}

#[test]
fn a_virtual_table_of_a_module_that_is_not_built_in_is_an_error() {
    let (_folder, path) = database(
        "create table t(a); insert into t values(1); pragma writable_schema = on;
         insert into sqlite_master values('table', 'f', 'f', 0, 'create virtual table f using fts5(body)')",
    );
    let database = Database::open(&path, &path).unwrap();
    let error = format!("{:?}", by_scan(&database, "f", &["body"]).unwrap_err());
    assert!(error.contains("no such module: fts5"), "{error}");
    assert_equal(&path, "t", &["a"]);
}

#[test]
fn a_missing_table_has_no_rows() {
    let (_folder, path) = database("create table t(a)");
    let database = Database::open(&path, &path).unwrap();
    database.scan("absent", &["a"], |_| panic!("a row of nothing")).unwrap();
    assert_eq!(database.scan_parts("absent", &["a"], || 7, |_, _| ()).unwrap(), [7]);
    assert_eq!(database.row_estimate("absent"), 0);
    assert_eq!(assert_equal(&path, "t", &["a"]).len(), 0);
}

#[test]
fn the_estimate_is_never_below_the_rows() {
    let (_folder, path) = database(
        "create table dense(a); with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
         insert into dense select null from n;
         create table sparse(id integer primary key); insert into sparse values(-9223372036854775808), (5),
         (9223372036854775807); create table none(a)",
    );
    let database = Database::open(&path, &path).unwrap();
    assert_eq!(database.row_estimate("dense"), 5000);
    assert_eq!(database.row_estimate("none"), 0);
    assert!((3..100_000).contains(&database.row_estimate("sparse")), "{}", database.row_estimate("sparse"));
}

#[test]
fn numbers_keep_their_meaning_whatever_they_are_stored_as() {
    let (_folder, path) = database(
        "create table t(a, r real); insert into t values
         (140737488355328, 140737488355327), (-140737488355329, 1e300), ('', ''), (9e18, 9007199254740993),
         (9223372036854775807, -9223372036854775808), (-8388608, -8388609), (x'00ff', -0.0), (8388607, 0.5),
         ('12', ' 13 '), (32768, -32769), (127, 128), (0, 1), (null, null), (9e999, -9e999)",
    );
    assert_equal(&path, "t", &["a", "r"]);
}

#[test]
fn many_pages_come_in_parts_that_are_in_order() {
    let (_folder, path) = database(
        "pragma page_size = 512; create table t(id integer primary key, a text);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 40000)
         insert into t select i * 3, printf('%.*c', 20 + i % 50, 'x') from n; delete from t where id % 7 = 0",
    );
    let rows = assert_equal(&path, "t", &["a"]);
    assert_eq!(rows.len(), 40_000 - 40_000 / 7);
    let database = Database::open(&path, &path).unwrap();
    threads::set_limit(NonZero::new(3).unwrap());
    let parts = database.scan_parts("t", &[], Vec::new, |part, row| part.push(row.id())).unwrap();
    assert!(parts.len() >= 3, "{}", parts.len());
    assert!(parts.concat().is_sorted());
}

#[test]
fn foreign_traces_read_as_sqlite_reads_them() {
    let Some(shared) = support::shared() else { return };
    for name in ["made/rtl.db", "made/rpd3.rpd", "made/rocprofv3-rank0.db", "real/rpd2-matmul-mi200.rpd"] {
        let path = shared.join("traces").join(name);
        let database = Database::open(&path, &path).unwrap();
        for table in database.tables() {
            let columns = database.columns(table).unwrap();
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let expected = by_library(&path, table, &columns).unwrap();
            assert_eq!(by_scan(&database, table, &columns).unwrap(), expected, "{name} {table}");
        }
    }
}

#[test]
fn rows_of_integers_are_fast_ones() {
    let (_folder, path) = database(
        "create table t(id integer primary key, a integer, b integer, c text, d integer, e integer, f integer);
         with recursive n(i) as (select 0 union all select i + 1 from n where i < 9999)
         insert into t select 100000 + i, i % 8, -i, 'text', i * 100000000000, i % 2, i from n;
         update t set a = -1 where f % 100 = 7; update t set e = null where f % 100 = 8",
    );
    let five = ["a", "d", "b", "e", "f"];
    let found = databases::by_fast_rows(&path, "t", five, 4).unwrap().unwrap();
    assert!(found.whole);
    databases::assert_fast(&found, &by_library(&path, "t", &five).unwrap());
    let fast = found.rows.iter().filter(|row| matches!(row, FastOrOther::Fast(..))).count();
    // Two of a hundred are none.
    let is_fast = |row: &i64| !matches!(row % 100, 7 | 8) && !databases::is_refused(*row);
    assert_eq!(fast, (0..10_000).filter(is_fast).count());
}

/// A table whose last column is younger than its rows, which have its default: only the library reads those.
fn older_rows(then: &str) -> (TempDir, PathBuf) {
    database(&format!(
        "pragma page_size = 512; create table t(a integer, b integer, c integer, d integer);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
         insert into t select i, i, i, i from n; alter table t add column e integer default 7; {then}",
    ))
}

#[test]
fn fast_rows_end_before_a_row_that_only_the_library_reads() {
    let five = ["a", "b", "c", "d", "e"];
    for (then, first) in [("update t set e = 8 where a % 500 <> 250", 249), ("", 0)] {
        let (_folder, path) = older_rows(then);
        let expected = by_library(&path, "t", &five).unwrap();
        for leaves in [1, 7, 1000] {
            let found = databases::by_fast_rows(&path, "t", five, leaves).unwrap().unwrap();
            databases::assert_fast(&found, &expected);
            assert_eq!((found.rows.len(), found.whole), (first, false), "{leaves} leaves");
        }
    }
}

/// A rowid and integers of any width.
fn integers() -> impl Strategy<Value = (i64, [Option<i64>; 5])> {
    let number = (any::<i64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift);
    let column = prop_oneof![20 => number.clone().prop_map(Some), 1 => Just(None)];
    (number, [column.clone(), column.clone(), column.clone(), column.clone(), column])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(support::cases(40)))]

    #[test]
    fn any_table_reads_as_sqlite_reads_it(recipe in recipe::recipe()) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.db");
        recipe.make(&path);
        let database = Database::open(&path, &path).unwrap();
        for columns in [recipe.columns(), recipe.few_columns()] {
            let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
            let expected = by_library(&path, "t", &columns).unwrap();
            prop_assert_eq!(by_scan(&database, "t", &columns).unwrap(), expected.clone());
            prop_assert_eq!(by_scan_parts(&database, "t", &columns).unwrap(), expected);
            let five = databases::five(&columns).unwrap();
            if let Some(found) = databases::by_fast_rows(&path, "t", five, 1).unwrap() {
                databases::assert_fast(&found, &by_library(&path, "t", &five).unwrap());
            }
        }
    }

    #[test]
    fn integers_read_as_sqlite_reads_them(
        rows in prop::collection::vec(integers(), 0..400),
        text in 0..70_usize,
        page_size in prop::sample::select(vec![512, 4096, 65536]),
    ) {
        let (_folder, path) = database(&format!(
            "pragma page_size = {page_size};
             create table t(id integer primary key, a integer, b integer, c text, d integer, e integer, f integer)",
        ));
        let connection = Connection::open(&path).unwrap();
        for (id, [a, b, d, e, f]) in &rows {
            let mut statement = connection.prepare_cached("insert or replace into t values (?, ?, ?, ?, ?, ?, ?)").unwrap();
            statement.execute(rusqlite::params![id, a, b, "x".repeat(text), d, e, f]).unwrap();
        }
        drop(connection);
        let five = ["a", "d", "b", "e", "f"];
        for leaves in [1, 3, 1000] {
            let found = databases::by_fast_rows(&path, "t", five, leaves).unwrap().unwrap();
            prop_assert!(found.whole);
            databases::assert_fast(&found, &by_library(&path, "t", &five).unwrap());
        }
    }

    #[test]
    fn a_damaged_file_reads_as_sqlite_reads_it(
        recipe in recipe::recipe(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a.db");
        recipe.make(&path);
        let mut bytes = std::fs::read(&path).unwrap();
        for (at, byte) in flips {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        std::fs::write(&path, &bytes).unwrap();
        databases::assert_agreement(&path);
    }
}
