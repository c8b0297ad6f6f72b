use std::mem::take;

use serde::Deserialize;

use crate::Dialect;
use crate::layout::tags::{COMPLETE, MALFORMED, TRACING_COST};
use crate::table::{
    Agent, Allocations, ApiCalls, Barriers, Collectives, Copies, Counters, Dispatches, MemoryEvents, Monitor,
    OpaqueTable, Operators, Process, PythonFrames, Ranges, Shapes, Spans, StackFrame, Symbol, Thread, Tracks,
};
use crate::{AgentId, Id, ProcessId, Strings};

/// A trace as columns, which do not depend on its dialect.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// The recorder, and how complete the trace is.
    pub info: TraceInfo,
    /// All strings; [`crate::NameId`] refers to them.
    pub strings: Strings,
    /// Processes; at least one.
    pub processes: Vec<Process>,
    /// Threads that the source lists; others are only a tid of rows.
    pub threads: Vec<Thread>,
    /// Agents; tracks and copies refer to them by position.
    pub agents: Vec<Agent>,
    /// Tracks of ops: process, agent, queue, stream.
    pub tracks: Tracks,
    /// Distinct launch shapes, to which dispatches refer.
    pub shapes: Shapes,
    /// Collectives as frameworks state them.
    pub collectives: Collectives,
    /// Kernels of loaded code objects, with their registers and sizes.
    pub symbols: Vec<Symbol>,
    /// Executed kernels.
    pub dispatches: Dispatches,
    /// Copies and fills.
    pub copies: Copies,
    /// Barrier packets, which wait and do no work.
    pub barriers: Barriers,
    /// Calls of HIP, HSA, RCCL and other libraries, with launches and arguments.
    pub api_calls: ApiCalls,
    /// Ranges and markers.
    pub ranges: Ranges,
    /// Operators of a framework.
    pub operators: Operators,
    /// Python functions and modules of a framework.
    pub python_frames: PythonFrames,
    /// Allocations and releases of a framework's allocator.
    pub memory_events: MemoryEvents,
    /// Spans that a profiler states beside the events that it recorded.
    pub spans: Spans,
    /// Allocations and scratch events.
    pub allocations: Allocations,
    /// Hardware counters.
    pub counters: Counters,
    /// Sampled quantities.
    pub monitors: Vec<Monitor>,
    /// Call stacks.
    pub stack_frames: Vec<StackFrame>,
    /// Links beyond the first call of an op, as (op id, call id): RPD allows several.
    pub extra_links: Vec<(Id, Id)>,
    /// Tables without a meaning for rtl, kept verbatim.
    pub opaque_tables: Vec<OpaqueTable>,
    /// Problems of rows.
    pub problems: Problems,
}

impl Tables {
    /// The agent behind `id`.
    pub fn agent(&self, id: AgentId) -> &Agent {
        &self.agents[id.index()]
    }

    /// Gives back the memory, on several threads where it takes time: the pages of a long trace take as long as its sums.
    pub fn free(self) {
        self.dispatches.free();
        self.api_calls.free();
    }

    /// Empties the tables of ops, calls and ranges; the tables that rows refer to stay.
    pub(crate) fn clear_rows(&mut self) {
        self.dispatches = Dispatches::default();
        self.copies.clear();
        self.barriers.clear();
        self.api_calls = ApiCalls::default();
        self.ranges.clear();
        self.operators = Operators::default();
        self.python_frames = PythonFrames::default();
        self.extra_links.clear();
    }

