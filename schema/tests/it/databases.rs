//! Scans are compared with what SQLite itself reads.

pub(crate) mod recipe;

use std::path::Path;

use rtl_schema::sqlite::{AddRows, Database, FastColumns, FastRow, IntegerColumn, Readers, Row};
use rusqlite::{Connection, OpenFlags, types::ValueRef};

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
    // Without it SQLite reads past the end of damaged pages, and answers by what happens to lie there.
    connection.execute_batch("pragma cell_size_check = on")?;
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
pub(crate) fn by_scan(database: &Database, table: &str, columns: &[&str]) -> rtl_schema::Result<Answer> {
    let mut answer = Vec::new();
    database.scan(table, columns, |row| answer.push(values(row, columns.len())))?;
    Ok(answer)
}

/// The rows as a scan in parts gives them.
pub(crate) fn by_scan_parts(
    database: &Database,
    table: &str,
    columns: &[&str],
) -> rtl_schema::Result<Answer> {
    let each = |part: &mut Answer, row: &Row<'_>| part.push(values(row, columns.len()));
    Ok(database.scan_parts(table, columns, Vec::new, each)?.concat())
}

/// A row of five columns as integers: on the fast path with its rowid, where its first column is not negative.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FastOrOther {
    Fast(i64, [i64; 5]),
    Other([Option<i64>; 5]),
}

/// The rows that a scan with fast rows gives.
#[derive(Debug, Default)]
pub(crate) struct FastAnswer {
    pub(crate) rows: Vec<FastOrOther>,
    /// False where only the library can read the rows behind these.
    pub(crate) whole: bool,
}

/// True if fast rows with that last column are not taken.
pub(crate) fn is_refused(last: i64) -> bool {
    last.rem_euclid(64) == 13
}

impl AddRows<5> for FastAnswer {
    type Facts = ();

    fn facts(&self, _: &Row<'_>) -> Option<()> {
        Some(())
    }

    fn add_fast<'a>(&mut self, rows: impl Iterator<Item = FastRow<'a, 5, ()>>) -> bool {
        for row in rows {
            if is_refused(row.int(4)) {
                return false;
            }
            self.rows.push(FastOrOther::Fast(row.id(), std::array::from_fn(|at| row.int(at))));
        }
        true
    }

    fn add(&mut self, row: &Row<'_>) {
        self.rows.push(FastOrOther::Other(std::array::from_fn(|at| row.int(at))));
    }
}

/// The rows as a scan with fast rows gives them, some leaves at a time; `None` where the table has no fast rows.
pub(crate) fn by_fast_rows(
    path: &Path,
    table: &str,
    columns: [&str; 5],
    leaves: usize,
) -> rtl_schema::Result<Option<FastAnswer>> {
    let database = Database::open(path, path)?;
    let _snapshot = database.snapshot()?;
    let found = database.find_leaves(table, &columns)?;
    let pieces = database.pieces(table, &columns, found.as_ref(), leaves);
    let fast = FastColumns { integers: std::array::from_fn(IntegerColumn::Integer) };
    let Some(leaves) = pieces.leaves().filter(|leaves| leaves.has_fast_rows(&fast)) else { return Ok(None) };
    let readers = Readers::of(fast);
    let mut answer = FastAnswer::default();
    answer.whole = leaves.shares().into_iter().all(|share| {
        let before = answer.rows.len();
        let read = leaves.scan_fast(share, &readers, &mut answer);
        read.is_some_and(|rows| rows as usize == answer.rows.len() - before)
    });
    pieces.check()?;
    Ok(Some(answer))
}

/// Checks that fast rows are those of the library, as integers: all of them, or those before the first one that only it can read.
pub(crate) fn assert_fast(found: &FastAnswer, expected: &Answer) {
    if found.whole {
        assert_eq!(found.rows.len(), expected.len());
    }
    assert!(found.rows.len() <= expected.len());
    for (found, (id, expected)) in found.rows.iter().zip(expected) {
        let ints: Vec<Option<i64>> = expected.iter().map(|value| value.int).collect();
        match found {
            FastOrOther::Fast(found_id, found) => {
                assert_eq!(found_id, id);
                assert!(!is_refused(found[4]), "row {id}");
                assert_eq!(found.map(Some)[..], ints, "row {id}");
                assert!(found[0] >= 0, "row {id}: {ints:?}");
            }
            FastOrOther::Other(found) => assert_eq!(found[..], ints, "row {id}"),
        }
    }
}

/// The first five columns, where there are so many; a shorter table repeats its own.
pub(crate) fn five<'a>(columns: &[&'a str]) -> Option<[&'a str; 5]> {
    (!columns.is_empty()).then(|| std::array::from_fn(|at| columns[at % columns.len()]))
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

/// Reads every table of a file that may be damaged: where SQLite answers, a scan answers the same; where
/// SQLite reports an error, so does a scan. Returns how many tables were compared.
pub(crate) fn assert_agreement(path: &Path) -> usize {
    let Ok(database) = Database::open(path, path) else { return 0 };
    let mut compared = 0;
    for table in database.tables() {
        let Ok(columns) = database.columns(table) else { continue };
        compared += 1;
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        let expected = by_library(path, table, &columns);
        // SQLite checks a page once per connection, so each has to be the first to come upon it.
        let fresh = || Database::open(path, path);
        let scan = fresh().and_then(|database| by_scan(&database, table, &columns));
        let parts = fresh().and_then(|database| by_scan_parts(&database, table, &columns));
        for answer in [scan, parts] {
            match (&expected, answer) {
                (Ok(expected), Ok(answer)) => assert_eq!(&answer, expected, "{table}"),
                (Err(_), Err(_)) => {}
                (expected, answer) => panic!("{table}: SQLite {expected:?}, scan {answer:?}"),
            }
        }
        if let Some(five) = five(&columns) {
            let expected = by_library(path, table, &five);
            match (&expected, by_fast_rows(path, table, five, 2)) {
                (Ok(expected), Ok(Some(found))) => assert_fast(&found, expected),
                (Err(_), Err(_)) | (_, Ok(None)) => {}
                (Err(_), Ok(Some(found))) if !found.whole => {}
                (expected, found) => panic!("{table}: SQLite {expected:?}, fast rows {found:?}"),
            }
        }
    }
    compared
}
