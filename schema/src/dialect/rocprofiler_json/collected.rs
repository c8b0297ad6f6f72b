//! The rows of one process while it is read, with positions in place of ids.

use rustc_hash::FxHashMap;

use super::rows;
use super::scalars::{Argument, Scalar, Whole};
use crate::dialect::rocprofiler::calls::call_of;
use crate::dialect::rocprofiler::devices::Devices;
use crate::table::{
    Allocation, AllocationKind, AllocationLevel, ApiArgument, ApiCall, ApiCalls, Copy, Counter, Dispatch,
    Dispatches, Distinct, Interned, Range, RangeKind, Shape, Symbol, Track, Tracks, all,
};
use crate::{AgentId, Id, NameId, ProblemKind, ProcessId, Select, Strings, SymbolId, Tables};

/// A list of `buffer_records` that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Dispatches,
    Copies,
    Allocations,
    Scratch,
    Markers,
    Calls,
}

/// The agent of a copy's track, which follows from its direction at the end.
pub(super) const NO_AGENT: AgentId = AgentId(u32::MAX);

/// The function of a record, to be looked up once the kinds are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Function {
    /// The name of its list in [`Collected::lists`]: the domain of functions of an unknown kind.
    pub(super) list: NameId,
    pub(super) kind: Option<i64>,
    /// The number of the operation, where the record does not name it.
    pub(super) number: i64,
    pub(super) name: Option<NameId>,
}

/// The tables of finished processes, and everything of the one that is read. Until [`Collected::finish`], ids of
/// agents, kernels, functions and counters in its rows are positions in the fields here.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) select: Select,
    pub(super) tables: Tables,
    pub(super) devices: Devices,
    pub(super) process: ProcessId,
    pub(super) metadata: serde_json::Value,
    pub(super) agents: Vec<serde_json::Value>,
    pub(super) kinds: Vec<rows::KindInfo>,
    /// The names of lists; the strings of the trace hold only those that a row needs.
    pub(super) lists: Strings,
    /// True where rocm-trace-lite wrote the file: it numbers copies differently.
    pub(super) imitation: bool,
    pub(super) counter_names: FxHashMap<i64, NameId>,
    pub(super) marker_texts: FxHashMap<Id, NameId>,
    pub(super) symbols: FxHashMap<i64, SymbolId>,
    pub(super) tracks: Tracks,
    pub(super) handles: Interned<Option<i64>, AgentId>,
    pub(super) kernels: Interned<i64, NameId>,
    pub(super) counter_ids: Interned<i64, NameId>,
    pub(super) functions: Interned<Function, NameId>,
    pub(super) dispatches: Dispatches,
    /// The dispatches that counters were collected of, where no others are recorded.
    pub(super) counted: Dispatches,
    pub(super) copies: Vec<Copy>,
    /// Each has its function: only that says whether it allocates or frees.
    pub(super) allocations: Vec<(NameId, Allocation)>,
    pub(super) ranges: Vec<Range>,
    pub(super) counters: Vec<Counter>,
    pub(super) calls: ApiCalls,
}

impl Distinct for Function {}

