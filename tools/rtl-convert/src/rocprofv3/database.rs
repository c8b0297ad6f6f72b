//! rocprofv3's rocpd database: all processes in one file, each with tables of its own.

use std::io;

use rtl_schema::table::{Allocation, AllocationKind, AllocationLevel, ApiCall, Copy, Counter, Range};
use rtl_schema::{AgentId, Error, Id, ProcessId, Tables};
use rtl_write::{
    AgentInfo, Argument, CounterInfo, Event, KernelDispatch, KernelInfo, MemoryAllocation, MemoryCopy,
    ProcessInfo, Region, RocpdWriter, TableSetId,
};
use rustc_hash::FxHashMap;

use super::devices::Device;
use super::kernels::Kernel;
use super::kinds::{self, KINDS, List};
use super::per_process::PerProcess;
use super::visitor::{Launch, ProcessState, Record, RecordSink, RecordVisitor, text};
use super::{environment, identity};
use crate::names::{self, NameStyle};

/// The agent of records whose agent is unknown.
const UNKNOWN: i64 = -1;

/// The file of a conversion.
pub struct Database {
    file: RocpdWriter,
    processes: PerProcess<Process>,
    /// The processes in the order of the file's table sets.
    order: Vec<ProcessId>,
}

/// The tables of one process.
struct Process {
    set: TableSetId,
    /// Whether a record names [`UNKNOWN`].
    unknown: bool,
    /// The events of dispatches that counters belong to.
    events: FxHashMap<Id, i64>,
}

impl Database {
    /// Writes into this file.
    pub fn new(file: RocpdWriter) -> Self {
        Self { file, processes: PerProcess::default(), order: Vec::new() }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// The file cannot grow.
    pub fn finish(mut self, visitor: &RecordVisitor, tables: &Tables) -> Result<(), Error> {
        for (id, _) in visitor.processes() {
            self.process(id, tables);
        }
        let infos = self.order.iter().filter_map(|&id| {
            Some(info(id, visitor.process(id)?, self.processes.get(id)?, visitor.names, tables))
        });
        let infos: Vec<ProcessInfo<'_>> = infos.collect();
        self.file.finish(&infos)
    }

    #[inline]
    fn process(&mut self, id: ProcessId, tables: &Tables) -> (&mut RocpdWriter, &mut Process) {
        let (file, order) = (&mut self.file, &mut self.order);
        let process = self.processes.slot(id).get_or_insert_with(|| {
            order.push(id);
            let set = file.add_process(identity::origin(id, tables));
            Box::new(Process { set, unknown: false, events: FxHashMap::default() })
        });
        (file, process)
    }
}

impl Process {
    #[inline]
    fn agent(&mut self, agent: AgentId, state: &ProcessState) -> i64 {
        let known = state.devices.get(agent).map(|device| device.node);
        self.unknown |= known.is_none();
        known.unwrap_or(UNKNOWN)
    }
}

fn info<'a>(
    id: ProcessId,
    state: &ProcessState,
    process: &Process,
    names: NameStyle,
    tables: &'a Tables,
) -> ProcessInfo<'a> {
    let agents = state.devices.listed().into_iter().map(agent);
    let counters = (1..).zip(&state.counters).map(|(id, &(name, agent))| CounterInfo {
        id,
        agent: agent.and_then(|agent| state.devices.get(agent)).map(|device| device.node),
        name: tables.strings.get(name),
    });
    let threads = tables.threads.iter().filter(|thread| thread.process == id);
    ProcessInfo {
        process: tables.process(id),
        span: state.span.unwrap_or_default(),
        environment: environment::of(tables.process(id)).map(|environment| environment.to_string()),
        threads: threads.filter_map(|thread| Some((thread.tid, thread.name.as_deref()?))).collect(),
        agents: agents.chain(process.unknown.then(unknown_agent)).collect(),
        kernels: state.kernels.rows().iter().map(|kernel| kernel_info(kernel, names, tables)).collect(),
        counters: counters.collect(),
    }
}

/// The agent of records without one, because views join records with agents.
fn unknown_agent() -> AgentInfo {
    AgentInfo {
        id: UNKNOWN,
        kind: None,
        logical: UNKNOWN,
        of_kind: UNKNOWN,
        name: String::new(),
        product: String::new(),
        details: "{}".to_owned(),
    }
}

fn agent(device: &Device) -> AgentInfo {
    let text = |key: &str| device.details[key].as_str().unwrap_or_default().to_owned();
    AgentInfo {
        id: device.node,
        kind: device.type_name().filter(|kind| *kind != "NIC"),
        logical: device.logical,
        of_kind: device.of_kind,
        name: text("name"),
        product: text("product_name"),
        details: device.details.to_string(),
    }
}

fn kernel_info<'a>(kernel: &Kernel, how: NameStyle, tables: &'a Tables) -> KernelInfo<'a> {
    let names = kernel.names(tables, how);
    KernelInfo {
        id: kernel.id,
        symbol: kernel.loaded(tables),
        mangled: names.mangled,
        short: rtl_schema::shorten(&names::shown(&tables.strings, kernel.name)).to_owned(),
        shown: names.shown,
    }
}

/// The values of the columns type and level.
fn words(allocation: &Allocation) -> (&'static str, &'static str) {
    let kind = match allocation.kind {
        AllocationKind::Allocate => "ALLOC",
        AllocationKind::Free => "FREE",
        AllocationKind::Reallocate => "REALLOC",
        AllocationKind::Reclaim => "RECLAIM",
    };
    let level = match allocation.level {
        AllocationLevel::Real => "REAL",
        AllocationLevel::Virtual => "VIRTUAL",
        AllocationLevel::Scratch => "SCRATCH",
    };
    (kind, level)
}

