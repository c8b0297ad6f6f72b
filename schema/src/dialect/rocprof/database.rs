//! results.db: a table for each kind of record. The index of a call or an op is its correlation id.

use super::rows::{Annotation, Call, Kind, Op, Rows};
use crate::sqlite::{Database, Row, scanned};
use crate::table::RangeKind;
use crate::{Dialect, ProblemKind, Result, Select, Tables};

/// Every file has this table, if only with two columns.
const DISPATCHES: &str = "KERN";

pub(super) fn recognise(database: &Database) -> Result<bool> {
    let others = ["OPS", "COPY", "HIP", "HSA", "rocTX"];
    Ok(database.has_column(DISPATCHES, "KernelName")?
        || others.iter().any(|table| database.has_table(table)) && is_of_rocprof(database, &others)?)
}

fn is_of_rocprof(database: &Database, tables: &[&str]) -> Result<bool> {
    for table in tables {
        if database.has_column(table, "BeginNs")? && database.has_column(table, "__section")? {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(super) fn read(database: &Database, select: &Select) -> Result<Tables> {
    let mut rows = Rows::new(select);
    for domain in ["HIP", "HSA", "KFD"] {
        calls(database, domain, &mut rows)?;
    }
    annotations(database, &mut rows)?;
    ops(database, "OPS", Kind::Kernel, &mut rows)?;
    ops(database, "COPY", Kind::Copy, &mut rows)?;
    // Of a traced run, both tables have the dispatches.
    if rows.tables.dispatches.is_empty() {
        dispatches(database, &mut rows)?;
    }
    Ok(rows.finish(Dialect::RocprofDatabase))
}

fn start(rows: &mut Rows, table: &str, row: &Row<'_>, at: usize) -> Option<i64> {
    let start = row.int(at);
    if start.is_none() {
        rows.tables.problems.add_in(ProblemKind::MissingStart, table, "BeginNs", row.id());
    }
    start
}

/// A name without the quotes that rocprof stores with some.
fn plain(name: &str) -> &str {
    name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name)
}

fn calls(database: &Database, domain: &str, rows: &mut Rows) -> Result<()> {
    scanned!(columns: begin = "BeginNs", end = "EndNs", pid, tid, name = "Name", args, index = "Index");
    database.scan(domain, &columns, |row| {
        let Some(start) = start(rows, domain, row, begin) else { return };
        let (name, args) = (row.text(name).unwrap_or_default(), row.text(args).unwrap_or_default());
        rows.call(&Call {
            id: row.id(),
            domain,
            name: plain(&name),
            args: &args,
            pid: row.int(pid),
            tid: row.int(tid),
            start,
            end: row.int(end),
            correlation: row.int(index).unwrap_or(0),
            ..Call::default()
        });
    })
}

fn annotations(database: &Database, rows: &mut Rows) -> Result<()> {
    const TABLE: &str = "rocTX";
    scanned!(columns: begin = "BeginNs", end = "EndNs", pid, tid, name = "Name");
    database.scan(TABLE, &columns, |row| {
        let Some(start) = start(rows, TABLE, row, begin) else { return };
        let end = row.int(end);
        // rocprof gives a marker an end 1 ns later.
        let is_marker = end.and_then(|end| end.checked_sub(start)) == Some(1);
        let kind = if is_marker { RangeKind::Marker } else { RangeKind::Unknown };
        let name = row.text(name).unwrap_or_default();
        let (pid, tid) = (row.int(pid), row.int(tid));
        rows.annotation(&Annotation { id: row.id(), name: plain(&name), pid, tid, kind, start, end });
    })
}

fn ops(database: &Database, table: &str, kind: Kind, rows: &mut Rows) -> Result<()> {
    scanned!(columns: begin = "BeginNs", end = "EndNs", device = "dev-id", queue = "queue-id", name = "Name", pid, tid,
        stream = "stream-id", index = "Index");
    database.scan(table, &columns, |row| {
        let Some(start) = start(rows, table, row, begin) else { return };
        let name = row.text(name).unwrap_or_default();
        let name = plain(&name);
        let kind = if name == "<barrier packet>" { Kind::Barrier } else { kind };
        rows.op(
            kind,
            &Op {
                id: row.id(),
                name,
                pid: row.int(pid),
                tid: row.int(tid),
                device: row.int(device),
                queue: row.int(queue).unwrap_or(0),
                stream: row.int(stream),
                start,
                end: row.int(end),
                correlation: row.int(index).unwrap_or(0),
                ..Op::default()
            },
        );
    })
}

fn dispatches(database: &Database, rows: &mut Rows) -> Result<()> {
    scanned!(columns: index = "Index", name = "KernelName", gpu = "gpu-id", queue = "queue-id", pid, tid, lds, scratch = "scr",
        vgprs = "arch_vgpr", agprs = "accum_vgpr", sgprs = "sgpr", enqueued = "DispatchNs", begin = "BeginNs", end = "EndNs");
    database.scan(DISPATCHES, &columns, |row| {
        let Some(start) = start(rows, DISPATCHES, row, begin) else { return };
        let name = row.text(name).unwrap_or_default();
        rows.op(
            Kind::Kernel,
            &Op {
                id: row.int(index).unwrap_or(row.id()),
                name: plain(&name),
                pid: row.int(pid),
                tid: row.int(tid),
                device: Some(row.int(gpu).unwrap_or(0)),
                queue: row.int(queue).unwrap_or(0),
                start,
                end: row.int(end),
                enqueued: row.int(enqueued),
                lds: row.unsigned(lds),
                scratch: row.unsigned(scratch),
                sgprs: row.unsigned(sgprs),
                vgprs: row.unsigned(vgprs),
                agprs: row.unsigned(agprs),
                ..Op::default()
            },
        );
    })
}
