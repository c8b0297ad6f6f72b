//! The records of each kind as rows. Agents stay positions until all files are read.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};

use super::agents::{AgentName, Agents};
use super::header::{Header, Kind};
use crate::csv::Record;
use crate::table::{Process, Symbol};
use crate::{AgentId, Id, ProblemKind, ProcessId, Select, SymbolId, Tables};

/// Reads a record; false ends the file.
pub(super) type Read = Box<dyn Fn(&mut Rows, Record<'_>) -> bool>;

/// A run, which may have several processes: a file of rocpd's converter names them by guid.
type ProcessKey = (usize, String, Option<i64>);

/// The rows of all files.
pub(super) struct Rows {
    pub(super) select: Select,
    pub(super) tables: Tables,
    pub(super) agents: Agents,
    runs: Vec<(PathBuf, String)>,
    run: usize,
    /// True where the run has no dispatches but those of its counters.
    pub(super) counted: bool,
    /// Dispatches that counters have brought.
    pub(super) dispatches: FxHashSet<(ProcessId, Id)>,
    processes: FxHashMap<ProcessKey, ProcessId>,
    /// The first process of each run and guid.
    firsts: FxHashMap<(usize, String), ProcessId>,
    symbols: FxHashMap<(ProcessId, Symbol), SymbolId>,
}

/// The columns that every timed record may have.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub(super) guid: Option<usize>,
    pub(super) pid: Option<usize>,
    pub(super) tid: Option<usize>,
    pub(super) correlation: Option<usize>,
    pub(super) start: Option<usize>,
    pub(super) end: Option<usize>,
    pub(super) queue: Option<usize>,
    pub(super) stream: Option<usize>,
}

impl Common {
    pub(super) fn new(header: &Header) -> Self {
        Self {
            guid: header.at(&["guid"]),
            pid: header.at(&["process_id", "pid"]),
            tid: header.at(&["thread_id", "tid"]),
            correlation: header.at(&["correlation_id"]),
            start: header.at(&["start_timestamp"]),
            end: header.at(&["end_timestamp"]),
            queue: header.at(&["queue_id"]),
            stream: header.at(&["stream_id"]),
        }
    }
}

/// Columns that every timed record has.
#[derive(Clone, Copy)]
pub(super) struct Timed {
    pub(super) id: Id,
    pub(super) process: ProcessId,
    pub(super) tid: Option<i64>,
    pub(super) start: i64,
    pub(super) duration: Option<i64>,
    pub(super) correlation: Id,
}

impl Rows {
    pub(super) fn new(select: Select) -> Self {
        Self {
            select,
            tables: Tables::default(),
            agents: Agents::default(),
            runs: Vec::new(),
            run: 0,
            counted: false,
            dispatches: FxHashSet::default(),
            processes: FxHashMap::default(),
            firsts: FxHashMap::default(),
            symbols: FxHashMap::default(),
        }
    }

    /// Begins a file of `run`; `counted`: no other file has its dispatches.
    pub(super) fn begin(&mut self, run: &(PathBuf, String), counted: bool) {
        let known = self.runs.iter().position(|known| known == run);
        self.run = known.unwrap_or_else(|| {
            self.runs.push(run.clone());
            self.runs.len() - 1
        });
        self.counted = counted;
    }

    pub(super) fn set_metadata(&mut self, tag: &str, value: &str) {
        let metadata = &mut self.tables.info.metadata;
        if !metadata.iter().any(|(known, _)| known == tag) {
            metadata.push((tag.to_owned(), value.to_owned()));
        }
    }

    pub(super) fn problem(&mut self, problem: ProblemKind, kind: Kind, column: &str, number: i64) {
        self.tables.problems.add_in(problem, place(kind), column, number);
    }

    /// The tables, with agents in place of positions.
    pub(super) fn finish(mut self) -> Tables {
        let is_named = |(_, prefix): &(PathBuf, String)| prefix.trim_end_matches('_').parse().ok();
        for ((run, _, pid), process) in &self.processes {
            let place = &mut self.tables.processes[process.index()];
            place.pid = pid.or_else(|| is_named(&self.runs[*run]));
        }
        let machines: Vec<String> =
            self.runs.iter().map(|(folder, _)| folder.to_string_lossy().into_owned()).collect();
        self.agents.finish(&mut self.tables, &machines);
        self.tables
    }

    /// The run of the file that is read.
    pub(super) fn run(&self) -> usize {
        self.run
    }

    /// The process of a record. Files of kernels name none: they belong to the first one of their run.
    pub(super) fn process(&mut self, common: &Common, record: Record<'_>) -> ProcessId {
        let guid = record.text(common.guid).unwrap_or_default().into_owned();
        let pid = record.int(common.pid);
        if pid.is_none()
            && let Some(&first) = self.firsts.get(&(self.run, guid.clone()))
        {
            return first;
        }
        let processes = &mut self.tables.processes;
        let id = *self.processes.entry((self.run, guid.clone(), pid)).or_insert_with(|| {
            let id = ProcessId(processes.len() as u32);
            let guid = (!guid.is_empty()).then(|| guid.clone());
            processes.push(Process { pid, guid, space: id.0, ..Process::default() });
            id
        });
        self.firsts.entry((self.run, guid)).or_insert(id);
        id
    }

    pub(super) fn timed(&mut self, kind: Kind, common: &Common, record: Record<'_>) -> Option<Timed> {
        let Some(start) = record.int(common.start) else {
            self.problem(ProblemKind::MissingStart, kind, "Start_Timestamp", record.number);
            return None;
        };
        let end = record.int(common.end);
        if end.is_none() && !record.is_cut {
            self.problem(ProblemKind::BadValue, kind, "End_Timestamp", record.number);
        }
        // A number that was cut off has fewer digits, so it is less than the start.
        let end = end.filter(|&end| !record.is_cut || end >= start);
        Some(Timed {
            id: if self.select.ids { record.number } else { 0 },
            process: self.process(common, record),
            tid: record.int(common.tid),
            start,
            duration: end.and_then(|end| end.checked_sub(start)),
            correlation: record.int(common.correlation).unwrap_or(0),
        })
    }

    /// The position of the agent that a field names.
    pub(super) fn agent(&mut self, record: Record<'_>, at: Option<usize>) -> Option<AgentId> {
        let name = AgentName::parse(record.text(at)?.trim())?;
        Some(self.agents.position(self.run, name))
    }

    /// The loaded kernel of a record; versions repeat its registers in each.
    pub(super) fn symbol(&mut self, symbol: Symbol) -> Option<SymbolId> {
        let is_known = symbol.sgprs.is_some() || symbol.vgprs.is_some() || symbol.agprs.is_some();
        if !self.select.launch || !is_known {
            return None;
        }
        let symbols = &mut self.tables.symbols;
        Some(*self.symbols.entry((symbol.process, symbol)).or_insert_with(|| {
            symbols.push(symbol);
            SymbolId(symbols.len() as u32 - 1)
        }))
    }
}

/// The name of a kind in problems.
fn place(kind: Kind) -> &'static str {
    match kind {
        Kind::Agents => "agent_info",
        Kind::Calls => "api_trace",
        Kind::Counters => "counter_collection",
        Kind::Dispatches => "kernel_trace",
        Kind::Copies => "memory_copy_trace",
        Kind::Allocations => "memory_allocation_trace",
        Kind::Scratch => "scratch_memory_trace",
    }
}
