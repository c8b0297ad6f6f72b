//! Random databases to compare readers on.

use std::path::Path;

use proptest::prelude::*;
use rusqlite::Connection;

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
