use rusqlite::types::ValueRef;

use crate::Result;
use crate::sqlite::{Database, quote};
use crate::table::{OpaqueTable, Value};

/// Reads all rows of a table that rtl gives no meaning to; `create` is the statement that creates it elsewhere.
pub(super) fn read(database: &Database, name: &str, create: String) -> Result<OpaqueTable> {
    let read = || {
        let mut statement = database.connection().prepare(&format!("select * from {}", quote(name)))?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let count = columns.len();
        let rows = statement
            .query_map([], |row| (0..count).map(|at| row.get_ref(at).map(value)).collect())?
            .collect::<rusqlite::Result<_>>()?;
        Ok(OpaqueTable { name: name.to_owned(), create, columns, rows })
    };
    read().map_err(|source| database.error(source))
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        other => other.try_into().unwrap_or(Value::Null),
    }
}
