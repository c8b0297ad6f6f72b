use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::place::Place;
use crate::Result;
use crate::table::{Extra, Value};

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Real(value) => ValueRef::Real(*value),
            Self::Text(value) => ValueRef::Text(value.as_bytes()),
            Self::Blob(value) => ValueRef::Blob(value),
        }))
    }
}

/// Adds the tables that only their own tools understand, of whatever kind, and what else `script` says, to a finished
/// file. One whose name is taken is left out.
pub(crate) fn add(place: &Place, extras: &[Extra], script: &str) -> Result<()> {
    if extras.is_empty() && script.is_empty() {
        return Ok(());
    }
    let write = || -> rusqlite::Result<()> {
        let connection = open(place)?;
        connection.execute_batch(script)?;
        for extra in extras {
            if !connection.table_exists(None, extra.name.as_str())? {
                write(&connection, extra)?;
            }
        }
        connection.execute_batch("COMMIT")?;
        connection.close().map_err(|(_, source)| source)
    };
    write().map_err(|source| place.sqlite(source))
}

fn write(connection: &Connection, extra: &Extra) -> rusqlite::Result<()> {
    connection.execute_batch(&extra.create)?;
    let columns: Vec<String> = extra.columns.iter().map(|column| quoted(column)).collect();
    let marks = vec!["?"; columns.len()].join(",");
    let insert = format!("INSERT INTO {}({}) VALUES ({marks})", quoted(&extra.name), columns.join(","));
    let mut insert = connection.prepare(&insert)?;
    for row in &extra.rows {
        insert.execute(params_from_iter(row))?;
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Journal and syncs off: nobody sees the file before it is complete, and a crash leaves only a temporary name.
pub(crate) fn open(place: &Place) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(place.bytes(), flags)?;
    connection.execute_batch(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;
         PRAGMA foreign_keys=OFF; PRAGMA cache_size=-8192; BEGIN",
    )?;
    Ok(connection)
}
