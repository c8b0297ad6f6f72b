//! A trace without its rows: who ran it, on which GPUs and how many rows it has.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rtl_analysis::align::{CollectiveFinder, FoundCollectives};
use rtl_analysis::ranks::streaming::{KernelIndex, PlaceTotals, StreamingTotals};
use rtl_analysis::trust::{Health, StreamingHealth};
use rtl_schema::table::{Agent, Process};
use rtl_schema::{AgentId, Dialect, Error, Problems, ProcessId, Select, Tables, Trace, TraceInfo};

use super::ranges::RangeExtents;
use super::rows::Rows;
use crate::output::{CLOCK, MERGED, TOTALS, size};

/// The metadata tags that a merge evaluates, beside [`TOTALS`]; the others are only copied.
const EVALUATED_TAGS: [&str; 6] = ["run_id", MERGED, CLOCK, "clock_start", "clock_end", "complete"];

/// A trace without its rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) dialect: Dialect,
    /// Only the metadata that a merge evaluates.
    pub(crate) info: TraceInfo,
    /// By [`ProcessId`].
    pub(crate) processes: Vec<Process>,
    /// By [`AgentId`].
    pub(crate) agents: Vec<Agent>,
    /// Pairs of a process and an agent that it used.
    pub(crate) users: BTreeSet<(ProcessId, AgentId)>,
    /// The GPUs of its monitors, by their index.
    pub(crate) monitored: BTreeSet<i64>,
    pub(crate) has_opaque_tables: bool,
    pub(crate) rows: Rows,
    pub(crate) problems: Problems,
    /// The starts of its first and last row in ns.
    pub(crate) span: Option<(i64, i64)>,
    pub(crate) ranges: RangeExtents,
    pub(crate) collectives: FoundCollectives,
    pub(crate) health: Health,
    /// The rules of trust that it was not examined by.
    pub(crate) unexamined: &'static [&'static str],
    /// Sums by process and GPU.
    pub(crate) totals: Vec<PlaceTotals>,
}

/// Facts about the rows of a trace, chunk by chunk, because no rows are kept.
#[derive(Debug, Default)]
pub(crate) struct RowScan {
    pub(crate) rows: Rows,
    ranges: RangeExtents,
    span: Option<(i64, i64)>,
    monitored: BTreeSet<i64>,
    has_opaque_tables: bool,
}

impl RowScan {
    pub(crate) fn add_chunk(&mut self, chunk: &Tables) {
        self.rows.add(chunk);
        self.ranges.add(chunk);
        self.has_opaque_tables |= !chunk.opaque_tables.is_empty();
        let dispatches = (0..chunk.dispatches.len()).map(|at| chunk.dispatches.start[at]);
        let others = chunk.copies.iter().map(|copy| copy.start);
        let ranges = chunk.ranges.iter().map(|range| range.start);
        let calls = chunk.api_calls.iter().map(|call| call.start);
        for start in dispatches.chain(others).chain(ranges).chain(calls) {
            let (first, last) = self.span.unwrap_or((start, start));
            self.span = Some((first.min(start), last.max(start)));
        }
        let monitored = chunk.monitors.iter().filter(|monitor| monitor.is_gpu(&chunk.strings));
        self.monitored.extend(monitored.map(|monitor| monitor.device));
    }
}

impl Input {
    /// Reads the trace at `path`, and numbers its kernels; arguments and launches are only counted in a `whole` trace.
    ///
    /// # Errors
    /// Where it cannot be read to its end.
    pub(crate) fn read(path: &Path, whole: bool) -> Result<(Self, KernelIndex), Error> {
        let trace = Trace::open(path)?;
        // The same tables as the merge reads, so that processes and agents have the same ids in both. Launch shapes distinguish
        // collectives, but those of rocm-trace-lite are text and cost more than the rest of a row.
        let select = match (whole, trace.dialect()) {
            (true, _) => Select::everything(),
            (false, dialect) => {
                Select { ids: false, args: false, launch: dialect != Dialect::Lite, ..Select::everything() }
            }
        };
        let mut scan = RowScan::default();
        let mut finder = CollectiveFinder::default();
        let mut kernels = KernelIndex::default();
        let mut totals = StreamingTotals::new(&mut kernels);
        let mut health = StreamingHealth::new(trace.is_one_piece());
        let last = trace.stream(&select, |chunk| {
            scan.add_chunk(chunk);
            finder.add_chunk(chunk);
            totals.add_chunk(chunk);
            health.add_ops(chunk);
            health.add_host_rows(chunk);
            Ok::<(), Error>(())
        })?;
        let input = Self {
            collectives: finder.finish(),
            health: health.finish(&last.info),
            unexamined: health.unexamined(),
            totals: totals.finish(),
            ..Self::new(&trace, scan, last)
        };
        Ok((input, kernels))
    }

    /// The trace whose rows were scanned, with processes, agents and metadata of the tables that remain after the last chunk.
    pub(crate) fn new(trace: &Trace, scan: RowScan, last: Tables) -> Self {
        let RowScan { mut rows, ranges, span, monitored, has_opaque_tables } = scan;
        rows.add_last(&last);
        let users = last.tracks.rows().iter().map(|track| (track.process, track.agent)).collect();
        let mut info = last.info;
        let is_evaluated = |tag: &str| EVALUATED_TAGS.contains(&tag) || TOTALS.contains(&tag);
        info.metadata.retain(|(tag, _)| is_evaluated(tag));
        info.metadata.shrink_to_fit();
        Self {
            path: trace.path().to_owned(),
            dialect: trace.dialect(),
            info,
            processes: last.processes,
            agents: last.agents,
            users,
            monitored,
            has_opaque_tables,
            rows,
            problems: last.problems,
            span,
            ranges,
            ..Self::default()
        }
    }

    /// Numbers its kernels as the job does.
    pub(crate) fn renumber(&mut self, numbers: &[u32]) {
        let kernels = self.totals.iter_mut().flat_map(|place| &mut place.kernels);
        kernels.for_each(|(kernel, _)| *kernel = numbers[*kernel as usize]);
    }

    /// Drops everything but the identity of the run and its processes.
    pub(crate) fn forget_details(&mut self) {
        self.info.metadata.retain(|(tag, _)| ["run_id", MERGED].contains(&tag.as_str()));
        self.agents = Vec::new();
        self.users.clear();
        for process in &mut self.processes {
            (process.command, process.environment) = (None, None);
        }
    }

    /// The first value of an evaluated metadata tag.
    pub(crate) fn tag(&self, tag: &str) -> Option<&str> {
        self.info.metadata.iter().find(|(name, _)| name == tag).map(|(_, value)| value.as_str())
    }

    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Sorted, each once.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let ranks: BTreeSet<u32> = self.processes.iter().filter_map(|process| process.rank).collect();
        ranks.into_iter().collect()
    }

    /// The size of the file.
    pub(crate) fn bytes(&self) -> u64 {
        size(&self.path)
    }
}
