//! Databases laid out as rocprofv3 does, for tests: the tables without their content.

use std::path::Path;

use rusqlite::{Connection, Result};

/// Every table of schema 3.0.0 with its columns after `id` and `guid`.
const TABLES: [(&str, &str); 19] = [
    ("rocpd_string", "string"),
    ("rocpd_info_node", "hash, machine_id, system_name, hostname, release, version, hardware_name, domain_name"),
    ("rocpd_info_process", "nid, ppid, pid, init, fini, start, end, command, environment, extdata"),
    ("rocpd_info_thread", "nid, ppid, pid, tid, name, start, end, extdata"),
    (
        "rocpd_info_agent",
        "nid, pid, type, absolute_index, logical_index, type_index, uuid, name, model_name, vendor_name,
         product_name, user_name, extdata",
    ),
    ("rocpd_info_queue", "nid, pid, name, extdata"),
    ("rocpd_info_stream", "nid, pid, name, extdata"),
    (
        "rocpd_info_pmc",
        "nid, pid, agent_id, target_arch, event_code, instance_id, name, symbol, description, long_description,
         component, units, value_type, block, expression, is_constant, is_derived, extdata",
    ),
    (
        "rocpd_info_code_object",
        "nid, pid, agent_id, uri, load_base, load_size, load_delta, storage_type, extdata",
    ),
    (
        "rocpd_info_kernel_symbol",
        "nid, pid, code_object_id, kernel_name, display_name, kernel_object, kernarg_segment_size,
         kernarg_segment_alignment, group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count,
         accum_vgpr_count, extdata",
    ),
    ("rocpd_track", "nid, pid, tid, name_id, extdata"),
    ("rocpd_event", "category_id, stack_id, parent_stack_id, correlation_id, call_stack, line_info, extdata"),
    ("rocpd_arg", "event_id, position, type, name, value, extdata"),
    ("rocpd_pmc_event", "event_id, pmc_id, value, extdata"),
    ("rocpd_region", "nid, pid, tid, start, end, name_id, event_id, extdata"),
    ("rocpd_sample", "track_id, timestamp, event_id, extdata"),
    (
        "rocpd_kernel_dispatch",
        "nid, pid, tid, agent_id, kernel_id, dispatch_id, queue_id, stream_id, start, end, private_segment_size,
         group_segment_size, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y,
         grid_size_z, region_name_id, event_id, extdata",
    ),
    (
        "rocpd_memory_copy",
        "nid, pid, tid, start, end, name_id, dst_agent_id, dst_address, src_agent_id, src_address, size,
         queue_id, stream_id, region_name_id, event_id, extdata",
    ),
    (
        "rocpd_memory_allocate",
        "nid, pid, tid, agent_id, type, level, start, end, address, size, queue_id, stream_id, event_id, extdata",
    ),
];

/// A database of one or more table sets.
#[derive(Debug)]
pub struct Rocpd {
    connection: Connection,
}

/// The tables of one process.
#[derive(Debug)]
pub struct Set<'a> {
    connection: &'a Connection,
    guid: String,
}

impl Rocpd {
    /// A new file.
    ///
    /// # Errors
    /// SQLite's.
    pub fn create(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch("pragma foreign_keys = off")?;
        Ok(Self { connection })
    }

    /// The tables of one more process: empty but for the three metadata rows.
    ///
    /// # Errors
    /// SQLite's.
    pub fn set(&self, guid: &str, version: &str) -> Result<Set<'_>> {
        let set = Set { connection: &self.connection, guid: guid.to_owned() };
        for (table, columns) in TABLES {
            let columns: Vec<String> =
                columns.split(',').map(|column| format!("\"{}\"", column.trim())).collect();
            let columns = columns.join(", ");
            set.run(&format!(
                "create table {table}$ (id integer primary key autoincrement, guid text not null default '{guid}', {columns})"
            ))?;
        }
        set.run(&format!(
            "create table rocpd_metadata$ (id integer primary key autoincrement, tag text not null, value text not null);
             insert into rocpd_metadata$ (tag, value) values
                ('schema_version', '{version}'), ('uuid', '$'), ('guid', '{guid}')"
        ))?;
        Ok(set)
    }
}

impl Set<'_> {
    /// Runs SQL in which `$` stands for the ending of this set's table names.
    ///
    /// # Errors
    /// SQLite's.
    pub fn run(&self, sql: &str) -> Result<()> {
        let suffix = format!("_{}", self.guid.replace('-', "_"));
        self.connection.execute_batch(&sql.replace('$', &suffix))
    }
}