    /// Takes the rows of all tables. What rows refer to stays; the result shares the strings.
    pub fn take_rows(&mut self) -> Self {
        Self {
            strings: self.strings.clone(),
            dispatches: take(&mut self.dispatches),
            copies: take(&mut self.copies),
            barriers: take(&mut self.barriers),
            api_calls: take(&mut self.api_calls),
            ranges: take(&mut self.ranges),
            operators: take(&mut self.operators),
            python_frames: take(&mut self.python_frames),
            memory_events: take(&mut self.memory_events),
            spans: take(&mut self.spans),
            allocations: take(&mut self.allocations),
            counters: take(&mut self.counters),
            monitors: take(&mut self.monitors),
            stack_frames: take(&mut self.stack_frames),
            extra_links: take(&mut self.extra_links),
            opaque_tables: take(&mut self.opaque_tables),
            ..Self::default()
        }
    }

    /// The process behind `id`.
    pub fn process(&self, id: ProcessId) -> &Process {
        &self.processes[id.index()]
    }
}

/// The recorder of a trace, and how complete the trace is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceInfo {
    /// The layout that its content was recognised as.
    pub dialect: Dialect,
    /// The schema version as stated, e.g. `3`, `3.0.0`.
    pub schema_version: Option<String>,
    /// The tool that recorded it, if stated or implied by the dialect.
    pub tool: String,
    /// The version of the tool, if stated.
    pub tool_version: Option<String>,
    /// The recording mode (`lite`, `standard`, ...), if stated.
    pub mode: Option<String>,
    /// Counts of lost or skipped rows by the recorder's name for the reason; zeros are kept.
    pub losses: Vec<(String, u64)>,
    /// All metadata as stored, in order.
    pub metadata: Vec<(String, String)>,
    /// True where launches can be tied to dispatches: the dialect stores links.
    pub linked: bool,
    /// True where dispatches carry the id of their range.
    pub range_ids: bool,
    /// True where a killed writer had left a journal beside the file, which was read too.
    pub left_journal: bool,
    /// True where the compressed file has bytes behind its content, which were ignored.
    pub trailing_bytes: bool,
    /// True where the compressed file has ended early; it was read up to there.
    pub compressed_cut_off: bool,
    /// How many dispatches ran again because rocprofv3 replayed kernels for counters; they are no rows.
    pub replays: u64,
    /// True where hardware counters were collected of dispatches, whether or not they are selected: recorders of ROCm let
    /// no two kernels run at the same time for that.
    pub counters: bool,
    /// Ops that an analysis has left out because their times cannot be those of the run; a reader leaves out none.
    pub stray: Option<StrayOps>,
}

/// Ops whose times are absurdly far from those of all others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StrayOps {
    /// The number of ops.
    pub count: u64,
    /// The name of the first one.
    pub name: String,
    /// Start of the first one in ns.
    pub start_ns: i64,
    /// How long before the others it starts, in ns; negative for one behind them.
    pub before_ns: i64,
}

/// The cost of a recorder in one process, as it has measured it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
pub struct RecorderCost {
    /// CPU time of the process in ns.
    pub process_cpu_ns: u64,
    /// CPU time of the thread that collects completed dispatches, in ns.
    pub collector_cpu_ns: u64,
    /// CPU time of the thread that writes, in ns.
    pub recorder_cpu_ns: u64,
    /// Mean time that a launch spends in the recorder, in ns, if any was timed.
    pub launch_ns: Option<f64>,
    /// How many were timed.
    pub launch_samples: u64,
    /// Mean time that a hook of a range or a call takes in the application's thread, in ns, if any was timed.
    #[serde(default)]
    pub hook_ns: Option<f64>,
    /// How many were timed.
    #[serde(default)]
    pub hook_samples: u64,
    /// How many there were: two for a call, two for a range, one for a marker.
    #[serde(default)]
    pub hooks: u64,
    /// The most memory that ops on their way to the file occupied, in bytes.
    pub buffer_peak_bytes: u64,
}

