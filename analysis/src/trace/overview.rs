//! The description of a trace: recorder, processes, GPUs, row counts, completeness.

use std::ops::Range;

use rtl_schema::table::{Agent, AgentKind, Direction, Process};
use rtl_schema::{AgentId, Dialect, Durations, Tables, TraceInfo};
use serde::{Deserialize, Serialize};

use crate::base::parallel;
use crate::trust::tracing_cost::{TracingCost, tracing_cost};

/// A process of the trace.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// The operating system's id.
    pub pid: Option<i64>,
    /// Rank in the distributed job.
    pub rank: Option<u32>,
    /// Name of the host.
    pub host: Option<String>,
    /// Command line of the process.
    pub command: Option<String>,
}

impl From<&Process> for ProcessInfo {
    fn from(Process { pid, rank, host, command, .. }: &Process) -> Self {
        Self { pid: *pid, rank: *rank, host: host.clone(), command: command.clone() }
    }
}

/// A GPU of the trace, whether it ran anything or not.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GpuInfo {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// `AMD Instinct MI300X`, if known.
    pub product: Option<String>,
    /// Instruction set, such as `gfx942`, if known.
    pub target: Option<String>,
    /// The machine, where one trace holds several.
    pub node: Option<u32>,
}

/// How many rows of each kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowCounts {
    /// The number of kernel launches.
    pub dispatches: u64,
    /// The number of copies and fills.
    pub copies: u64,
    /// How many of these are fills.
    #[serde(default)]
    pub fills: u64,
    /// The number of barriers.
    pub barriers: u64,
    /// The number of API calls.
    pub api_calls: u64,
    /// The number of ranges.
    pub ranges: u64,
    /// The number of markers.
    pub markers: u64,
    /// Allocation and scratch events.
    pub allocations: u64,
    /// The number of counter values.
    pub counters: u64,
}

/// Processes and GPUs that have events, as positions in [`TraceOverview::processes`] and [`TraceOverview::gpus`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Active {
    /// Positions of processes, ascending.
    pub processes: Vec<usize>,
    /// Positions of GPUs, ascending.
    pub gpus: Vec<usize>,
}

/// The description of a trace.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct TraceOverview {
    /// The dialect's stable name ([`rtl_schema::Dialect::label`]).
    pub dialect: String,
    /// The schema version as stated.
    pub schema_version: Option<String>,
    /// Name of the recording tool.
    pub tool: String,
    /// Version of the recording tool.
    pub tool_version: Option<String>,
    /// Recording mode of the tool.
    pub mode: Option<String>,
    /// All processes that rows or metadata name.
    pub processes: Vec<ProcessInfo>,
    /// All GPUs, by number.
    pub gpus: Vec<GpuInfo>,
    /// The positions of the processes that have an op, a call, a range or an operator, and of the GPUs that have an op. A recorder may
    /// name others. Empty in a report that was saved.
    #[serde(skip)]
    pub active: Active,
    /// Distinct host names, sorted.
    pub hosts: Vec<String>,
    /// Distinct ranks, in ascending order.
    pub ranks: Vec<u32>,
    /// First start of any op, call or range in ns; `None` for a trace without rows.
    pub start_ns: Option<i64>,
    /// Last end of any op, call or range in ns.
    pub end_ns: Option<i64>,
    /// `end_ns - start_ns`; 0 without rows.
    pub span_ns: i64,
    /// Rows of each kind.
    pub rows: RowCounts,
    /// The cost of recording, where the recorder has stated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tracing_cost: Option<TracingCost>,
    /// Sentences on completeness, e.g. about kernels that lite mode leaves out.
    pub notes: Vec<String>,
}

