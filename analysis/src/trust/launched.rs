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
    /// Copies memory.
    Copy,
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
        } else if ["hipMemcpy", "cudaMemcpy", "cuMemcpy"].iter().any(|copy| name.starts_with(copy)) {
            Self::Copy
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
    /// The rows of calls that copied memory and were not captured.
    pub(super) copies: Vec<u32>,
    /// Indexed by call: the number of its dispatches and copies.
    pub(super) ops: Vec<u32>,
    pub(super) tied: u64,
    /// How many start before the first op of their queue that is tied to a call, and name a call that is not there and was made before
    /// all that are.
    pub(super) earlier: u64,
    /// The start in ns of the first op of all, and its call.
    pub(super) first_op: Option<(i64, Option<u32>)>,
    /// Ops that start more than [`CLOCK_ERROR`] before their call.
    pub(super) too_early: TooEarly,
    /// Indexed by space: the start in ns from which launches were in flight when the recording ended.
    in_flight_from: Vec<i64>,
    calls: Vec<Lookup>,
    space_of_process: Vec<usize>,
    space_of_track: Vec<usize>,
}

/// Clocks of a GPU and its host that are compared with care differ by less, in ns.
const CLOCK_ERROR: i64 = 1_000;

/// The ops that start before they are launched.
#[derive(Debug, Clone, Default)]
pub(super) struct TooEarly {
    pub(super) ops: u64,
    /// The most ns of any.
    pub(super) most_ns: i64,
    /// The rows of their calls.
    pub(super) calls: Vec<u32>,
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
            copies: Vec::new(),
            ops: vec![0; calls.len()],
            tied: 0,
            earlier: 0,
            first_op: None,
            too_early: TooEarly::default(),
            in_flight_from: Vec::new(),
            calls: lookups,
            space_of_process: space_of_process.clone(),
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
            let is_of_interest = kind.launches() || kind == Function::Copy;
            if !is_of_interest || !is_first || calls.result.get(row) != 0 {
                continue;
            }
            let is_captured = || captures.holds(process, calls.tid.get(row), calls.start[row]);
            match kind {
                Function::Graph => launched.graphs.push(row as u32),
                Function::Kernel if is_captured() => launched.captured.push(row as u32),
                Function::Kernel => launched.kernels.push(row as u32),
                _ if is_captured() => {}
                _ => launched.copies.push(row as u32),
            }
        }
        launched.count_ops();
        launched.find_in_flight(spaces.len().max(1));
        launched
    }

    #[inline]
    pub(crate) fn call(&self, track: rtl_schema::TrackId, correlation: i64) -> Option<u32> {
        self.calls.get(self.space_of_track[track.index()])?.get(correlation)
    }

    /// The lowest id of the calls that an op of this track may name.
    fn first_id(&self, track: rtl_schema::TrackId) -> i64 {
        self.calls.get(self.space_of_track[track.index()]).and_then(Lookup::first).unwrap_or(i64::MIN)
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
            let call = self.call(track, correlation);
            if self.first_op.is_none_or(|(first, _)| start < first) {
                self.first_op = Some((start, call));
            }
            match call {
                Some(call) => {
                    let early = self.tables.api_calls.start[call as usize].saturating_sub(start);
                    if early > CLOCK_ERROR {
                        let found = &mut self.too_early;
                        found.ops += 1;
                        found.most_ns = found.most_ns.max(early);
                        found.calls.push(call);
                    }
                    self.ops[call as usize] += 1;
                    self.tied += 1;
                    first[queue] = first[queue].min(start);
                }
                // Ids rise with time: the calls of others were cut from the file.
                None if correlation != 0 && correlation < self.first_id(track) => untied.push((queue, start)),
                None => {}
            }
        }
        let before =
            untied.iter().filter(|&&(queue, start)| first[queue] != i64::MAX && start < first[queue]);
        self.earlier = before.count() as u64;
    }

    /// All launches that were not captured, by row.
    fn launches(&self) -> impl Iterator<Item = usize> {
        self.kernels.iter().chain(&self.graphs).map(|&row| row as usize)
    }

    fn space(&self, call: usize) -> usize {
        let process = self.tables.api_calls.process.get(call);
        self.space_of_process.get(process.index()).copied().unwrap_or(0)
    }

    /// Finds the launches at the end that were still queued when the recording ended. The host was ahead of a GPU that had work
    /// all the time: the first launch without ops came while others ran, and the recording ended so soon after the last
    /// recorded op that the next one may have been running.
    fn find_in_flight(&mut self, spaces: usize) {
        if self.tied == 0 || self.launches().all(|row| self.ops[row] > 0) {
            return;
        }
        let starts = &self.tables.api_calls.start;
        let mut last_with_ops = vec![i64::MIN; spaces];
        for row in self.launches().filter(|&row| self.ops[row] > 0) {
            let last = &mut last_with_ops[self.space(row)];
            *last = (*last).max(starts[row]);
        }
        // The first and the last launch without ops behind all with ops.
        let mut behind = vec![(i64::MAX, i64::MIN); spaces];
        for row in self.launches().filter(|&row| self.ops[row] == 0) {
            let space = self.space(row);
            if starts[row] > last_with_ops[space] {
                let (first, last) = &mut behind[space];
                (*first, *last) = ((*first).min(starts[row]), (*last).max(starts[row]));
            }
        }
        let mut last_end = vec![i64::MIN; spaces];
        let mut longest = vec![0; spaces];
        for (track, start, duration) in self.all_durations() {
            let space = self.space_of_track[track.index()];
            last_end[space] = last_end[space].max(start.saturating_add(duration));
            longest[space] = longest[space].max(duration);
        }
        let from = (0..spaces).map(|space| {
            let (first, last) = behind[space];
            let waits = first <= last_end[space];
            let ends_soon =
                last.saturating_sub(last_end[space]) <= longest[space].saturating_mul(2).max(SOON);
            if waits && ends_soon { first } else { i64::MAX }
        });
        self.in_flight_from = from.collect();
    }

    /// Dispatches and copies with a valid duration: track, start and duration in ns.
    fn all_durations(&self) -> impl Iterator<Item = (rtl_schema::TrackId, i64, i64)> + use<'a> {
        let dispatches = &self.tables.dispatches;
        let rows = (0..dispatches.len()).filter_map(|row| {
            Some((dispatches.track[row], dispatches.start[row], dispatches.duration.valid(row)?))
        });
        let copies = self.tables.copies.iter();
        rows.chain(
            copies.filter_map(|copy| Some((copy.track, copy.start, copy.duration.filter(|&ns| ns >= 0)?))),
        )
    }

    /// Returns whether a launch without ops was queued when the recording ended.
    pub(super) fn is_in_flight(&self, call: u32) -> bool {
        let call = call as usize;
        self.ops[call] == 0 && self.tables.api_calls.start[call] >= self.in_flight_from(call)
    }

    /// From when on launches of a call's process were queued when the recording ended, in ns.
    fn in_flight_from(&self, call: usize) -> i64 {
        self.in_flight_from.get(self.space(call)).copied().unwrap_or(i64::MAX)
    }

    /// The launches that were queued when the recording ended.
    pub(super) fn in_flight(&self) -> Vec<u32> {
        self.launches().map(|row| row as u32).filter(|&row| self.is_in_flight(row)).collect()
    }

    /// The launches among these that the end of the recording cut: queued ones, and the last before them of each process, which may
    /// have been running.
    pub(super) fn cut_by_the_end(&self, launches: &[u32]) -> Vec<u32> {
        if self.in_flight_from.iter().all(|&from| from == i64::MAX) {
            return Vec::new();
        }
        let starts = &self.tables.api_calls.start;
        let mut last = vec![None; self.in_flight_from.len()];
        for &row in launches.iter().filter(|&&row| self.ops[row as usize] > 0) {
            let last = &mut last[self.space(row as usize)];
            if last.is_none_or(|last: u32| starts[last as usize] < starts[row as usize]) {
                *last = Some(row);
            }
        }
        let running = last.into_iter().flatten().filter(|&row| self.in_flight_from(row as usize) < i64::MAX);
        running.chain(launches.iter().copied().filter(|&row| self.is_in_flight(row))).collect()
    }
}

/// The recording may end this much later than its last op in ns, however short all of them are.
const SOON: i64 = 1_000_000;

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
