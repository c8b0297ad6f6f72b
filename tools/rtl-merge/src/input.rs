//! Reads every trace once before anything is written: its processes, agents, collectives and counts of rows.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cli::Failure;
use rtl_analysis::align::{CollectiveFinder, FoundCollectives};
use rtl_analysis::ranks::streaming::{KernelIndex, PlaceTotals, StreamingTotals};
use rtl_analysis::trust::{Health, StreamingHealth};
use rtl_schema::table::{Agent, Process};
use rtl_schema::{AgentId, Dialect, Error, Problems, ProcessId, Select, Tables, Trace, TraceInfo};

use crate::args::Options;
use crate::output::{CLOCK, MERGED, TOTALS, size};
use crate::ranges::RangeExtents;
use crate::rows::Rows;

/// The metadata tags that a merge evaluates, beside [`TOTALS`]; the others are only copied.
const EVALUATED_TAGS: [&str; 6] = ["run_id", MERGED, CLOCK, "clock_start", "clock_end", "complete"];

/// A trace without its rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    pub(crate) dialect: Dialect,
    /// Its metadata, as far as a merge evaluates it.
    pub(crate) info: TraceInfo,
    /// By [`ProcessId`].
    pub(crate) processes: Vec<Process>,
    /// By [`AgentId`].
    pub(crate) agents: Vec<Agent>,
    /// Pairs of a process and an agent that it used.
    pub(crate) users: BTreeSet<(ProcessId, AgentId)>,
    /// The GPUs of its monitors, by their index.
    pub(crate) monitored: BTreeSet<i64>,
    /// Whether it has tables of other tools.
    pub(crate) has_opaque_tables: bool,
    /// Counts of the rows that were read.
    pub(crate) rows: Rows,
    pub(crate) problems: Problems,
    /// The starts of its first and last row in ns.
    pub(crate) span: Option<(i64, i64)>,
    /// The ids of its ranges.
    pub(crate) ranges: RangeExtents,
    /// Its collectives.
    pub(crate) collectives: FoundCollectives,
    /// Whether it can be believed.
    pub(crate) health: Health,
    /// The rules that it was not examined by.
    pub(crate) unexamined: &'static [&'static str],
    /// The totals of each process on each GPU.
    pub(crate) totals: Vec<PlaceTotals>,
}

impl Input {
    /// Reads the trace at `path`, and numbers its kernels; arguments and launches are only counted in a `whole` trace.
    ///
    /// # Errors
    /// Where it cannot be read to its end.
    pub(crate) fn of(path: &Path, whole: bool) -> Result<(Self, KernelIndex), Error> {
        let trace = Trace::open(path)?;
        // The same tables as the merge reads, so that processes and agents have the same ids in both. Launch shapes distinguish
        // collectives, but those of rocm-trace-lite are text and cost more than the rest of a row.
        let select = match (whole, trace.dialect()) {
            (true, _) => Select::everything(),
            (false, dialect) => {
                Select { ids: false, args: false, launch: dialect != Dialect::Lite, ..Select::everything() }
            }
        };
        let mut finder = CollectiveFinder::default();
        let mut kernels = KernelIndex::default();
        let mut totals = StreamingTotals::new(&mut kernels);
        let mut health = StreamingHealth::new(trace.is_one_piece());
        let (mut input, last) = Self::read(&trace, &select, |chunk| {
            finder.add_chunk(chunk);
            totals.add_chunk(chunk);
            health.add_ops(chunk);
            health.add_host_rows(chunk);
        })?;
        input.collectives = finder.finish();
        (input.health, input.unexamined) = (health.finish(&last.info), health.unexamined());
        input.totals = totals.finish();
        input.keep(last);
        Ok((input, kernels))
    }

    /// Numbers its kernels as the job does.
    pub(crate) fn renumber(&mut self, numbers: &[u32]) {
        let kernels = self.totals.iter_mut().flat_map(|place| &mut place.kernels);
        kernels.for_each(|(kernel, _)| *kernel = numbers[*kernel as usize]);
    }

    /// Reads a trace and passes its chunks to `each`; the remaining tables are for [`Self::keep`].
    ///
    /// # Errors
    /// Where it cannot be read to its end.
    pub(crate) fn read(
        trace: &Trace,
        select: &Select,
        mut each: impl FnMut(&Tables),
    ) -> Result<(Self, Tables), Error> {
        let mut input = Self { path: trace.path().to_owned(), dialect: trace.dialect(), ..Self::default() };
        let last = trace.stream(select, |chunk| {
            input.add_chunk(chunk);
            each(chunk);
            Ok::<(), Error>(())
        })?;
        input.rows.add_last(&last);
        Ok((input, last))
    }

    /// Takes processes, agents and metadata from the remaining tables.
    pub(crate) fn keep(&mut self, last: Tables) {
        let tracks = last.tracks.rows().iter();
        self.users = tracks.map(|track| (track.process, track.agent)).collect();
        self.processes = last.processes;
        self.agents = last.agents;
        self.info = last.info;
        let is_evaluated = |tag: &str| EVALUATED_TAGS.contains(&tag) || TOTALS.contains(&tag);
        self.info.metadata.retain(|(tag, _)| is_evaluated(tag));
        self.info.metadata.shrink_to_fit();
        self.problems = last.problems;
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

    fn add_chunk(&mut self, chunk: &Tables) {
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

    /// The first value of an evaluated metadata tag.
    pub(crate) fn tag(&self, tag: &str) -> Option<&str> {
        self.info.metadata.iter().find(|(name, _)| name == tag).map(|(_, value)| value.as_str())
    }

    /// The file name.
    pub(crate) fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// The ranks, sorted.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let ranks: BTreeSet<u32> = self.processes.iter().filter_map(|process| process.rank).collect();
        ranks.into_iter().collect()
    }

    /// The size of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        size(&self.path)
    }
}

/// Fails if there is no input, or without `--keep-going` if some traces cannot be read.
pub(crate) fn check_readable(
    inputs: &[Input],
    failures: usize,
    options: &Options,
    words: [&str; 2],
) -> Result<(), Failure> {
    if !inputs.is_empty() && (failures == 0 || options.keep_going) {
        return Ok(());
    }
    let ([consequence, verb], all) = (words, options.traces.len());
    let hint = if inputs.is_empty() { String::new() } else { format!("--keep-going {verb} the others") };
    Err(Failure::input(anyhow::anyhow!("{failures} of {all} traces cannot be read: {consequence}"))
        .with_hint(hint))
}
