//! rocprofv3's rocpd database: all processes in one file, each with tables of its own.

use std::io;

use rtl_schema::table::{Allocation, AllocationKind, AllocationLevel, Copy, Counter, Dispatch, Range, Shape};
use rtl_schema::write::{
    AgentInfo, Argument, CounterInfo, Event, KernelDispatch, KernelInfo, MemoryAllocation, MemoryCopy,
    ProcessInfo, Region, RocpdWriter, TableSetId,
};
use rtl_schema::{AgentId, Error, Id, NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

use super::devices::{Device, Devices};
use super::kernels::Kernel;
use super::kinds::{self, KINDS, List};
use super::visitor::{Call, RecordSink, RecordVisitor, text};
use super::{environment, identity};
use crate::names::{self, NameStyle};

/// What records call an agent that nothing is known of.
const UNKNOWN: i64 = -1;

/// A file in the making.
pub struct Database {
    file: RocpdWriter,
    /// By process; in the order of the file's sets by [`Database::order`].
    processes: Vec<Option<ProcessState>>,
    order: Vec<ProcessId>,
}

/// What is known of a process beside its records.
struct ProcessState {
    set: TableSetId,
    devices: Devices,
    /// Whether a record names [`UNKNOWN`].
    unknown: bool,
    span: Option<(i64, i64)>,
    /// Counters by name and agent; the id of one is its position from 1.
    counters: Vec<(NameId, Option<AgentId>)>,
    /// The events of dispatches that counters belong to.
    events: FxHashMap<Id, i64>,
}

impl Database {
    /// Writes into this file.
    pub fn new(file: RocpdWriter) -> Self {
        Self { file, processes: Vec::new(), order: Vec::new() }
    }

    /// Completes the file.
    ///
    /// # Errors
    /// Where it cannot grow.
    pub fn finish(mut self, visitor: &RecordVisitor, tables: &Tables) -> Result<(), Error> {
        if self.order.is_empty() {
            self.process(ProcessId(0), tables);
        }
        let infos: Vec<ProcessInfo<'_>> =
            self.order.iter().map(|&id| self.info(id, visitor, tables)).collect();
        self.file.finish(&infos)
    }

    #[inline]
    fn process(&mut self, id: ProcessId, tables: &Tables) -> (&mut RocpdWriter, &mut ProcessState) {
        if self.processes.len() <= id.index() {
            self.processes.resize_with(id.index() + 1, || None);
        }
        let (file, order) = (&mut self.file, &mut self.order);
        let written = self.processes[id.index()].get_or_insert_with(|| {
            order.push(id);
            ProcessState {
                set: file.add_process(identity::origin(id, tables)),
                devices: Devices::default(),
                unknown: false,
                span: None,
                counters: Vec::new(),
                events: FxHashMap::default(),
            }
        });
        written.devices.register(id, tables);
        (file, written)
    }

    fn info<'a>(&self, id: ProcessId, visitor: &RecordVisitor, tables: &'a Tables) -> ProcessInfo<'a> {
        let process = tables.process(id);
        let written = self.processes[id.index()].as_ref();
        let devices = written.map(|written| written.devices.listed()).unwrap_or_default();
        let mut agents: Vec<AgentInfo> = devices.into_iter().map(agent).collect();
        if written.is_some_and(|written| written.unknown) {
            agents.push(unknown_agent());
        }
        let counters = written.into_iter().flat_map(|written| {
            (1..).zip(&written.counters).map(|(number, &(name, agent))| CounterInfo {
                id: number,
                agent: agent.and_then(|agent| written.devices.get(agent)).map(|device| device.node),
                name: tables.strings.get(name),
            })
        });
        let threads = tables.threads.iter().filter(|thread| thread.process == id);
        ProcessInfo {
            process,
            span: written.and_then(|written| written.span).unwrap_or_default(),
            environment: environment::of(process).map(|environment| environment.to_string()),
            threads: threads.filter_map(|thread| Some((thread.tid, thread.name.as_deref()?))).collect(),
            counters: counters.collect(),
            kernels: visitor.kernels[id.index()]
                .rows()
                .iter()
                .map(|kernel| kernel_info(kernel, visitor.names, tables))
                .collect(),
            agents,
        }
    }
}

impl ProcessState {
    #[inline]
    fn extend_span(&mut self, start: i64, end: i64) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }

    #[inline]
    fn agent(&mut self, agent: AgentId) -> i64 {
        let known = self.devices.get(agent).map(|device| device.node);
        self.unknown |= known.is_none();
        known.unwrap_or(UNKNOWN)
    }
}

/// Views join a record with its agent, so there is one for those that have none.
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

/// The words of the columns type and level.
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

