//! The rows of one process while it is read, with positions in place of ids.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::rows;
use super::scalars::{Argument, Operation, Whole};
use crate::table::{
    Allocation, AllocationKind, AllocationLevel, ApiArgument, ApiCall, ApiCalls, Copy, Counter, Direction,
    Dispatch, Dispatches, Range, RangeKind, Shape, Symbol, Track, Tracks,
};
use crate::{AgentId, Id, NameId, ProblemKind, ProcessId, Select, SymbolId, Tables};

/// A list of `buffer_records` that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Dispatches,
    Copies,
    Allocations,
    Scratch,
    Markers,
    /// API calls; the list's name is the domain of calls of an unknown kind.
    Calls(NameId),
}

/// The agent of a copy's track, which follows from its direction at the end.
pub(super) const NO_AGENT: AgentId = AgentId(u32::MAX);

/// Distinct values, numbered in order of first appearance.
#[derive(Debug)]
pub(super) struct Slots<T> {
    index: FxHashMap<T, u32>,
    pub(super) rows: Vec<T>,
}

/// The function of a record, to be looked up once the kinds are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub(super) list: NameId,
    pub(super) kind: Option<i64>,
    pub(super) operation: Result<i64, NameId>,
}

/// Everything of one process. Until [`Collected::finish`], ids of agents, kernels, functions and counters
/// in the rows are positions in the slots here.
pub(super) struct Collected<'a> {
    pub(super) select: &'a Select,
    pub(super) tables: &'a mut Tables,
    pub(super) process: ProcessId,
    pub(super) metadata: serde_json::Value,
    pub(super) agents: Vec<serde_json::Value>,
    pub(super) kinds: Vec<rows::KindInfo>,
    /// Whether rocm-trace-lite wrote the file: it numbers copies differently.
    pub(super) imitation: bool,
    pub(super) counter_names: FxHashMap<i64, NameId>,
    pub(super) marker_texts: FxHashMap<Id, NameId>,
    pub(super) symbols: FxHashMap<i64, SymbolId>,
    pub(super) tracks: Tracks,
    pub(super) handles: Slots<Option<i64>>,
    pub(super) kernels: Slots<i64>,
    pub(super) counter_ids: Slots<i64>,
    pub(super) functions: Slots<Function>,
    pub(super) dispatches: Dispatches,
    /// The dispatches that counters were collected of, where no others are recorded.
    pub(super) counted: Dispatches,
    pub(super) copies: Vec<Copy>,
    /// With the positions of their functions.
    pub(super) allocations: Vec<(NameId, Allocation)>,
    pub(super) ranges: Vec<Range>,
    pub(super) counters: Vec<Counter>,
    pub(super) calls: ApiCalls,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { index: FxHashMap::default(), rows: Vec::new() }
    }
}

impl<T: Hash + Eq + std::marker::Copy> Slots<T> {
    fn position(&mut self, value: T) -> u32 {
        let next = self.rows.len() as u32;
        let position = *self.index.entry(value).or_insert(next);
        if position == next {
            self.rows.push(value);
        }
        position
    }
}

impl<'a> Collected<'a> {
    pub(super) fn new(select: &'a Select, tables: &'a mut Tables) -> Self {
        Self {
            select,
            process: ProcessId(tables.processes.len() as u32),
            tables,
            metadata: serde_json::Value::Null,
            agents: Vec::new(),
            kinds: Vec::new(),
            imitation: false,
            counter_names: FxHashMap::default(),
            marker_texts: FxHashMap::default(),
            symbols: FxHashMap::default(),
            tracks: Tracks::default(),
            handles: Slots::default(),
            kernels: Slots::default(),
            counter_ids: Slots::default(),
            functions: Slots::default(),
            dispatches: Dispatches::default(),
            counted: Dispatches::default(),
            copies: Vec::new(),
            allocations: Vec::new(),
            ranges: Vec::new(),
            counters: Vec::new(),
            calls: ApiCalls::default(),
        }
    }

    /// The list of that name; `None` skips it.
    pub(super) fn list(&mut self, name: &str) -> Option<List> {
        match name {
            "kernel_dispatch" => Some(List::Dispatches),
            "memory_copy" => Some(List::Copies),
            "memory_allocation" => self.select.secondary.then_some(List::Allocations),
            "scratch_memory" => self.select.secondary.then_some(List::Scratch),
            "marker_api" => (self.select.ranges || self.select.api).then_some(List::Markers),
            _ if name.ends_with("_api") || name == "ompt" => {
                self.select.api.then(|| List::Calls(self.tables.strings.intern(name)))
            }
            _ => None,
        }
    }

    pub(super) fn counter(&mut self, counter: rows::CounterInfo) {
        if let (Some(id), Some(name)) = (counter.id.0, counter.name.0) {
            self.counter_names.insert(id, self.tables.strings.intern(&name));
        }
    }

