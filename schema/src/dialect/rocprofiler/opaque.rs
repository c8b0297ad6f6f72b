use super::set::Set;
use crate::dialect::opaque_tables;
use crate::sqlite::{Database, quote};
use crate::{Result, Tables};

/// Tables of a set that are read into columns, or that rows of others refer to.
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

/// Keeps every other table of the set that has rows: names of queues and streams, code objects, tables of later
/// schemas.
pub(super) fn read(set: Set<'_>, tables: &mut Tables) -> Result<()> {
    for table in set.database.tables() {
        let base = table.strip_suffix(set.suffix);
        if base.is_none_or(|base| READ.contains(&base)) {
            continue;
        }
        let table = opaque_tables::read(set.database, table, create_statement(set.database, table)?)?;
        if !table.rows.is_empty() {
            tables.opaque_tables.push(table);
        }
    }
    Ok(())
}

/// A plain statement that creates a table with the same columns. The stored one refers to other tables of its set and
/// quotes its defaults in a way that newer versions of SQLite refuse.
fn create_statement(database: &Database, table: &str) -> Result<String> {
    let mut columns = Vec::new();
    database.query("select name, type from pragma_table_info(?1)", [table], |row| {
        columns.push(format!("{} {}", quote(&row.get::<_, String>(0)?), row.get::<_, String>(1)?));
        Ok(())
    })?;
    Ok(format!("CREATE TABLE {} ({})", quote(table), columns.join(", ")))
}
