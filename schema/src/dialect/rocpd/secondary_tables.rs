//! Reads the tables that neither ops nor calls refer to: counters, monitors, allocations, spans and others.

use super::calls::Calls;
use super::{Agents, IdMap, Names, Processes};
use crate::dialect::opaque_tables;
use crate::sqlite::{Database, scanned};
use crate::table::{
    Allocation, AllocationKind, AllocationLevel, ApiArgument, Collective, Copies, Counter, MemoryEvent,
    Monitor, Operator, PythonFrame, Span, SpanKind, StackFrame,
};
use crate::{CollectiveId, NameId, ProblemKind, ProcessId, Result, Select, Tables};

/// Reads the tables beside ops and calls.
#[derive(Debug)]
pub(super) struct SecondaryTables<'a> {
    pub(super) database: &'a Database,
    pub(super) names: &'a Names,
    pub(super) agents: &'a Agents,
    pub(super) processes: &'a mut Processes,
}

impl SecondaryTables<'_> {
    /// Reads monitors, counters, call stacks, allocations, spans, opaque tables and memory events.
    pub(super) fn read(mut self, select: &Select, tables: &mut Tables) -> Result<()> {
        if select.secondary {
            self.monitors(tables)?;
            self.counters(tables)?;
            self.stack_frames(tables)?;
            self.spans(tables)?;
            opaque_tables(self.database, tables)?;
        }
        if select.allocations() {
            self.allocations(tables)?;
        }
        if select.memory {
            self.memory_events(tables)?;
        }
        Ok(())
    }

    fn process(&mut self, pid: Option<i64>, tables: &mut Tables) -> ProcessId {
        match pid {
            Some(pid) => self.processes.intern(pid, &mut tables.processes),
            None => self.processes.unnamed(&mut tables.processes),
        }
    }

    fn monitors(&self, tables: &mut Tables) -> Result<()> {
        let columns = ["deviceType", "deviceId", "monitorType", "start", "end", "value"];
        self.database.scan("rocpd_monitor", &columns, |row| {
            let Some(start) = row.int(3) else {
                tables.problems.add(ProblemKind::MissingStart, "rocpd_monitor.start", row.id());
                return;
            };
            let [device_kind, name, value] =
                [0, 2, 5].map(|at| row.text(at).map_or(NameId::NONE, |text| tables.strings.intern(&text)));
            let device = row.int(1).unwrap_or(0);
            let end = row.int(4).unwrap_or(start);
            tables.monitors.push(Monitor { id: row.id(), device_kind, device, name, start, end, value });
        })
    }

    fn counters(&mut self, tables: &mut Tables) -> Result<()> {
        let columns = ["op_id", "name_id", "value", "pid", "gpuId"];
        self.database.scan("rocpd_counter", &columns, |row| {
            let (Some(dispatch), Some(value)) = (row.int(0), row.real(2)) else {
                tables.problems.add(ProblemKind::BadValue, "rocpd_counter.value", row.id());
                return;
            };
            let name =
                self.names.checked(row.int(1), &mut tables.problems, "rocpd_counter.name_id", row.id());
            let process = self.process(row.int(3), tables);
            let agent = row.int(4).and_then(|gpu| self.agents.find(gpu));
            tables.counters.push(Counter { dispatch, process, agent, name, value });
        })
    }

    fn stack_frames(&self, tables: &mut Tables) -> Result<()> {
        self.database.scan("rocpd_stackframe", &["api_ptr_id", "depth", "name_id"], |row| {
            let Some(call) = row.int(0) else {
                tables.problems.add(ProblemKind::DanglingReference, "rocpd_stackframe.api_ptr_id", row.id());
                return;
            };
            let place = "rocpd_stackframe.name_id";
            let name = self.names.checked(row.int(2), &mut tables.problems, place, row.id());
            tables.stack_frames.push(StackFrame { call, depth: row.int(1).unwrap_or(0), name });
        })
    }

    fn allocations(&mut self, tables: &mut Tables) -> Result<()> {
        scanned!(columns: pid, tid, gpu = "gpuId", queue = "queueId", stream = "streamId", kind, level, start, end,
            address, bytes, flags, correlation = "correlationId");
        self.database.scan("rocpd_allocation", &columns, |row| {
            let id = row.id();
            let Some(start) = row.int(start) else {
                tables.problems.add(ProblemKind::MissingStart, "rocpd_allocation.start", id);
                return;
            };
            let kind = row.text(kind).as_deref().and_then(AllocationKind::parse).unwrap_or_default();
            let level = row.text(level).as_deref().and_then(AllocationLevel::parse).unwrap_or_default();
            let process = self.process(row.int(pid), tables);
            tables.allocations.push(Allocation {
                id,
                process,
                tid: row.int(tid),
                agent: row.int(gpu).and_then(|gpu| self.agents.find(gpu)),
                queue: row.int(queue),
                stream: row.int(stream),
                kind,
                level,
                start,
                duration: row.int(end).and_then(|end| end.checked_sub(start)),
                // SQLite's integers are signed: an address of the upper half reads as a negative one.
                address: row.int(address).map(|address| address as u64),
                bytes: row.unsigned(bytes).unwrap_or(0),
                flags: row.int(flags),
                correlation: row.int(correlation).unwrap_or(0),
            });
        })
    }

    fn spans(&mut self, tables: &mut Tables) -> Result<()> {
        scanned!(columns: kind, name = "name_id", start, duration, gpu = "gpuId", stream = "streamId", pid);
        self.database.scan("rocpd_span", &columns, |row| {
            let id = row.id();
            let Some(start) = row.int(start) else {
                tables.problems.add(ProblemKind::MissingStart, "rocpd_span.start", id);
                return;
            };
            let Some(kind) = row.text(kind).as_deref().and_then(SpanKind::parse) else {
                tables.problems.add(ProblemKind::BadValue, "rocpd_span.kind", id);
                return;
            };
            let process = self.process(row.int(pid), tables);
            tables.spans.push(Span {
                id,
                kind,
                process,
                agent: row.int(gpu).and_then(|gpu| self.agents.find(gpu)),
                stream: row.int(stream),
                name: self.names.checked(row.int(name), &mut tables.problems, "rocpd_span.name_id", id),
                start,
                duration: row.int(duration),
            });
        })
    }

    fn memory_events(&mut self, tables: &mut Tables) -> Result<()> {
        scanned!(columns: time, bytes, gpu = "gpuId", allocated, reserved, address, tid, pid);
        self.database.scan("rocpd_memory_event", &columns, |row| {
            let id = row.id();
            let Some(time) = row.int(time) else {
                tables.problems.add(ProblemKind::MissingStart, "rocpd_memory_event.time", id);
                return;
            };
            let Some(bytes) = row.int(bytes) else {
                tables.problems.add(ProblemKind::BadValue, "rocpd_memory_event.bytes", id);
                return;
            };
            let process = self.process(row.int(pid), tables);
            let unsigned = |column| row.int(column).map(|value| value as u64);
            tables.memory_events.push(MemoryEvent {
                id,
                process,
                tid: row.int(tid),
                agent: row.int(gpu).and_then(|gpu| self.agents.find(gpu)),
                time,
                address: unsigned(address),
                bytes,
                allocated: unsigned(allocated),
                reserved: unsigned(reserved),
            });
        })
    }
}