    pub(super) fn marker_text(&mut self, pair: rows::Pair) {
        if let (true, Some(key), Some(text)) = (self.select.ranges, pair.key.0, pair.value.0) {
            self.marker_texts.insert(key, self.tables.strings.intern(&text));
        }
    }

    /// Adds a loaded kernel; entry 0 is a placeholder without a kernel name.
    pub(super) fn symbol(&mut self, symbol: rows::Symbol) {
        let strings = &mut self.tables.strings;
        let mangled = symbol.kernel_name.0.filter(|name| !name.is_empty());
        let shown = symbol.formatted_kernel_name.0.filter(|name| !name.is_empty());
        let id = symbol.kernel_id.or_zero();
        if id == 0 && mangled.is_none() {
            return;
        }
        let Some(name) = shown.as_deref().or(mangled.as_deref()) else { return };
        self.symbols.insert(id, SymbolId(self.tables.symbols.len() as u32));
        self.tables.symbols.push(Symbol {
            process: self.process,
            id,
            name: strings.intern(name),
            mangled: mangled.as_deref().map_or(NameId::NONE, |name| strings.intern(name)),
            code_object: symbol.code_object_id.or_zero(),
            kernel_object: symbol.kernel_object.or_zero() as u64,
            kernarg: symbol.kernarg_segment_size.small(),
            lds: symbol.group_segment_size.small(),
            scratch: symbol.private_segment_size.small(),
            sgprs: symbol.sgpr_count.small(),
            vgprs: symbol.arch_vgpr_count.small(),
            agprs: symbol.accum_vgpr_count.small(),
        });
    }

    pub(super) fn dispatch(&mut self, row: rows::Dispatch) {
        let (thread, stream) = (row.thread_id, row.stream_id);
        if let Some(dispatch) = self.raw_dispatch(row, thread, stream, "kernel_dispatch.start_timestamp") {
            self.dispatches.push(dispatch);
        }
    }

    pub(super) fn counters_of_dispatch(&mut self, row: rows::CounterRecord) {
        let dispatch = row.dispatch_data.dispatch_info.dispatch_id.or_zero();
        let agent = AgentId(self.handles.position(row.dispatch_data.dispatch_info.agent_id.0));
        if self.select.secondary {
            for record in row.records {
                let name = NameId(self.counter_ids.position(record.counter_id.or_zero()));
                let value = record.value.unwrap_or(0.0);
                self.counters.push(Counter {
                    dispatch,
                    process: self.process,
                    agent: Some(agent),
                    name,
                    value,
                });
            }
        }
        let place = "counter_collection.start_timestamp";
        if let Some(dispatch) = self.raw_dispatch(row.dispatch_data, row.thread_id, row.stream_id, place) {
            self.counted.push(dispatch);
        }
    }

    pub(super) fn record(&mut self, list: List, row: rows::Record) {
        let Some(start) = row.start_timestamp.0 else {
            self.tables.problems.add(ProblemKind::MissingStart, "buffer_records.start_timestamp", 0);
            return;
        };
        let duration = row.end_timestamp.0.and_then(|end| end.checked_sub(start));
        let correlation = row.correlation_id.internal.or_zero();
        let tid = row.thread_id.0;
        let name = self.function(list, row.kind, &row.operation);
        let id = if self.select.ids { correlation } else { 0 };
        match list {
            List::Dispatches => {}
            List::Copies => {
                let source = row.src_agent_id.0.map(|handle| AgentId(self.handles.position(Some(handle))));
                let destination =
                    row.dst_agent_id.0.map(|handle| AgentId(self.handles.position(Some(handle))));
                let track = self.track(NO_AGENT, Whole(None), row.stream_id);
                self.copies.push(Copy {
                    id,
                    name,
                    track: self.tracks.intern(track),
                    start,
                    duration,
                    direction: Direction::Unknown,
                    bytes: row.bytes.0.map(|bytes| bytes as u64),
                    source,
                    destination,
                    tid: tid.filter(|_| self.select.links),
                    correlation: if self.select.links { correlation } else { 0 },
                    ..Copy::default()
                });
            }
            List::Allocations | List::Scratch => {
                let agent = row.agent_id.0.map(|handle| AgentId(self.handles.position(Some(handle))));
                let level =
                    if list == List::Scratch { AllocationLevel::Scratch } else { AllocationLevel::default() };
                let allocation = Allocation {
                    id,
                    process: self.process,
                    tid,
                    agent,
                    queue: row.queue_id.0,
                    stream: row.stream_id.0,
                    kind: AllocationKind::default(),
                    level,
                    start,
                    duration,
                    address: row.address.0.map(|address| address as u64),
                    bytes: row.allocation_size.or_zero() as u64,
                    flags: row.flags.0,
                    correlation,
                };
                self.allocations.push((name, allocation));
            }
            List::Markers => {
                let message =
                    row.args.0.into_iter().find(|argument| argument.name.0.as_deref() == Some("message"));
                if let Some(text) = message.and_then(|argument| argument.value.0) {
                    let text = self.tables.strings.intern(&text);
                    self.marker_texts.entry(correlation).or_insert(text);
                }
                self.ranges.push(Range {
                    id,
                    process: self.process,
                    tid,
                    name,
                    category: NameId::NONE,
                    kind: RangeKind::Unknown,
                    start,
                    duration,
                    correlation,
                });
            }
            List::Calls(_) => {
                if self.select.args {
                    self.arguments(row.args.0);
                }
                self.calls.push(ApiCall {
                    id,
                    process: self.process,
                    tid: tid.filter(|_| self.select.links),
                    name,
                    domain: name,
                    category: NameId::NONE,
                    args: NameId::NONE,
                    start,
                    duration,
                    correlation: if self.select.links { correlation } else { 0 },
                    parent: if self.select.links { row.correlation_id.ancestor.or_zero() } else { 0 },
                    stream: row.stream_id.0,
                    result: status(row.retval),
                });
            }
        }
    }

