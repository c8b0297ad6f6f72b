use rusqlite::types::ValueRef;

use super::Set;
use crate::table::{OpaqueTable, Value};
use crate::{Result, Tables};

/// Tables of a set that become columns, or that only say what the rows of others mean.
const READ: [&str; 17] = [
    "rocpd_metadata",
    "rocpd_string",
    "rocpd_info_node",
    "rocpd_info_process",
    "rocpd_info_thread",
    "rocpd_info_agent",
    "rocpd_info_pmc",
    "rocpd_info_kernel_symbol",
    "rocpd_track",
    "rocpd_event",
    "rocpd_arg",
    "rocpd_pmc_event",
    "rocpd_region",
    "rocpd_sample",
    "rocpd_kernel_dispatch",
    "rocpd_memory_copy",
    "rocpd_memory_allocate",
];

/// Keeps every other table of the set that has rows: names of queues and streams, code objects, what a
/// later schema adds.
pub(super) fn read(set: Set<'_>, tables: &mut Tables) -> Result<()> {
    for table in set.database.tables() {
        let base = table.strip_suffix(set.suffix);
        if base.is_none_or(|base| READ.contains(&base)) {
            continue;
        }
        let extra = extra(set, table).map_err(|source| set.database.error(source))?;
        if !extra.rows.is_empty() {
            tables.opaque_tables.push(extra);
        }
    }
    Ok(())
}

/// The stored statement refers to the other tables of its set and quotes its defaults as SQLite no longer
/// likes it, so a plain one with the same columns takes its place.
fn extra(set: Set<'_>, table: &str) -> rusqlite::Result<OpaqueTable> {
    let connection = set.database.connection();
    let described: Vec<(String, String)> = connection
        .prepare("select name, type from pragma_table_info(?1)")?
        .query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let list: Vec<String> = described.iter().map(|(name, kind)| format!("{} {kind}", quoted(name))).collect();
    let mut statement = connection.prepare(&format!("select * from {}", quoted(table)))?;
    let rows = statement
        .query_map([], |row| (0..described.len()).map(|at| row.get_ref(at).map(value)).collect())?
        .collect::<rusqlite::Result<_>>()?;
    Ok(OpaqueTable {
        name: table.to_owned(),
        create: format!("CREATE TABLE {} ({})", quoted(table), list.join(", ")),
        columns: described.into_iter().map(|(name, _)| name).collect(),
        rows,
    })
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Int(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}