/// Reads the operators of a framework.
pub(super) fn operators(
    database: &Database,
    select: &Select,
    names: &Names,
    processes: &mut Processes,
    tables: &mut Tables,
) -> Result<()> {
    scanned!(columns: start, duration, name = "name_id", tid, shapes = "shapes_id", types = "types_id", sequence,
        forward_thread = "forwardThread", pid, strides = "strides_id", values = "values_id");
    database.scan("rocpd_operator", &columns, |row| {
        let id = row.id();
        let Some(start) = row.int(start) else {
            tables.problems.add(ProblemKind::MissingStart, "rocpd_operator.start", id);
            return;
        };
        let process = match row.int(pid) {
            Some(pid) => processes.intern(pid, &mut tables.processes),
            None => processes.unnamed(&mut tables.processes),
        };
        let small = |column| row.int(column).and_then(|value| u32::try_from(value).ok());
        let problems = &mut tables.problems;
        let mut text = |column, place| names.checked(row.int(column), problems, place, id);
        tables.operators.push(Operator {
            id: if select.ids { id } else { 0 },
            process,
            tid: row.int(tid),
            name: text(name, "rocpd_operator.name_id"),
            start,
            duration: row.int(duration),
            shapes: text(shapes, "rocpd_operator.shapes_id"),
            types: text(types, "rocpd_operator.types_id"),
            strides: text(strides, "rocpd_operator.strides_id"),
            values: text(values, "rocpd_operator.values_id"),
            sequence: small(sequence),
            forward_thread: small(forward_thread).unwrap_or(0),
        });
    })
}

/// Reads the Python functions and modules of a framework.
pub(super) fn python_frames(
    database: &Database,
    names: &Names,
    processes: &mut Processes,
    tables: &mut Tables,
) -> Result<()> {
    scanned!(columns: start, duration, name = "name_id", tid, number, caller, module, pid);
    database.scan("rocpd_python_frame", &columns, |row| {
        let id = row.id();
        let Some(start) = row.int(start) else {
            tables.problems.add(ProblemKind::MissingStart, "rocpd_python_frame.start", id);
            return;
        };
        let process = match row.int(pid) {
            Some(pid) => processes.intern(pid, &mut tables.processes),
            None => processes.unnamed(&mut tables.processes),
        };
        let small = |column| row.int(column).and_then(|value| u32::try_from(value).ok());
        tables.python_frames.push(PythonFrame {
            id,
            process,
            tid: row.int(tid),
            name: names.checked(row.int(name), &mut tables.problems, "rocpd_python_frame.name_id", id),
            start,
            duration: row.int(duration),
            number: small(number),
            caller: small(caller),
            module: small(module),
        });
    })
}