/// The event of a record.
#[inline]
fn event<'a>(record: &Record<'_>, message: Option<&'a str>) -> Event<'a> {
    Event {
        category: KINDS[usize::from(record.kind)],
        correlation: record.correlation,
        parent: record.parent,
        message,
    }
}

fn region<'a>(record: &Record<'_>, name: &'a str) -> Region<'a> {
    Region { tid: record.tid, start: record.start, end: record.end, name }
}

impl RecordSink for Database {
    fn call(&mut self, record: &Record<'_>, list: List, row: u32, call: &ApiCall) -> io::Result<()> {
        let tables = record.tables;
        let named = &tables.api_calls.arguments;
        let (file, process) = self.process(record.process, tables);
        let region = region(record, tables.strings.get(call.name));
        let event = file.region(process.set, &event(record, None), &region).map_err(io::Error::other)?;
        let mut add =
            |argument: Argument<'_>| file.argument(process.set, event, &argument).map_err(io::Error::other);
        let first = named.partition_point(|argument| argument.call < row);
        let own = named[first..].iter().take_while(|argument| argument.call == row);
        let mut next = 0;
        for argument in own {
            next = argument.position + 1;
            add(Argument {
                position: i64::from(argument.position),
                kind: text(argument.kind, tables),
                name: text(argument.name, tables),
                value: argument.value.is_some().then(|| tables.strings.get(argument.value)),
            })?;
        }
        // All arguments as one text are one argument without a value.
        if next == 0 && call.args.is_some() {
            add(Argument { name: tables.strings.get(call.args), ..Argument::default() })?;
            next = 1;
        }
        if call.result != 0 {
            let kind = match list {
                List::Hip => "hipError_t",
                List::Hsa => "hsa_status_t",
                _ => "int",
            };
            let (position, value) = (i64::from(next), call.result.to_string());
            add(Argument { position, kind, name: "retval", value: Some(&value) })?;
        }
        Ok(())
    }

    #[inline]
    fn dispatch(&mut self, record: &Record<'_>, launch: &Launch<'_>) -> io::Result<()> {
        let track = record.tables.tracks.get(launch.row.track);
        let shape = launch.shape(record.tables);
        let (file, process) = self.process(record.process, record.tables);
        let dispatch = KernelDispatch {
            tid: record.tid,
            agent: process.agent(track.agent, record.state),
            kernel: launch.kernel.id,
            dispatch: launch.row.id,
            queue: track.queue,
            stream: track.stream,
            start: record.start,
            end: record.end,
            scratch: shape.scratch,
            lds: shape.lds,
            workgroup: shape.workgroup.unwrap_or_default(),
            items: shape.items.unwrap_or_default(),
        };
        let event = file.launch(process.set, &event(record, None), &dispatch).map_err(io::Error::other)?;
        if !record.tables.counters.is_empty() {
            process.events.insert(launch.row.id, event);
        }
        Ok(())
    }

    fn copy(&mut self, record: &Record<'_>, copy: &Copy) -> io::Result<()> {
        let (file, process) = self.process(record.process, record.tables);
        let ends = record.state.devices.ends(copy, record.tables);
        let [source, destination] = ends.map(|device| device.map(|device| device.node));
        // The view of copies requires both ends: an unknown end gets the agent of the other.
        let known = destination.or(source);
        process.unknown |= known.is_none();
        let known = known.unwrap_or(UNKNOWN);
        let row = MemoryCopy {
            tid: record.tid,
            start: record.start,
            end: record.end,
            name: kinds::operations(record.kind)[record.operation],
            destination: destination.unwrap_or(known),
            destination_address: copy.destination_address,
            source: source.unwrap_or(known),
            source_address: copy.source_address,
            bytes: copy.bytes.unwrap_or(0),
            stream: record.stream,
        };
        file.copy(process.set, &event(record, None), &row).map_err(io::Error::other)
    }

    fn range(&mut self, record: &Record<'_>, range: &Range) -> io::Result<()> {
        let (file, process) = self.process(record.process, record.tables);
        let event = event(record, Some(record.tables.strings.get(range.name)));
        if range.is_marker() {
            return file.sample(process.set, &event, record.tid, record.start).map_err(io::Error::other);
        }
        let region = region(record, kinds::operations(record.kind)[record.operation]);
        file.region(process.set, &event, &region).map(drop).map_err(io::Error::other)
    }

    fn allocation(&mut self, record: &Record<'_>, allocation: &Allocation) -> io::Result<()> {
        let (file, process) = self.process(record.process, record.tables);
        let (kind, level) = words(allocation);
        let row = MemoryAllocation {
            tid: record.tid,
            agent: allocation.agent.map(|agent| process.agent(agent, record.state)),
            kind,
            level,
            start: record.start,
            end: record.end,
            address: allocation.address,
            bytes: allocation.bytes,
            queue: allocation.queue,
            stream: record.stream,
            flags: allocation.flags,
        };
        file.allocation(process.set, &event(record, None), &row).map_err(io::Error::other)
    }

    fn counters(
        &mut self,
        record: &Record<'_>,
        launch: &Launch<'_>,
        values: &[(usize, Counter)],
    ) -> io::Result<()> {
        let (file, process) = self.process(record.process, record.tables);
        let Some(&event) = process.events.get(&launch.row.id) else { return Ok(()) };
        for (counter, value) in values {
            file.counter(process.set, event, *counter as i64, value.value).map_err(io::Error::other)?;
        }
        Ok(())
    }
}