impl TraceInfo {
    /// The cost of each recorder that states it; a merged file has the statements of its sources.
    pub fn recorder_costs(&self) -> impl Iterator<Item = RecorderCost> + '_ {
        let is_cost = |tag: &str| tag.rsplit(':').next() == Some(TRACING_COST);
        let costs = self.metadata.iter().filter(move |(tag, _)| is_cost(tag));
        costs.filter_map(|(_, row)| serde_json::from_str(row).ok())
    }

    /// Why the end of the work may be missing; `None` where the recorder ended properly or the source does not state it.
    pub fn cut_off(&self) -> Option<&'static str> {
        let is_incomplete = |(tag, value): &(String, String)| tag == COMPLETE && value == "0";
        if self.compressed_cut_off {
            Some("cut off: the compressed file ends early; read to its last whole row")
        } else if self.left_journal {
            Some("cut off: its recorder was killed and left a journal, which was read too")
        } else if self.dialect == Dialect::Native && self.metadata.iter().any(is_incomplete) {
            Some("cut off: its recorder was killed, or is still recording")
        } else if self.dialect == Dialect::Kineto && self.metadata.iter().any(|(tag, _)| tag == MALFORMED) {
            Some("cut off: behind its last whole event is no JSON")
        } else if self.dialect == Dialect::Kineto && self.metadata.iter().any(is_incomplete) {
            Some(
                "cut off: its profiler was killed, or the file was copied in part; read to its last whole event",
            )
        } else if self.metadata.iter().any(is_incomplete) {
            match self.dialect {
                Dialect::RocprofilerCsv | Dialect::RocprofCsv | Dialect::Roctracer => {
                    Some("cut off: the last line of a file has no end")
                }
                Dialect::RocprofJson | Dialect::JaxJson | Dialect::Xplane => Some(
                    "cut off: its profiler was killed, or the file was copied in part; read to its last event",
                ),
                _ => None,
            }
        } else {
            None
        }
    }
}

/// The kind of a problem of a row. Bad rows are data: kept or left out as stated here, and always counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// A string id that the string table does not have. The row is kept.
    DanglingName,
    /// A link to a call or op that does not exist. The link is left out.
    DanglingLink,
    /// Another reference (agent, kernel symbol, event, thread, process) that does not resolve. The row is kept.
    DanglingReference,
    /// A row without a start. It is left out.
    MissingStart,
    /// A value of a type that its column cannot have. It is read as unknown.
    BadValue,
}

/// One kind of problem in one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The reason why the rows are not read as they are.
    pub kind: ProblemKind,
    /// The table and column, e.g. `rocpd_op.description_id`.
    pub place: String,
    /// The number of rows.
    pub count: u64,
    /// The id of the first such row.
    pub first: Id,
}

/// All problems found in reading, one entry per kind and place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Counts one row.
    pub fn add(&mut self, kind: ProblemKind, place: &str, id: Id) {
        self.add_many(kind, place, id, 1);
    }

    /// Counts one row of `table` for its `column`.
    pub fn add_in(&mut self, kind: ProblemKind, table: &str, column: &str, id: Id) {
        let is_of =
            |place: &str| place.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')) == Some(column);
        match self.0.iter_mut().find(|problem| problem.kind == kind && is_of(&problem.place)) {
            Some(problem) => problem.count += 1,
            None => self.add(kind, &format!("{table}.{column}"), id),
        }
    }

    /// Counts `count` rows, of which `first` is the first.
    pub fn add_many(&mut self, kind: ProblemKind, place: &str, first: Id, count: u64) {
        match self.0.iter_mut().find(|problem| problem.kind == kind && problem.place == place) {
            Some(problem) => problem.count += count,
            None => self.0.push(Problem { kind, place: place.to_owned(), count, first }),
        }
    }

    /// All entries, in the order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }

    /// The number of rows with a problem of this kind.
    pub fn count(&self, kind: ProblemKind) -> u64 {
        self.0.iter().filter(|problem| problem.kind == kind).map(|problem| problem.count).sum()
    }

    /// Adds all entries of `other`.
    pub fn append(&mut self, other: Self) {
        for problem in other.0 {
            self.add_many(problem.kind, &problem.place, problem.first, problem.count);
        }
    }
}