impl RecordSink for Database {
    fn calls(
        &mut self,
        id: ProcessId,
        list: List,
        calls: &mut dyn Iterator<Item = Call>,
        tables: &Tables,
    ) -> io::Result<()> {
        let named = &tables.api_calls.arguments;
        let (file, written) = self.process(id, tables);
        let set = written.set;
        for Call { row, call, end, kind, .. } in calls {
            written.extend_span(call.start, end);
            let event = Event {
                category: KINDS[usize::from(kind)],
                correlation: call.correlation,
                parent: call.parent,
                message: None,
            };
            let name = tables.strings.get(call.name);
            let called = Region { tid: call.tid, start: call.start, end, name };
            let event = file.region(set, &event, &called).map_err(io::Error::other)?;
            let first = named.partition_point(|argument| argument.call < row);
            let own = named[first..].iter().take_while(|argument| argument.call == row);
            let mut next = 0;
            for argument in own {
                next = argument.position + 1;
                let value = argument.value.is_some().then(|| tables.strings.get(argument.value));
                let argument = Argument {
                    position: i64::from(argument.position),
                    kind: text(argument.kind, tables),
                    name: text(argument.name, tables),
                    value,
                };
                file.argument(set, event, &argument).map_err(io::Error::other)?;
            }
            // All arguments as one text are one argument without a value.
            if next == 0 && call.args.is_some() {
                let argument = Argument { name: tables.strings.get(call.args), ..Argument::default() };
                file.argument(set, event, &argument).map_err(io::Error::other)?;
                next = 1;
            }
            if call.result != 0 {
                let kind = match list {
                    List::Hip => "hipError_t",
                    List::Hsa => "hsa_status_t",
                    _ => "int",
                };
                let value = call.result.to_string();
                let position = i64::from(next);
                let returned = Argument { position, kind, name: "retval", value: Some(&value) };
                file.argument(set, event, &returned).map_err(io::Error::other)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn dispatch(
        &mut self,
        dispatch: &Dispatch,
        end: i64,
        (_, kernel): (usize, &Kernel),
        tables: &Tables,
    ) -> io::Result<()> {
        let track = tables.tracks.get(dispatch.track);
        let shape = dispatch.shape.map_or(Shape::default(), |shape| tables.shapes.get(shape));
        let (file, written) = self.process(track.process, tables);
        written.extend_span(dispatch.start, end);
        let launched = KernelDispatch {
            tid: dispatch.tid,
            agent: written.agent(track.agent),
            kernel: kernel.id,
            dispatch: dispatch.id,
            queue: track.queue,
            stream: track.stream,
            start: dispatch.start,
            end,
            scratch: shape.scratch,
            lds: shape.lds,
            workgroup: shape.workgroup.unwrap_or_default(),
            items: shape.items.unwrap_or_default(),
        };
        let event = Event {
            category: KINDS[usize::from(kinds::KERNEL_DISPATCH)],
            correlation: dispatch.correlation,
            parent: dispatch.correlation,
            message: None,
        };
        let event = file.launch(written.set, &event, &launched).map_err(io::Error::other)?;
        if !tables.counters.is_empty() {
            written.events.insert(dispatch.id, event);
        }
        Ok(())
    }

    fn copy(&mut self, copy: &Copy, end: i64, tables: &Tables) -> io::Result<()> {
        let track = tables.tracks.get(copy.track);
        let (file, written) = self.process(track.process, tables);
        written.extend_span(copy.start, end);
        let [source, destination] =
            written.devices.ends(copy, tables).map(|device| device.map(|device| device.node));
        // The view of copies wants both ends: an unknown one is where the other is.
        let known = destination.or(source);
        written.unknown |= known.is_none();
        let known = known.unwrap_or(UNKNOWN);
        let copied = MemoryCopy {
            tid: copy.tid,
            start: copy.start,
            end,
            name: kinds::operations(kinds::MEMORY_COPY)[kinds::copy_operation(copy.direction)],
            destination: destination.unwrap_or(known),
            destination_address: copy.destination_address,
            source: source.unwrap_or(known),
            source_address: copy.source_address,
            bytes: copy.bytes.unwrap_or(0),
            stream: track.stream,
        };
        let event = Event {
            category: KINDS[usize::from(kinds::MEMORY_COPY)],
            correlation: copy.correlation,
            parent: copy.correlation,
            message: None,
        };
        file.copy(written.set, &event, &copied).map_err(io::Error::other)
    }

    fn range(&mut self, range: &Range, end: i64, tables: &Tables) -> io::Result<()> {
        let (file, written) = self.process(range.process, tables);
        written.extend_span(range.start, end);
        let event = Event {
            category: KINDS[usize::from(kinds::MARKER_RANGE)],
            correlation: range.correlation,
            parent: 0,
            message: Some(tables.strings.get(range.name)),
        };
        if range.is_marker() {
            return file.sample(written.set, &event, range.tid, range.start).map_err(io::Error::other);
        }
        let name = kinds::operations(kinds::MARKER_RANGE)[kinds::range_operation(range)];
        let called = Region { tid: range.tid, start: range.start, end, name };
        file.region(written.set, &event, &called).map(drop).map_err(io::Error::other)
    }

    fn allocation(&mut self, allocation: &Allocation, end: i64, tables: &Tables) -> io::Result<()> {
        let (file, written) = self.process(allocation.process, tables);
        written.extend_span(allocation.start, end);
        let (category, _) = kinds::allocation_operation(allocation);
        let (kind, level) = words(allocation);
        let allocated = MemoryAllocation {
            tid: allocation.tid,
            agent: allocation.agent.map(|agent| written.agent(agent)),
            kind,
            level,
            start: allocation.start,
            end,
            address: allocation.address,
            bytes: allocation.bytes,
            queue: allocation.queue,
            stream: allocation.stream,
            flags: allocation.flags,
        };
        let event = Event {
            category: KINDS[usize::from(category)],
            correlation: allocation.correlation,
            ..Event::default()
        };
        file.allocation(written.set, &event, &allocated).map_err(io::Error::other)
    }

    fn counters(
        &mut self,
        dispatch: &Dispatch,
        _: i64,
        _: (usize, &Kernel),
        values: &[Counter],
        tables: &Tables,
    ) -> io::Result<()> {
        let (file, written) = self.process(tables.tracks.get(dispatch.track).process, tables);
        let Some(&event) = written.events.get(&dispatch.id) else { return Ok(()) };
        for value in values {
            let key = (value.name, value.agent);
            let position = written.counters.iter().position(|known| *known == key).unwrap_or_else(|| {
                written.counters.push(key);
                written.counters.len() - 1
            });
            file.counter(written.set, event, position as i64 + 1, value.value).map_err(io::Error::other)?;
        }
        Ok(())
    }
}
