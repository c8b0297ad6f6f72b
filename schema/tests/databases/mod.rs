//! What SQLite itself reads, to be compared with a scan, and random databases to compare them on.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rusqlite::{Connection, OpenFlags, types::ValueRef};
use schema::sqlite::{Database, Row};

/// Rows as (rowid, values); a value as what each of [`Row`]'s functions makes of it.
pub(crate) type Answer = Vec<(i64, Vec<Value>)>;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Value {
    int: Option<i64>,
    real: Option<u64>,
    text: Option<String>,
    null: bool,
}

/// The rows as the library steps through them.
pub(crate) fn by_library(path: &Path, table: &str, columns: &[&str]) -> rusqlite::Result<Answer> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let present: Vec<String> = connection
        .prepare("select name from pragma_table_xinfo(?1)")?
        .query_map([table], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let list: String = columns
        .iter()
        .map(|column| match present.iter().find(|name| name.eq_ignore_ascii_case(column)) {
            Some(name) => format!(", \"{name}\""),
            None => ", NULL".to_owned(),
        })
        .collect();
    let ordered = format!("select _rowid_{list} from \"{table}\" order by _rowid_");
    let (mut statement, numbered) = match connection.prepare(&ordered) {
        Ok(statement) => (statement, false),
        Err(_) => (connection.prepare(&format!("select NULL{list} from \"{table}\""))?, true),
    };
    let mut rows = statement.query([])?;
    let mut answer = Vec::new();
    while let Some(row) = rows.next()? {
        let id = if numbered { answer.len() as i64 + 1 } else { row.get(0)? };
        let values = (1..=columns.len()).map(|at| value(row.get_ref(at).unwrap())).collect();
        answer.push((id, values));
    }
    Ok(answer)
}

/// The rows as a scan gives them.
pub(crate) fn by_scan(database: &Database, table: &str, columns: &[&str]) -> schema::Result<Answer> {
    let mut answer = Vec::new();
    database.scan(table, columns, |row| answer.push(values(row, columns.len())))?;
    Ok(answer)
}

/// The rows as a scan in parts gives them.
pub(crate) fn by_scan_parts(database: &Database, table: &str, columns: &[&str]) -> schema::Result<Answer> {
    let each = |part: &mut Answer, row: &Row<'_>| part.push(values(row, columns.len()));
    Ok(database.scan_parts(table, columns, Vec::new, each)?.concat())
}

fn values(row: &Row<'_>, columns: usize) -> (i64, Vec<Value>) {
    let value = |at| Value {
        int: row.int(at),
        real: row.real(at).map(f64::to_bits),
        text: row.text(at).map(|text| text.into_owned()),
        null: row.is_null(at),
    };
    (row.id(), (0..columns).map(value).collect())
}

fn value(value: ValueRef<'_>) -> Value {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let spelled = |bytes| std::str::from_utf8(bytes).ok().map(str::trim);
    match value {
        ValueRef::Null => Value { int: None, real: None, text: None, null: true },
        ValueRef::Integer(value) => Value {
            int: Some(value),
            real: Some((value as f64).to_bits()),
            text: Some(value.to_string()),
            null: false,
        },
        ValueRef::Real(value) => Value {
            int: (value.fract() == 0.0 && value.abs() < 9e18).then_some(value as i64),
            real: Some(value.to_bits()),
            text: Some(value.to_string()),
            null: false,
        },
        ValueRef::Text(bytes) => Value {
            int: spelled(bytes).and_then(|text| text.parse().ok()),
            real: spelled(bytes).and_then(|text| text.parse().ok()).map(f64::to_bits),
            text: Some(text(bytes)),
            null: false,
        },
        ValueRef::Blob(bytes) => Value { int: None, real: None, text: Some(text(bytes)), null: false },
    }
}

/// A file that may be damaged: where SQLite answers, a scan answers the same or refuses the file as cut
/// off; where SQLite reports an error, so does a scan.
#[allow(dead_code, reason = "not every test damages files")]
pub(crate) fn check_damaged(path: &Path, columns: &[String]) -> Result<(), TestCaseError> {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let Ok(database) = Database::open(path, path) else { return Ok(()) };
    let tables = database.tables().to_vec();
    let Some(table) = tables.iter().find(|name| *name == "t") else { return Ok(()) };
    let expected = by_library(path, table, &columns);
    for answer in [by_scan(&database, table, &columns), by_scan_parts(&database, table, &columns)] {
        match (&expected, answer) {
            (Ok(expected), Ok(answer)) => prop_assert_eq!(&answer, expected),
            (Err(_), Err(_)) => {}
            (expected, answer) => {
                return Err(TestCaseError::fail(format!("SQLite {expected:?}, scan {answer:?}")));
            }
        }
    }
    Ok(())
}

/// How a random table is made.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    page_size: u32,
    auto_vacuum: bool,
    without_rowid: bool,
    kinds: Vec<&'static str>,
    rows: Vec<(Option<i64>, Vec<Cell>)>,
    delete_every: Option<usize>,
    added: Option<&'static str>,
    late_rows: usize,
}

#[derive(Debug, Clone)]
enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text(usize),
    Blob(usize),
}