/// Reads the named arguments of the calls, in the order of the calls.
pub(super) fn arguments(
    database: &Database,
    names: &Names,
    calls: &Calls,
    tables: &mut Tables,
) -> Result<()> {
    let columns = ["api_id", "position", "type", "name", "value"];
    database.scan("rocpd_arg", &columns, |row| {
        let Some(call) = row.int(0).and_then(|call| calls.rows.get(call)) else {
            tables.problems.add(ProblemKind::DanglingReference, "rocpd_arg.api_id", row.id());
            return;
        };
        let [kind, name, value] =
            [2, 3, 4].map(|at| names.checked(row.int(at), &mut tables.problems, "rocpd_arg", row.id()));
        let position = row.unsigned(1).unwrap_or(0);
        tables.api_calls.arguments.push(ApiArgument { call, position, kind, name, value });
    })?;
    tables.api_calls.arguments.sort_by_key(|argument| (argument.call, argument.position));
    Ok(())
}

/// Reads what a framework states of collectives, by op.
pub(super) fn collectives(
    database: &Database,
    names: &Names,
    tables: &mut Tables,
) -> Result<IdMap<CollectiveId>> {
    let mut of_ops = IdMap::default();
    scanned!(columns: op = "op_id", operation = "operation_id", communicator = "communicator_id", ranks = "ranks_id",
        size, data_type = "type_id", sent, received, sequence);
    database.scan("rocpd_collective", &columns, |row| {
        let id = row.int(op).unwrap_or(row.id());
        let small = |column| row.int(column).and_then(|value| u32::try_from(value).ok());
        let elements = |column| row.int(column).map(|value| value as u64);
        let problems = &mut tables.problems;
        let mut text = |column, place| names.checked(row.int(column), problems, place, id);
        let collective = Collective {
            operation: text(operation, "rocpd_collective.operation_id"),
            communicator: text(communicator, "rocpd_collective.communicator_id"),
            ranks: text(ranks, "rocpd_collective.ranks_id"),
            size: small(size),
            data_type: text(data_type, "rocpd_collective.type_id"),
            sent: elements(sent),
            received: elements(received),
            sequence: small(sequence),
        };
        of_ops.push(id, tables.collectives.intern(collective));
    })?;
    Ok(of_ops)
}

/// The addresses and agents that `rocpd_copy` keeps for copies, by op.
#[derive(Debug, Default)]
pub(super) struct CopyEnds(IdMap<[Option<i64>; 4]>);

impl CopyEnds {
    pub(super) fn read(database: &Database) -> Result<Self> {
        let mut ends = IdMap::default();
        database.scan("rocpd_copy", &["op_id", "srcAddress", "dstAddress", "srcGpu", "dstGpu"], |row| {
            ends.push(row.int(0).unwrap_or(row.id()), [1, 2, 3, 4].map(|at| row.int(at)));
        })?;
        Ok(Self(ends))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn complete(&self, agents: &Agents, copies: &mut Copies) {
        for copy in copies {
            let Some(ends) = self.0.get(copy.id) else { continue };
            let [source_address, destination_address, source, destination] = ends;
            let of = |gpu: Option<i64>| gpu.and_then(|gpu| agents.find(gpu));
            copy.source_address = source_address.map(|address| address as u64).or(copy.source_address);
            copy.destination_address =
                destination_address.map(|address| address as u64).or(copy.destination_address);
            copy.source = of(source);
            copy.destination = of(destination);
        }
    }
}

/// Tables that are read into columns, or that rows of others refer to.
const READ: [&str; 19] = [
    "rocpd_string",
    "rocpd_ustring",
    "rocpd_metadata",
    "rocpd_op",
    "rocpd_api",
    "rocpd_api_ops",
    "rocpd_kernelapi",
    "rocpd_copyapi",
    "rocpd_monitor",
    "rocpd_counter",
    "rocpd_stackframe",
    "rocpd_allocation",
    "rocpd_arg",
    "rocpd_copy",
    "rocpd_operator",
    "rocpd_memory_event",
    "rocpd_python_frame",
    "rocpd_collective",
    "rocpd_span",
];

/// Reads every other table verbatim. Layouts always create some `rocpd_` tables: those without rows are left out.
fn opaque_tables(database: &Database, tables: &mut Tables) -> Result<()> {
    let mut found: Vec<(String, String)> = Vec::new();
    let stored =
        "select name, sql from sqlite_master where type = 'table' and sql is not null order by rowid";
    database.query(stored, [], |row| {
        found.push((row.get(0)?, row.get(1)?));
        Ok(())
    })?;
    found.retain(|(name, _)| !name.starts_with("sqlite_") && !READ.contains(&name.as_str()));
    for (name, create) in found {
        let table = opaque_tables::read(database, &name, create)?;
        if !table.rows.is_empty() || !name.starts_with("rocpd_") {
            tables.opaque_tables.push(table);
        }
    }
    Ok(())
}