    /// Adds the arguments of the call that comes next.
    fn arguments(&mut self, arguments: Vec<Argument>) {
        let call = self.calls.len() as u32;
        let strings = &mut self.tables.strings;
        let mut text = |text: Option<String>| text.map_or(NameId::NONE, |text| strings.intern(&text));
        self.calls.arguments.extend((0..).zip(arguments).map(|(position, argument)| ApiArgument {
            call,
            position,
            kind: text(argument.r#type.0),
            name: text(argument.name.0),
            value: text(argument.value.0),
        }));
    }

    /// The position of a record's function, in the place of its name.
    fn function(&mut self, list: List, kind: Whole, operation: &Operation) -> NameId {
        let strings = &mut self.tables.strings;
        let list = match list {
            List::Calls(name) => name,
            List::Copies => strings.intern("memory_copy"),
            List::Markers => strings.intern("marker_api"),
            List::Allocations => strings.intern("memory_allocation"),
            List::Scratch => strings.intern("scratch_memory"),
            List::Dispatches => strings.intern("kernel_dispatch"),
        };
        let operation = match operation {
            Operation::Number(number) => Ok(*number),
            Operation::Name(name) => Err(strings.intern(name)),
        };
        NameId(self.functions.position(Function { list, kind: kind.0, operation }))
    }

    fn track(&self, agent: AgentId, queue: Whole, stream: Whole) -> Track {
        Track { process: self.process, agent, queue: queue.or_zero(), stream: stream.0, hardware_queue: None }
    }

    fn raw_dispatch(
        &mut self,
        row: rows::Dispatch,
        tid: Whole,
        stream: Whole,
        place: &str,
    ) -> Option<Dispatch> {
        let info = row.dispatch_info;
        let id = info.dispatch_id.or_zero();
        let Some(start) = row.start_timestamp.0 else {
            self.tables.problems.add(ProblemKind::MissingStart, place, id);
            return None;
        };
        let agent = AgentId(self.handles.position(info.agent_id.0));
        let track = self.track(agent, info.queue_id, stream);
        let shape = self.select.any_shape().then(|| {
            let shape = Shape {
                lds: info.group_segment_size.small(),
                scratch: info.private_segment_size.small(),
                ..extent(info.workgroup_size, info.grid_size)
            };
            self.tables.shapes.intern(shape)
        });
        Some(Dispatch {
            id: if self.select.ids { id } else { 0 },
            name: NameId(self.kernels.position(info.kernel_id.or_zero())),
            track: self.tracks.intern(track),
            start,
            duration: row.end_timestamp.0.and_then(|end| end.checked_sub(start)),
            tid: tid.0.filter(|_| self.select.links),
            correlation: if self.select.links { row.correlation_id.internal.or_zero() } else { 0 },
            shape,
            graph: row.graph_exec_id.or_zero() != 0,
            ..Dispatch::default()
        })
    }
}

/// A status in the union of return values, where a pointer or a negative number is no status.
fn status(returned: Whole) -> i64 {
    returned.0.filter(|value| (0..=i64::from(i32::MAX)).contains(value)).unwrap_or(0)
}

/// rocprofv3 stores work-items.
fn extent(workgroup: rows::Extent, items: rows::Extent) -> Shape {
    let small = [workgroup.x.small(), workgroup.y.small(), workgroup.z.small()];
    let large = [items.x, items.y, items.z].map(|axis| axis.0.and_then(|value| u64::try_from(value).ok()));
    match (small, large) {
        ([Some(a), Some(b), Some(c)], [Some(x), Some(y), Some(z)]) => Shape::from_items([a, b, c], [x, y, z]),
        _ => Shape::default(),
    }
}
