use super::reader::Reader;
use super::rocpd::{Header, Metadata, Names, References, Variant};
use crate::layout::tags;
use crate::sqlite::Database;
use crate::table::Process;
use crate::{Dialect, ProcessId, Result, Select, Tables};

pub(super) const READER: Reader = Reader::Ops { recognise, header };

/// rocm-trace-lite states no version: its `rocpd_op` has RPD 2's `completionSignal`, and the key of its call tables is
/// `api_id` instead of RPD's `api_ptr_id`.
fn recognise(database: &Database) -> Result<bool> {
    Ok(database.has_table("rocpd_string")
        && database.has_column("rocpd_op", "completionSignal")?
        && !database.has_column("rocpd_kernelapi", "api_ptr_id")?
        && Metadata::read(database)?.get(tags::SCHEMA_VERSION).is_none())
}

/// Reads metadata and strings.
fn header(database: &Database, _: &Select) -> Result<Header> {
    let variant = Variant { signal_is_shape: true, ..Variant::default() };
    let mut tables = Tables::default();
    let metadata = Metadata::read(database)?;
    let mut pids: Vec<i64> = metadata.all(tags::PID).filter_map(|pid| pid.trim().parse().ok()).collect();
    pids.dedup();
    // A merged file lists the pids of all its parts and ties no op to one of them.
    let mut references = References::default();
    if let [pid] = pids[..] {
        tables.processes.push(Process { pid: Some(pid), ..Process::default() });
        references.process = Some(ProcessId(0));
    }
    tables.info = metadata.info(Dialect::Lite, "rocm-trace-lite");
    let names = Names::read(database, "rocpd_string", &mut tables.strings)?;
    Ok(Header { variant, names, references, tables })
}
