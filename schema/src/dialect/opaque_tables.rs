use rusqlite::types::ValueRef;

use crate::Result;
use crate::sqlite::{Database, quote};
use crate::table::{OpaqueTable, Value};

/// Reads all rows of a table that rtl gives no meaning to; `create` is the statement that creates it elsewhere.
pub(super) fn read(database: &Database, name: &str, create: String) -> Result<OpaqueTable> {
    let columns = database.columns(name)?;
    let count = columns.len();
    let mut rows = Vec::new();
    database.query(&format!("select * from {}", quote(name)), [], |row| {
        rows.push((0..count).map(|at| row.get_ref(at).map(value)).collect::<rusqlite::Result<_>>()?);
        Ok(())
    })?;
    Ok(OpaqueTable { name: name.to_owned(), create, columns, rows })
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        other => other.try_into().unwrap_or(Value::Null),
    }
}
