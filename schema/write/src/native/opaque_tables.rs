//! Tables that only their own tools understand: SQLite copies them, because their statements are not ours.

use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::output::OutputFile;
use rtl_schema::Result;
use rtl_schema::table::OpaqueTable;

/// Adds the tables that only their own tools understand, of whatever kind, and what else `script` says, to a finished
/// file. One whose name the file itself needs is left out; the second of a name, as several merged traces have it, gets
/// one of its own: what its rows refer to is not known, so they are not mixed.
pub(crate) fn add(output: &OutputFile, extras: &[OpaqueTable], script: &str) -> Result<()> {
    if extras.is_empty() && script.is_empty() {
        return Ok(());
    }
    let write = || -> rusqlite::Result<()> {
        let connection = open(output)?;
        connection.execute_batch(script)?;
        for (at, extra) in extras.iter().enumerate() {
            let before = extras[..at].iter().filter(|earlier| earlier.name == extra.name).count();
            let name = match before {
                0 => extra.name.clone(),
                _ => format!("{}_{}", extra.name, before + 1),
            };
            if !connection.table_exists(None, name.as_str())? {
                write(&connection, extra, &name)?;
            }
        }
        connection.execute_batch("COMMIT")?;
        connection.close().map_err(|(_, source)| source)
    };
    write().map_err(|source| output.sqlite(source))
}

fn write(connection: &Connection, extra: &OpaqueTable, name: &str) -> rusqlite::Result<()> {
    let columns: Vec<String> = extra.columns.iter().map(|column| quoted(column)).collect();
    let plain = format!("CREATE TABLE {}({})", quoted(name), columns.join(","));
    let create = if name == extra.name { &extra.create } else { &plain };
    // The text is the input's. SQLite reads only the first statement of it, so `execute`, which refuses others behind it.
    if connection.execute(create, []).is_err() {
        connection.execute(&plain, [])?;
    }
    let marks = vec!["?"; columns.len()].join(",");
    let insert = format!("INSERT INTO {}({}) VALUES ({marks})", quoted(name), columns.join(","));
    let mut insert = connection.prepare(&insert)?;
    for row in &extra.rows {
        insert.execute(params_from_iter(row))?;
    }
    Ok(())
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Journal and syncs off: no reader sees the file before it is complete, and a crash leaves only a temporary name.
pub(crate) fn open(output: &OutputFile) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Locks are for files that others know, and on NFS they exclude the one that marks a living temporary.
    let connection = Connection::open_with_flags_and_vfs(&output.place, flags, c"unix-none")?;
    connection.execute_batch(
        "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;
         PRAGMA foreign_keys=OFF; PRAGMA cache_size=-8192; BEGIN",
    )?;
    Ok(connection)
}
