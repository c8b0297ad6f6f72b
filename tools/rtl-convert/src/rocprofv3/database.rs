//! rocprofv3's rocpd database: all processes in one file, each with tables of its own.

use std::cell::RefCell;
use std::io;

use rtl_schema::table::{Allocation, ApiCall, Copy, Counter, Range};
use rtl_schema::{AgentId, Id, ProcessId, Tables};
use rtl_write::{
    AgentInfo, Argument, CounterInfo, Event, KernelDispatch, KernelInfo, MemoryAllocation, MemoryCopy,
    ProcessInfo, RocpdWriter, TableSetId,
};
use rustc_hash::FxHashMap;

use super::devices::Device;
use super::kernels::Kernel;
use super::kinds::{self, KINDS, List};
use super::visitor::{Launch, ProcessState, Record, RecordSink, arguments, text};
use super::{environment, identity};
use crate::names::{self, NameStyle};

/// The agent of records whose agent is unknown.
const UNKNOWN: i64 = -1;

pub struct Database<'a> {
    file: &'a RefCell<RocpdWriter>,
    set: TableSetId,
    /// Some record names [`UNKNOWN`].
    unknown: bool,
    /// The events of dispatches that counters belong to.
    events: FxHashMap<Id, i64>,
}

impl<'a> Database<'a> {
    pub fn new(file: &'a RefCell<RocpdWriter>, id: ProcessId, tables: &Tables) -> Self {
        let set = file.borrow_mut().add_process(identity::origin(id, tables));
        Self { file, set, unknown: false, events: FxHashMap::default() }
    }

    /// The objects to which the records refer, after the set of the process, which orders processes.
    pub fn info<'t>(
        &self,
        id: ProcessId,
        state: &ProcessState,
        names: NameStyle,
        tables: &'t Tables,
    ) -> (TableSetId, ProcessInfo<'t>) {
        let agents = state.devices.listed().into_iter().map(agent);
        let counters = (1..).zip(&state.counters).map(|(id, &(name, agent))| CounterInfo {
            id,
            agent: agent.and_then(|agent| state.devices.get(agent)).map(|device| device.node),
            name: tables.strings.get(name),
        });
        let threads = tables.threads.iter().filter(|thread| thread.process == id);
        let info = ProcessInfo {
            process: tables.process(id),
            span: state.span.unwrap_or_default(),
            environment: environment::of(tables.process(id)).map(|environment| environment.to_string()),
            threads: threads.filter_map(|thread| Some((thread.tid, thread.name.as_deref()?))).collect(),
            agents: agents.chain(self.unknown.then(unknown_agent)).collect(),
            kernels: state.kernels.rows.iter().map(|kernel| kernel_info(kernel, names, tables)).collect(),
            counters: counters.collect(),
        };
        (self.set, info)
    }

    #[inline]
    fn agent(&mut self, agent: AgentId, state: &ProcessState) -> i64 {
        let known = state.devices.get(agent).map(|device| device.node);
        self.unknown |= known.is_none();
        known.unwrap_or(UNKNOWN)
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
        model: String::new(),
        vendor: String::new(),
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
        model: text("model_name"),
        vendor: text("vendor_name"),
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

#[inline]
fn event<'a>(record: &Record<'_>, message: Option<&'a str>) -> Event<'a> {
    Event {
        category: KINDS[usize::from(record.kind)],
        correlation: record.correlation,
        parent: record.parent,
        message,
        tid: record.tid,
        start: record.start,
        end: record.end,
        stream: record.stream,
    }
}

impl RecordSink for Database<'_> {
    fn call(&mut self, record: &Record<'_>, list: List, row: u32, call: &ApiCall) -> io::Result<()> {
        let tables = record.tables;
        let mut file = self.file.borrow_mut();
        let name = tables.strings.get(call.name);
        let event = file.region(self.set, &event(record, None), name).map_err(io::Error::other)?;
        let mut add =
            |argument: Argument<'_>| file.argument(self.set, event, &argument).map_err(io::Error::other);
        let mut next = 0;
        for argument in arguments(row, tables) {
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
        let dispatch = KernelDispatch {
            agent: self.agent(track.agent, record.state),
            kernel: launch.kernel.id,
            dispatch: launch.row.id,
            queue: track.queue,
            scratch: shape.scratch,
            lds: shape.lds,
            workgroup: shape.workgroup.unwrap_or_default(),
            items: shape.items.unwrap_or_default(),
        };
        let event = self.file.borrow_mut().launch(self.set, &event(record, None), &dispatch);
        let event = event.map_err(io::Error::other)?;
        if !record.tables.counters.is_empty() {
            self.events.insert(launch.row.id, event);
        }
        Ok(())
    }

    fn copy(&mut self, record: &Record<'_>, copy: &Copy) -> io::Result<()> {
        let ends = record.state.devices.ends(copy, record.tables);
        let [source, destination] = ends.map(|device| device.map(|device| device.node));
        // The view of copies requires both ends: an unknown end gets the agent of the other.
        let known = destination.or(source);
        self.unknown |= known.is_none();
        let known = known.unwrap_or(UNKNOWN);
        let row = MemoryCopy {
            name: kinds::operations(record.kind)[record.operation],
            destination: destination.unwrap_or(known),
            destination_address: copy.destination_address,
            source: source.unwrap_or(known),
            source_address: copy.source_address,
            bytes: copy.bytes,
        };
        self.file.borrow_mut().copy(self.set, &event(record, None), &row).map_err(io::Error::other)
    }

    fn range(&mut self, record: &Record<'_>, range: &Range) -> io::Result<()> {
        let mut file = self.file.borrow_mut();
        let event = event(record, Some(record.tables.strings.get(range.name)));
        if range.is_marker() {
            return file.sample(self.set, &event).map_err(io::Error::other);
        }
        let name = kinds::operations(record.kind)[record.operation];
        file.region(self.set, &event, name).map(drop).map_err(io::Error::other)
    }

    fn allocation(&mut self, record: &Record<'_>, allocation: &Allocation) -> io::Result<()> {
        let row = MemoryAllocation {
            agent: allocation.agent.map(|agent| self.agent(agent, record.state)),
            kind: allocation.kind.rocprofv3(),
            level: allocation.level.rocprofv3(),
            address: allocation.address,
            bytes: allocation.bytes,
            queue: allocation.queue,
            flags: allocation.flags,
        };
        self.file.borrow_mut().allocation(self.set, &event(record, None), &row).map_err(io::Error::other)
    }

    fn counters(
        &mut self,
        _: &Record<'_>,
        launch: &Launch<'_>,
        values: &[(usize, Counter)],
    ) -> io::Result<()> {
        let mut file = self.file.borrow_mut();
        let Some(&event) = self.events.get(&launch.row.id) else { return Ok(()) };
        for (counter, value) in values {
            file.counter(self.set, event, *counter as i64, value.value).map_err(io::Error::other)?;
        }
        Ok(())
    }
}