/// Any table within reason.
#[allow(dead_code, reason = "not every test makes random tables")]
pub(crate) fn recipe() -> impl Strategy<Value = Recipe> + use<> {
    let length = prop_oneof![4 => 0..80_usize, 2 => 80..1500_usize, 1 => 1500..40_000_usize];
    let number = prop_oneof![
        any::<i64>(),
        any::<i32>().prop_map(i64::from),
        any::<i16>().prop_map(i64::from),
        -2..3_i64,
        (-1_i64 << 47) - 2..(-1_i64 << 47) + 2,
        (1_i64 << 47) - 2..(1_i64 << 47) + 2,
    ];
    let cell = prop_oneof![
        2 => Just(Cell::Null),
        6 => number.clone().prop_map(Cell::Int),
        2 => any::<f64>().prop_map(Cell::Real),
        2 => any::<i32>().prop_map(|whole| Cell::Real(f64::from(whole))),
        3 => length.clone().prop_map(Cell::Text),
        1 => length.prop_map(Cell::Blob),
    ];
    let kind =
        prop::sample::select(vec!["", "INTEGER", "REAL", "TEXT", "BLOB", "NUMERIC", "DOUBLE PRECISION"]);
    let id = prop_oneof![3 => Just(None), 1 => number.prop_map(Some)];
    let row = (id, prop::collection::vec(cell, 5));
    (
        prop::sample::select(vec![512, 1024, 4096, 65536]),
        any::<bool>(),
        prop::bool::weighted(0.1),
        prop::collection::vec(kind, 1..5),
        prop::collection::vec(row, 0..120),
        prop::option::of(2..7_usize),
        prop::option::of(prop::sample::select(vec![
            "",
            "integer default null",
            "integer default 7",
            "text default 'x'",
        ])),
        0..5_usize,
    )
        .prop_map(
            |(page_size, auto_vacuum, without_rowid, kinds, rows, delete_every, added, late_rows)| Recipe {
                page_size,
                auto_vacuum,
                without_rowid,
                kinds,
                rows,
                delete_every,
                added,
                late_rows,
            },
        )
}

#[allow(dead_code, reason = "not every test makes random tables")]
impl Recipe {
    pub(crate) fn make(&self, path: &Path) {
        let connection = Connection::open(path).unwrap();
        let columns: String =
            self.kinds.iter().enumerate().map(|(at, kind)| format!(", c{at} {kind}")).collect();
        connection
            .execute_batch(&format!(
                "pragma page_size = {}; pragma auto_vacuum = {}; pragma journal_mode = memory; begin;
                 create table other(a); create table t(id integer primary key{columns}){}",
                self.page_size,
                u8::from(self.auto_vacuum),
                if self.without_rowid { " without rowid" } else { "" },
            ))
            .unwrap();
        let (early, late) = self.rows.split_at(self.rows.len().saturating_sub(self.late_rows));
        self.insert(&connection, early, 1);
        if let Some(every) = self.delete_every {
            connection.execute("delete from t where abs(id % ?1) = 1", [every as i64]).unwrap();
        }
        if let Some(added) = self.added {
            connection.execute_batch(&format!("alter table t add column late {added}")).unwrap();
        }
        self.insert(&connection, late, 1_000_000);
        connection.execute_batch("commit").unwrap();
    }

    fn insert(&self, connection: &Connection, rows: &[(Option<i64>, Vec<Cell>)], first: i64) {
        let marks = ", ?".repeat(self.kinds.len());
        let names: String = (0..self.kinds.len()).map(|at| format!(", c{at}")).collect();
        let sql = format!("insert or replace into t(id{names}) values(?{marks})");
        let mut statement = connection.prepare(&sql).unwrap();
        for (at, (id, cells)) in rows.iter().enumerate() {
            statement.raw_bind_parameter(1, id.unwrap_or(first + at as i64)).unwrap();
            for (position, cell) in cells.iter().take(self.kinds.len()).enumerate() {
                let to = position + 2;
                match cell {
                    Cell::Null => statement.raw_bind_parameter(to, rusqlite::types::Null),
                    Cell::Int(value) => statement.raw_bind_parameter(to, value),
                    Cell::Real(value) => statement.raw_bind_parameter(to, value),
                    Cell::Text(length) => statement.raw_bind_parameter(to, "aé7".repeat(length / 4)),
                    Cell::Blob(length) => statement.raw_bind_parameter(to, vec![0xa7_u8; *length]),
                }
                .unwrap();
            }
            statement.raw_execute().unwrap();
            // What lies between the leaves of a table is not always its own.
            if at % 3 == 0 {
                connection.execute("insert into other values(zeroblob(300))", []).unwrap();
            }
        }
    }

    /// All columns.
    pub(crate) fn columns(&self) -> Vec<String> {
        let named = (0..self.kinds.len()).map(|at| format!("c{at}"));
        named.chain(["id".to_owned(), "late".to_owned(), "missing".to_owned()]).collect()
    }

    /// Some columns, not in order.
    pub(crate) fn few_columns(&self) -> Vec<String> {
        (0..self.kinds.len()).rev().step_by(2).map(|at| format!("c{at}")).collect()
    }
}
