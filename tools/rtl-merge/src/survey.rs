//! What an input is, told by reading it once before anything is written.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rtl_schema::table::{Agent, Process};
use rtl_schema::{AgentId, Dialect, Error, Problems, ProcessId, Select, Tables, Trace, TraceInfo};

use crate::rows::Rows;
use crate::target::{CLOCK, MERGED, TOTALS};
use rtl_analysis::align::{CollectiveCalls, CollectiveFinder};
use rtl_analysis::ranks::streaming::{KernelIndex, PlaceTotals, StreamingTotals};

/// The tags that say something of a trace among others, beside [`TOTALS`]. What else it says of itself is only copied.
const TELLING: [&str; 6] = ["run_id", MERGED, CLOCK, "clock_start", "clock_end", "complete"];

/// One input without its rows.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// The file as it was named.
    pub path: PathBuf,
    /// Whose layout it has.
    pub dialect: Dialect,
    /// What it says of itself, as far as that matters to others.
    pub about: TraceInfo,
    /// Its processes, by [`ProcessId`].
    pub processes: Vec<Process>,
    /// Its agents, by [`AgentId`].
    pub agents: Vec<Agent>,
    /// Which process used which agent.
    pub users: BTreeSet<(ProcessId, AgentId)>,
    /// The GPUs that its monitors watched, as those number them.
    pub watched: BTreeSet<i64>,
    /// Whether it has tables of other tools.
    pub has_extras: bool,
    /// How many rows it has, as far as they were read.
    pub rows: Rows,
    /// What is wrong with them.
    pub problems: Problems,
    /// The starts of its first and its last row in ns, if it has any.
    pub span: Option<(i64, i64)>,
    /// Its synchronising collectives.
    pub collectives: Vec<CollectiveCalls>,
    /// What each of its processes ran on each GPU.
    pub own: Vec<PlaceTotals>,
}

impl Survey {
    /// Reads the trace at `path`, of a job with these `kernels`; only the `whole` of it tells how many arguments and
    /// launches it has.
    ///
    /// # Errors
    /// Where it cannot be read to its end.
    pub fn of(path: &Path, whole: bool, kernels: &mut KernelIndex) -> Result<Self, Error> {
        let trace = Trace::open(path)?;
        // The same tables as the merge itself will read, so that both meet the same processes and agents in one order.
        // Shapes of launches tell collectives apart, but rocm-trace-lite's are text and cost more than all else of a row.
        let select = match (whole, trace.dialect()) {
            (true, _) => Select::everything(),
            (false, dialect) => {
                Select { ids: false, args: false, launch: dialect != Dialect::Lite, ..Select::everything() }
            }
        };
        let mut finder = CollectiveFinder::default();
        let mut tally = StreamingTotals::new(kernels);
        let (mut survey, last) = Self::read(&trace, &select, |piece| {
            finder.add_chunk(piece);
            tally.add_chunk(piece);
        })?;
        survey.collectives = finder.finish();
        survey.own = tally.finish();
        survey.keep(last);
        Ok(survey)
    }

    /// Reads a trace, shows its pieces to `each` and counts what they hold. What is left of them is for [`Self::keep`].
    ///
    /// # Errors
    /// Where it cannot be read to its end.
    pub fn read(
        trace: &Trace,
        select: &Select,
        mut each: impl FnMut(&Tables),
    ) -> Result<(Self, Tables), Error> {
        let mut survey = Self { path: trace.path().to_owned(), dialect: trace.dialect(), ..Self::default() };
        let last = trace.stream(select, |piece| {
            survey.piece(piece);
            each(piece);
            Ok::<(), Error>(())
        })?;
        survey.rows.add_last(&last);
        Ok((survey, last))
    }

    /// Takes who is who from what the pieces have left.
    pub fn keep(&mut self, last: Tables) {
        let tracks = last.tracks.rows().iter();
        self.users = tracks.map(|track| (track.process, track.agent)).collect();
        self.processes = last.processes;
        self.agents = last.agents;
        self.about = last.info;
        let is_telling = |tag: &str| TELLING.contains(&tag) || TOTALS.contains(&tag);
        self.about.metadata.retain(|(tag, _)| is_telling(tag));
        self.about.metadata.shrink_to_fit();
        self.problems = last.problems;
    }

    /// Forgets all but what tells whether traces belong together.
    pub fn forget_details(&mut self) {
        self.about.metadata.retain(|(tag, _)| ["run_id", MERGED].contains(&tag.as_str()));
        self.agents = Vec::new();
        self.users.clear();
        for process in &mut self.processes {
            (process.command, process.environment) = (None, None);
        }
    }

    fn piece(&mut self, piece: &Tables) {
        self.rows.add(piece);
        self.has_extras |= !piece.opaque_tables.is_empty();
        let dispatches = (0..piece.dispatches.len()).map(|at| piece.dispatches.start(at));
        let others = piece.copies.iter().map(|copy| copy.start);
        let ranges = piece.ranges.iter().map(|range| range.start);
        let calls = piece.api_calls.iter().map(|call| call.start);
        for start in dispatches.chain(others).chain(ranges).chain(calls) {
            let (first, last) = self.span.unwrap_or((start, start));
            self.span = Some((first.min(start), last.max(start)));
        }
        let watched = piece.monitors.iter().filter(|monitor| monitor.is_gpu(&piece.strings));
        self.watched.extend(watched.map(|monitor| monitor.device));
    }

    /// The first value of a metadata tag, of those that tell something of a trace among others.
    #[must_use]
    pub fn tag(&self, tag: &str) -> Option<&str> {
        self.about.metadata.iter().find(|(name, _)| name == tag).map(|(_, value)| value.as_str())
    }

    /// The name of its file.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }

    /// Its ranks, sorted.
    #[must_use]
    pub fn ranks(&self) -> Vec<u32> {
        let ranks: BTreeSet<u32> = self.processes.iter().filter_map(|process| process.rank).collect();
        ranks.into_iter().collect()
    }

    /// The file's size in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |file| file.len())
    }
}