/// Describes a trace by its rows and metadata.
pub fn overview(tables: &Tables) -> TraceOverview {
    let about = &tables.info;
    let span = span(tables);
    TraceOverview {
        dialect: about.dialect.label().to_owned(),
        schema_version: about.schema_version.clone(),
        tool: about.tool.clone(),
        tool_version: about.tool_version.clone(),
        mode: about.mode.clone(),
        processes: tables.processes.iter().map(ProcessInfo::from).collect(),
        gpus: gpus(tables).into_iter().map(|(_, gpu)| gpu).collect(),
        active: active(tables),
        hosts: sorted(tables.processes.iter().filter_map(|process| process.host.clone())),
        ranks: sorted(tables.processes.iter().filter_map(|process| process.rank)),
        start_ns: span.map(|(start, _)| start),
        end_ns: span.map(|(_, end)| end),
        span_ns: span.map_or(0, |(start, end)| end.saturating_sub(start)),
        rows: rows(tables),
        tracing_cost: tracing_cost(tables),
        notes: notes(tables),
    }
}

/// First start and last end of all ops, API calls and ranges; `None` without rows.
pub fn span(tables: &Tables) -> Option<(i64, i64)> {
    let calls = &tables.api_calls;
    let spans = [
        ops_span(tables),
        column_span(&calls.start, &calls.duration),
        row_span(tables.ranges.iter().map(|range| (range.start, range.duration))),
    ];
    spans.into_iter().flatten().reduce(wider)
}

/// First start and last end of all dispatches, copies and barriers; `None` where there are none.
pub fn ops_span(tables: &Tables) -> Option<(i64, i64)> {
    let dispatches = &tables.dispatches;
    let spans = [
        column_span(&dispatches.start, &dispatches.duration),
        row_span(tables.copies.iter().map(|copy| (copy.start, copy.duration))),
        row_span(tables.barriers.iter().map(|barrier| (barrier.start, barrier.duration))),
    ];
    spans.into_iter().flatten().reduce(wider)
}

fn column_span(starts: &[i64], durations: &Durations) -> Option<(i64, i64)> {
    let of_rows = |rows: Range<usize>| row_span(rows.map(|row| (starts[row], durations.get(row))));
    threads::map(parallel::stretches(starts.len()), of_rows).into_iter().flatten().reduce(wider)
}

fn row_span(rows: impl Iterator<Item = (i64, Option<i64>)>) -> Option<(i64, i64)> {
    rows.map(|(start, duration)| (start, start.saturating_add(duration.unwrap_or(0).max(0)))).reduce(wider)
}

pub(super) fn wider(one: (i64, i64), other: (i64, i64)) -> (i64, i64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// All GPUs by number, each with its agent.
fn gpus(tables: &Tables) -> Vec<(AgentId, GpuInfo)> {
    let agents = (0..).map(AgentId).zip(&tables.agents).filter(|(_, agent)| agent.kind == AgentKind::Gpu);
    let info = |agent: &Agent| GpuInfo {
        gpu: agent.number,
        product: agent.product.clone(),
        target: agent.target.clone(),
        node: agent.node,
    };
    let mut gpus: Vec<(AgentId, GpuInfo)> = agents.map(|(id, agent)| (id, info(agent))).collect();
    gpus.sort_by_key(|(_, gpu)| gpu.gpu);
    gpus
}

fn active(tables: &Tables) -> Active {
    let tracks = tables.tracks.rows();
    let has_op = |agent: AgentId| tracks.iter().any(|track| track.agent == agent);
    let gpus = gpus(tables).into_iter().enumerate().filter(|(_, (agent, _))| has_op(*agent));
    let count = tables.processes.len();
    let mut are_active = vec![count <= 1; count];
    let calls = &tables.api_calls;
    let of_calls = (0..calls.len()).map(|row| calls.process.get(row));
    let of_rows =
        tracks.iter().map(|track| track.process).chain(tables.ranges.iter().map(|range| range.process));
    let mut missing = if count <= 1 { 0 } else { count };
    let mut last = None;
    for process in of_rows.chain(of_calls) {
        if missing == 0 {
            break;
        }
        if last != Some(process) {
            last = Some(process);
            if let Some(is_active) = are_active.get_mut(process.index()) {
                missing -= usize::from(!std::mem::replace(is_active, true));
            }
        }
    }
    Active {
        processes: (0..count).filter(|&position| are_active[position]).collect(),
        gpus: gpus.map(|(position, _)| position).collect(),
    }
}

fn rows(tables: &Tables) -> RowCounts {
    let markers = tables.ranges.iter().filter(|range| range.is_marker()).count() as u64;
    RowCounts {
        dispatches: tables.dispatches.len() as u64,
        copies: tables.copies.len() as u64,
        fills: tables.copies.iter().filter(|copy| copy.direction == Direction::Fill).count() as u64,
        barriers: tables.barriers.len() as u64,
        api_calls: tables.api_calls.len() as u64,
        ranges: tables.ranges.len() as u64 - markers,
        markers,
        allocations: tables.allocations.len() as u64,
        counters: tables.counters.len() as u64,
    }
}

/// Returns what lite mode leaves out, of a trace that was or may have been recorded in it.
pub(crate) fn lite_note(about: &TraceInfo) -> Option<&'static str> {
    let lite = |mode: &str| mode.split(", ").any(|word| word == "lite");
    match (about.mode.as_deref(), about.dialect) {
        (Some(mode), _) if lite(mode) => Some(
            "recorded in lite mode: kernels with a completion signal of their own, collectives above all, \
             may be missing",
        ),
        (None, Dialect::Lite) => Some(
            "the trace does not say in which mode it was recorded; in lite mode, the default of \
             rocm-trace-lite, kernels with a completion signal of their own, collectives above all, are missing",
        ),
        _ => None,
    }
}