impl Collected {
    /// The list of that name, with the name; `None` skips it.
    pub(super) fn list(&mut self, name: &str) -> Option<(List, NameId)> {
        let select = self.select;
        let (list, is_selected) = match name {
            "kernel_dispatch" => (List::Dispatches, true),
            "memory_copy" => (List::Copies, true),
            "memory_allocation" => (List::Allocations, select.allocations()),
            "scratch_memory" => (List::Scratch, select.allocations()),
            "marker_api" => (List::Markers, select.ranges || select.api),
            _ => (List::Calls, select.api && (name.ends_with("_api") || name == "ompt")),
        };
        is_selected.then(|| (list, self.lists.intern(name)))
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
            kernarg: symbol.kernarg_segment_size.unsigned(),
            lds: symbol.group_segment_size.unsigned(),
            scratch: symbol.private_segment_size.unsigned(),
            sgprs: symbol.sgpr_count.unsigned(),
            vgprs: symbol.arch_vgpr_count.unsigned(),
            agprs: symbol.accum_vgpr_count.unsigned(),
            kernarg_alignment: symbol.kernarg_segment_alignment.unsigned(),
            entry_offset: symbol.kernel_code_entry_byte_offset.0,
            address: symbol.kernel_address.0.map(i64::cast_unsigned),
        });
    }

    pub(super) fn dispatch(&mut self, row: rows::Dispatch) {
        let dispatch = self.raw_dispatch(row, "kernel_dispatch.start_timestamp");
        dispatch.into_iter().for_each(|dispatch| self.dispatches.push(dispatch));
    }

    pub(super) fn counters_of_dispatch(&mut self, row: rows::CounterRecord) {
        let rows::CounterRecord { thread_id, stream_id, dispatch_data, records } = row;
        let dispatch = dispatch_data.dispatch_info.dispatch_id.or_zero();
        let agent = Some(self.handles.intern(dispatch_data.dispatch_info.agent_id.0));
        self.tables.info.counters = true;
        if self.select.secondary {
            let process = self.process;
            self.counters.extend(records.into_iter().map(|record| {
                let name = self.counter_ids.intern(record.counter_id.or_zero());
                Counter { dispatch, process, agent, name, value: record.value.unwrap_or(0.0) }
            }));
        }
        let row = rows::Dispatch { thread_id, stream_id, ..dispatch_data };
        let dispatch = self.raw_dispatch(row, "counter_collection.start_timestamp");
        dispatch.into_iter().for_each(|dispatch| self.counted.push(dispatch));
    }

    pub(super) fn record(&mut self, (list, list_name): (List, NameId), row: rows::Record) {
        let Some(start) = row.start_timestamp.0 else {
            self.tables.problems.add(ProblemKind::MissingStart, "buffer_records.start_timestamp", 0);
            return;
        };
        let select = self.select;
        let correlation = row.correlation_id.internal.or_zero();
        let name = self.function(list_name, row.kind, &row.operation);
        let range = Range {
            id: if select.ids { correlation } else { 0 },
            process: self.process,
            tid: row.thread_id.0,
            name,
            category: name,
            kind: RangeKind::Unknown,
            start,
            duration: row.end_timestamp.0.and_then(|end| end.checked_sub(start)),
            correlation,
        };
        match list {
            List::Dispatches => {}
            List::Copies => {
                let [source, destination] =
                    [row.src_agent_id, row.dst_agent_id].map(|agent| self.agent(agent));
                let track = self.track(NO_AGENT, Whole(None), row.stream_id);
                self.copies.push(Copy {
                    id: range.id,
                    name,
                    track: self.tracks.intern(track),
                    start,
                    duration: range.duration,
                    bytes: row.bytes.0.map(|bytes| bytes as u64),
                    source,
                    destination,
                    tid: range.tid.filter(|_| select.links),
                    correlation: if select.links { correlation } else { 0 },
                    ..Copy::default()
                });
            }
            List::Allocations | List::Scratch => {
                let is_scratch = list == List::Scratch;
                let allocation = Allocation {
                    id: range.id,
                    process: self.process,
                    tid: range.tid,
                    agent: self.agent(row.agent_id),
                    queue: row.queue_id.0,
                    stream: row.stream_id.0,
                    kind: AllocationKind::default(),
                    level: if is_scratch { AllocationLevel::Scratch } else { AllocationLevel::Real },
                    start,
                    duration: range.duration,
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
                self.ranges.push(range);
            }
            List::Calls => {
                if select.args {
                    self.arguments(row.args.0);
                }
                let call = call_of(range, select.links, row.correlation_id.ancestor.or_zero());
                self.calls.push(ApiCall { stream: row.stream_id.0, result: status(row.retval), ..call });
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
    fn function(&mut self, list: NameId, kind: Whole, operation: &Scalar) -> NameId {
        let (number, name) = match operation {
            Scalar::Whole(number) => (*number, None),
            Scalar::Text(name) => (0, Some(self.tables.strings.intern(name))),
            Scalar::Real(_) | Scalar::Nothing => (0, None),
        };
        self.functions.intern(Function { list, kind: kind.0, number, name })
    }

    /// The position of a record's agent.
    fn agent(&mut self, handle: Whole) -> Option<AgentId> {
        handle.0.map(|handle| self.handles.intern(Some(handle)))
    }

    fn track(&self, agent: AgentId, queue: Whole, stream: Whole) -> Track {
        Track { process: self.process, agent, queue: queue.or_zero(), stream: stream.0, hardware_queue: None }
    }

    fn raw_dispatch(&mut self, row: rows::Dispatch, place: &str) -> Option<Dispatch> {
        let info = row.dispatch_info;
        let id = info.dispatch_id.or_zero();
        let Some(start) = row.start_timestamp.0 else {
            self.tables.problems.add(ProblemKind::MissingStart, place, id);
            return None;
        };
        let agent = self.handles.intern(info.agent_id.0);
        let track = self.track(agent, info.queue_id, row.stream_id);
        // Readers need sizes of every launch, so those of an unknown shape are 0.
        let [workgroup, items] = [info.workgroup_size, info.grid_size]
            .map(|size| if size.x.0 == Some(0) { rows::Extent::default() } else { size });
        let shape = self.select.any_shape().then(|| {
            let shape = Shape {
                lds: info.group_segment_size.unsigned(),
                scratch: info.private_segment_size.unsigned(),
                ..Shape::of_items(
                    all([workgroup.x, workgroup.y, workgroup.z].map(Whole::unsigned)),
                    all([items.x, items.y, items.z].map(Whole::unsigned)),
                )
            };
            self.tables.shapes.intern(shape)
        });
        Some(Dispatch {
            id: if self.select.ids { id } else { 0 },
            name: self.kernels.intern(info.kernel_id.or_zero()),
            track: self.tracks.intern(track),
            start,
            duration: row.end_timestamp.0.and_then(|end| end.checked_sub(start)),
            tid: row.thread_id.0.filter(|_| self.select.links),
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
