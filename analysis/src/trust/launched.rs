//! Which ops the calls that launch something led to.

use rtl_schema::table::Track;
use rtl_schema::{NameId, ProcessId, Tables};
use rustc_hash::FxHashMap;

use crate::base::first_use::distinct;
use crate::base::lookup::Lookup;

/// The effect of a function, by its name in HIP and CUDA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// Launches one kernel.
    Kernel,
    /// Launches a whole graph.
    Graph,
    /// Begins to capture a stream: launches build a graph from here on.
    BeginCapture,
    /// Ends the capture of a stream.
    EndCapture,
    /// Has no part in launches.
    Other,
}

impl Function {
    pub(super) fn of(name: &str) -> Self {
        if name.contains("LaunchKernel")
            || name.contains("LaunchCooperativeKernel")
            || name == "hipLaunchByPtr"
        {
            Self::Kernel
        } else if name.contains("GraphLaunch") {
            Self::Graph
        } else if name.contains("StreamBeginCapture") {
            Self::BeginCapture
        } else if name.contains("StreamEndCapture") {
            Self::EndCapture
        } else {
            Self::Other
        }
    }

    /// Returns whether a call leads to work on a GPU.
    pub(super) fn launches(self) -> bool {
        matches!(self, Self::Kernel | Self::Graph)
    }
}

/// The launches of a trace that is tied to the host: each with the number of its ops.
#[derive(Debug)]
pub(crate) struct Launched<'a> {
    pub(super) tables: &'a Tables,
    /// The rows of calls that launched a kernel and were not captured; of several with one correlation id one.
    pub(super) kernels: Vec<u32>,
    pub(super) graphs: Vec<u32>,
    /// The rows of launches that were captured into a graph.
    pub(super) captured: Vec<u32>,
    /// Indexed by call: the number of its dispatches and copies.
    pub(super) ops: Vec<u32>,
    pub(super) tied: u64,
    /// How many start before the first op of their queue that is tied to a call, and name a call that is not there.
    pub(super) earlier: u64,
    calls: Vec<Lookup>,
    space_of_track: Vec<usize>,
}

impl<'a> Launched<'a> {
    pub(crate) fn of(tables: &'a Tables) -> Self {
        let (spaces, space_of_process) = distinct(tables.processes.iter().map(|process| process.space));
        let space_of = |process: ProcessId| space_of_process.get(process.index()).copied().unwrap_or(0);
        let functions: Vec<Function> = tables.strings.iter().map(|(_, text)| Function::of(text)).collect();
        let function = |name: NameId| functions.get(name.index()).copied().unwrap_or(Function::Other);
        let calls = &tables.api_calls;
        let mut pairs = vec![Vec::new(); spaces.len().max(1)];
        for row in 0..calls.len() {
            pairs[space_of(calls.process.get(row))].push((calls.correlation.get(row), row as u32));
        }
        let order = |row: u32| (function(calls.name[row as usize]) as u8, calls.start[row as usize]);
        // Of a call of the runtime and one of the driver with one id, the one that launches counts, then the earlier one.
        let lookups: Vec<Lookup> = pairs
            .into_iter()
            .map(|pairs| Lookup::choosing(pairs, |one, other| order(one) < order(other)))
            .collect();
        let mut launched = Self {
            tables,
            kernels: Vec::new(),
            graphs: Vec::new(),
            captured: Vec::new(),
            ops: vec![0; calls.len()],
            tied: 0,
            earlier: 0,
            calls: lookups,
            space_of_track: tables.tracks.rows().iter().map(|track| space_of(track.process)).collect(),
        };
        if calls.is_empty() {
            return launched;
        }
        let captures = Captures::new(tables, function);
        for row in 0..calls.len() {
            let (process, correlation) = (calls.process.get(row), calls.correlation.get(row));
            let kind = function(calls.name[row]);
            let is_first = launched.calls[space_of(process)].get(correlation) == Some(row as u32);
            if !matches!(kind, Function::Kernel | Function::Graph) || !is_first || calls.result.get(row) != 0
            {
                continue;
            }
            match kind {
                Function::Graph => launched.graphs.push(row as u32),
                _ if captures.holds(process, calls.tid.get(row), calls.start[row]) => {
                    launched.captured.push(row as u32);
                }
                _ => launched.kernels.push(row as u32),
            }
        }
        launched.count_ops();
        launched
    }

    #[inline]
    pub(crate) fn call(&self, track: rtl_schema::TrackId, correlation: i64) -> Option<u32> {
        self.calls.get(self.space_of_track[track.index()])?.get(correlation)
    }

    /// Dispatches and copies: track, start and correlation id.
    fn all_ops(&self) -> impl Iterator<Item = (rtl_schema::TrackId, i64, i64)> + use<'a> {
        let dispatches = &self.tables.dispatches;
        let rows = (0..dispatches.len())
            .map(|row| (dispatches.track[row], dispatches.start[row], dispatches.correlation.get(row)));
        rows.chain(self.tables.copies.iter().map(|copy| (copy.track, copy.start, copy.correlation)))
    }

    fn count_ops(&mut self) {
        let tracks = self.tables.tracks.rows().iter();
        let queue = |track: &Track| (track.process, track.agent, track.queue);
        let (queues, queue_of_track) = distinct(tracks.map(queue));
        let mut first = vec![i64::MAX; queues.len()];
        let mut untied: Vec<(usize, i64)> = Vec::new();
        for (track, start, correlation) in self.all_ops() {
            let queue = queue_of_track[track.index()];
            match self.call(track, correlation) {
                Some(call) => {
                    self.ops[call as usize] += 1;
                    self.tied += 1;
                    first[queue] = first[queue].min(start);
                }
                None if correlation != 0 => untied.push((queue, start)),
                None => {}
            }
        }
        let before =
            untied.iter().filter(|&&(queue, start)| first[queue] != i64::MAX && start < first[queue]);
        self.earlier = before.count() as u64;
    }
}

/// The start of a call in ns, and whether it begins a capture rather than ends one.
type Moment = (i64, bool);

#[derive(Debug, Default)]
struct Captures(FxHashMap<(ProcessId, Option<i64>), Vec<Moment>>);

impl Captures {
    fn new(tables: &Tables, function: impl Fn(NameId) -> Function) -> Self {
        let calls = &tables.api_calls;
        let mut captures = Self::default();
        for row in 0..calls.len() {
            let begins = match function(calls.name[row]) {
                Function::BeginCapture => true,
                Function::EndCapture => false,
                _ => continue,
            };
            let thread = (calls.process.get(row), calls.tid.get(row));
            captures.0.entry(thread).or_default().push((calls.start[row], begins));
        }
        captures.0.values_mut().for_each(|moments| moments.sort_unstable());
        captures
    }

    /// Returns whether a thread captures a stream at a moment.
    fn holds(&self, process: ProcessId, tid: Option<i64>, moment: i64) -> bool {
        let Some(moments) = self.0.get(&(process, tid)) else { return false };
        let last = moments.partition_point(|&(start, _)| start <= moment);
        last.checked_sub(1).is_some_and(|last| moments[last].1)
    }
}