/// How many records the recorder lost, and how many it skipped by its settings.
pub(crate) fn lost_and_skipped(about: &TraceInfo) -> (u64, u64) {
    let on_purpose = |tag: &str| tag.contains("skipped:");
    let sum = |wanted: bool| -> u64 {
        about.losses.iter().filter(|(tag, _)| on_purpose(tag) == wanted).map(|(_, count)| count).sum()
    };
    (sum(false), sum(true))
}

/// A sentence on lost and skipped records.
pub(crate) fn loss_note(about: &TraceInfo) -> Option<String> {
    match lost_and_skipped(about) {
        (0, 0) => None,
        (0, skipped) => {
            Some(format!("the recorder skipped {skipped} records by its settings, and lost none"))
        }
        (lost, 0) => Some(format!("the recorder lost {lost} records")),
        (lost, skipped) => {
            Some(format!("the recorder lost {lost} records, and skipped {skipped} by its settings"))
        }
    }
}

fn notes(tables: &Tables) -> Vec<String> {
    let about = &tables.info;
    let mut notes = Vec::new();
    notes.extend(lite_note(about).map(str::to_owned));
    if about.dialect == Dialect::Lite && tables.copies.is_empty() {
        notes.push("rocm-trace-lite records no copies made by copy engines".to_owned());
    }
    notes.extend(about.cut_off().map(str::to_owned));
    if about.trailing_bytes {
        notes.push("bytes behind the compressed content were ignored".to_owned());
    }
    if about.replays > 0 {
        notes.push(format!(
            "rocprofv3 replayed kernels for counters: {} dispatches that repeat others are left out",
            about.replays
        ));
    }
    notes.extend(loss_note(about));
    notes
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_left_out_is_said() {
        let mut tables = Tables::default();
        (tables.info.replays, tables.info.trailing_bytes) = (12, true);
        let notes = notes(&tables);
        assert_eq!(notes.len(), 2);
        assert!(notes[0].starts_with("bytes behind") && notes[1].contains("12 dispatches"), "{notes:?}");
    }

    #[test]
    fn a_native_file_that_is_not_complete_was_cut_off() {
        let mut tables = Tables::default();
        tables.info.dialect = Dialect::Native;
        for (complete, expected) in [("0", 1), ("1", 0)] {
            tables.info.metadata = vec![("complete".to_owned(), complete.to_owned())];
            let notes = notes(&tables);
            assert_eq!(notes.len(), expected);
            assert!(notes.iter().all(|note| note.starts_with("cut off: ")));
        }
    }
}
