use super::Dialect;
use super::rocpd::{Known, LaunchRows, Layout, Metadata, Names, Prepared};
use crate::sqlite::Database;
use crate::table::Process;
use crate::{ProcessId, Result, Tables};

/// rocm-trace-lite states no version: its `rocpd_op` keeps RPD 2's `completionSignal`, its call tables are
/// keyed by `api_id` where RPD's are by `api_ptr_id`.
pub(crate) fn recognise(database: &Database) -> Result<bool> {
    let has = |table: &str, column: &str| -> Result<bool> {
        Ok(database.columns(table)?.iter().any(|name| name == column))
    };
    Ok(database.has_table("rocpd_string")
        && has("rocpd_op", "completionSignal")?
        && !has("rocpd_kernelapi", "api_ptr_id")?
        && Metadata::read(database)?.get("schema_version").is_none())
}

/// Reads what the rows refer to.
pub(crate) fn prepare(database: &Database) -> Result<Prepared> {
    let layout = Layout {
        markers_are_calls: false,
        ops_named_by_type: false,
        cause_by_link: false,
        args_table: "rocpd_string",
        signal_is_shape: true,
        typed_ops: false,
        launches: LaunchRows::Arguments,
        gpu_stride: None,
        pid_stride: None,
    };
    let mut tables = Tables::default();
    let metadata = Metadata::read(database)?;
    let mut pids: Vec<i64> = metadata.all("pid").filter_map(|pid| pid.trim().parse().ok()).collect();
    pids.dedup();
    // A merged file lists the pids of all its parts and ties no op to one of them.
    let mut known = Known::default();
    if let [pid] = pids[..] {
        tables.processes.push(Process { pid: Some(pid), ..Process::default() });
        known.process = Some(ProcessId(0));
    }
    tables.info = metadata.info(Dialect::Lite, "rocm-trace-lite");
    let names = Names::read(database, "rocpd_string", &mut tables.strings)?;
    Ok(Prepared { layout, names, known, tables })
}
