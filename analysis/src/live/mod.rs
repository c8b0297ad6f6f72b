//! A recording that grows: figures of all rows so far, and of the last moments, at the cost of the new rows.
//!
//! Totals equal those of the other modules over the whole trace ([`crate::gpu_time::sweep`], [`crate::gpu_time::kernels`], [`crate::gpu_time::copies`],
//! [`crate::gpu_time::ranges`], [`crate::gpu_time::api`]). Memory grows with names and with gaps of GPUs, of which the last million of each
//! GPU is kept.

mod depth;
mod named;
mod state;
mod union;
mod window;

use rtl_schema::table::{AgentKind, Direction};
use rtl_schema::{AgentId, InFlight, Tables, TraceInfo};

use self::depth::MeanDepth;
use self::named::ByName;
pub use self::state::{CopyState, GpuState, InFlightState, LossState, NamedState, State};
use self::union::Union;
use self::window::Window;
use crate::base::first_use::FirstUseMap;
use crate::names::labels;

/// The rows so far.
#[derive(Debug, Clone)]
pub struct Live {
    window: i64,
    gpus: FirstUseMap<AgentId, LiveGpu>,
    kernels: ByName,
    copies: FirstUseMap<Direction, CopyState>,
    recent_copies: Window<(Direction, u64)>,
    ranges: ByName,
    calls: ByName,
    unfinished: u64,
    /// The last end of anything in ns.
    end: Option<i64>,
}

#[derive(Debug, Clone)]
struct LiveGpu {
    busy: Union,
    dispatches: u64,
    copies: u64,
    span: Option<(i64, i64)>,
    recent: Window<()>,
    depth: MeanDepth,
}

impl LiveGpu {
    fn new(window: i64) -> Self {
        Self {
            busy: Union::default(),
            dispatches: 0,
            copies: 0,
            span: None,
            recent: Window::new(window),
            depth: MeanDepth::default(),
        }
    }

    fn add(&mut self, start: i64, end: i64, enqueued: Option<i64>) {
        self.busy.add(start, end);
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
        self.recent.add(start, end, ());
        self.depth.add(start, end, enqueued);
    }
}

impl Live {
    /// The last moments are this many ns.
    #[must_use]
    pub fn new(window: i64) -> Self {
        let by_name = || ByName::new(window);
        Self {
            window,
            gpus: FirstUseMap::default(),
            kernels: by_name(),
            copies: FirstUseMap::default(),
            recent_copies: Window::new(window),
            ranges: by_name(),
            calls: by_name(),
            unfinished: 0,
            end: None,
        }
    }

    /// Adds the rows of a chunk, as [`rtl_schema::LiveTrace::refresh`] gives it out.
    pub fn add_chunk(&mut self, chunk: &Tables) {
        let dispatches = &chunk.dispatches;
        for row in 0..dispatches.len() {
            let Some(duration) = dispatches.duration.valid(row) else {
                self.unfinished += 1;
                continue;
            };
            let start = dispatches.start[row];
            self.kernels.add(dispatches.name[row], start, Some(duration));
            let agent = chunk.tracks.get(dispatches.track[row]).agent;
            let end = start.saturating_add(duration);
            self.ended(end);
            if let Some(gpu) = self.gpu(chunk, agent) {
                gpu.dispatches += 1;
                gpu.add(start, end, dispatches.details.enqueued.get(row));
            }
        }
        for copy in &chunk.copies {
            let state = self.copies.entry(copy.direction).or_default();
            state.count += 1;
            state.bytes = state.bytes.saturating_add(copy.bytes.unwrap_or(0));
            let Some(duration) = copy.duration.filter(|&duration| duration >= 0) else { continue };
            state.total_ns = state.total_ns.saturating_add(duration);
            let end = copy.start.saturating_add(duration);
            self.recent_copies.add(copy.start, end, (copy.direction, copy.bytes.unwrap_or(0)));
            self.ended(end);
            if let Some(gpu) = self.gpu(chunk, chunk.tracks.get(copy.track).agent) {
                gpu.copies += 1;
                gpu.add(copy.start, end, copy.details.enqueued);
            }
        }
        for range in &chunk.ranges {
            self.ranges.add(range.name, range.start, range.duration);
            self.ended(range.start.saturating_add(range.duration.unwrap_or(0).max(0)));
        }
        let calls = &chunk.api_calls;
        for row in 0..calls.len() {
            let (start, duration) = (calls.start[row], calls.duration.get(row));
            self.calls.add(calls.name[row], start, duration);
            self.ended(start.saturating_add(duration.unwrap_or(0).max(0)));
        }
    }

    /// The GPU behind an agent: CPUs have no ops.
    fn gpu(&mut self, tables: &Tables, agent: AgentId) -> Option<&mut LiveGpu> {
        let is_cpu = tables.agents.get(agent.index()).is_some_and(|agent| agent.kind == AgentKind::Cpu);
        let window = self.window;
        (!is_cpu).then(|| self.gpus.entry(agent).or_insert_with(|| LiveGpu::new(window)))
    }

    fn ended(&mut self, end: i64) {
        self.end = Some(self.end.map_or(end, |last| last.max(end)));
    }

    /// The figures so far. The last moments end at `now`, in ns, or at the last end of a row, whichever is later.
    #[must_use]
    pub fn state(&self, tables: &Tables, in_flight: &[InFlight], now: Option<i64>) -> State {
        let until_ns = self.end.max(now);
        let until = until_ns.unwrap_or_default();
        let strings = &tables.strings;
        let (losses, skipped) = losses(&tables.info);
        let calls = self.calls.state(strings, until, |name| name);
        State {
            window_ns: self.window,
            until_ns,
            gpus: self.gpus(tables, in_flight, until),
            kernels: self.kernels.state(strings, until, rtl_schema::identity),
            copies: self.copies(until),
            ranges: self.ranges.state(strings, until, |name| name),
            recent_calls: calls.iter().map(|call| call.recent_count).sum(),
            calls,
            unfinished: self.unfinished,
            pending: pending(&tables.info),
            losses,
            skipped,
            late_ops: self.gpus.values().map(|gpu| gpu.busy.late()).sum(),
        }
    }

    fn gpus(&self, tables: &Tables, in_flight: &[InFlight], until: i64) -> Vec<GpuState> {
        let from = until.saturating_sub(self.window);
        let share = |part: i64, whole: i64| if whole > 0 { part as f64 / whole as f64 } else { 0.0 };
        let mut gpus = Vec::new();
        for at in 0..tables.agents.len() {
            let (id, agent) = (AgentId(at as u32), &tables.agents[at]);
            let open: Vec<&InFlight> = in_flight.iter().filter(|open| open.gpu == agent.number).collect();
            let found = self.gpus.get(&id);
            if found.is_none() && (open.is_empty() || agent.kind != AgentKind::Gpu) {
                continue;
            }
            let none = LiveGpu::new(self.window);
            let gpu = found.unwrap_or(&none);
            let mut recent = Union::default();
            gpu.busy.between(from, until).for_each(|(start, end)| recent.add(start, end));
            open.iter().for_each(|open| recent.add(open.since.max(from), until));
            let wall_ns = gpu.span.map_or(0, |(first, last)| last.saturating_sub(first));
            let in_flight = open.iter().map(|open| InFlightState {
                name: rtl_schema::identity(tables.strings.get(open.name)).to_owned(),
                queue: open.queue,
                since_ns: open.since,
                waited_ns: until.saturating_sub(open.since),
            });
            gpus.push(GpuState {
                gpu: agent.number,
                label: labels::agent(tables, id),
                product: agent.product.clone(),
                ops: gpu.dispatches + gpu.copies,
                dispatches: gpu.dispatches,
                copies: gpu.copies,
                wall_ns,
                busy_ns: gpu.busy.length_ns(),
                busy_share: share(gpu.busy.length_ns(), wall_ns),
                recent_busy_ns: recent.length_ns(),
                recent_busy_share: share(recent.length_ns(), self.window),
                recent_ops: gpu.recent.ended(until).count() as u64,
                mean_depth: gpu.depth.mean(),
                in_flight: in_flight.collect(),
            });
        }
        gpus.sort_by(|one, other| (one.gpu, &one.label).cmp(&(other.gpu, &other.label)));
        gpus
    }

    fn copies(&self, until: i64) -> Vec<CopyState> {
        let mut copies = self.copies.clone();
        for (time, (direction, _)) in self.recent_copies.rows(until) {
            copies.entry(direction).or_default().recent_ns += time;
        }
        for (direction, bytes) in self.recent_copies.ended(until) {
            let state = copies.entry(direction).or_default();
            state.recent_count += 1;
            state.recent_bytes = state.recent_bytes.saturating_add(bytes);
        }
        let labelled = copies
            .into_iter()
            .map(|(direction, state)| CopyState { direction: direction.label().to_owned(), ..state });
        let mut copies: Vec<CopyState> = labelled.collect();
        copies.sort_by(|one, other| {
            let key = |state: &CopyState| (state.recent_ns, state.total_ns);
            key(other).cmp(&key(one)).then_with(|| one.direction.cmp(&other.direction))
        });
        copies
    }
}

/// Lost and skipped records, without zeros.
fn losses(info: &TraceInfo) -> (Vec<LossState>, Vec<LossState>) {
    let counts = info.losses.iter().filter(|(_, count)| *count > 0);
    let losses = counts.map(|(reason, count)| LossState { reason: reason.clone(), count: *count });
    losses.partition(|loss| !loss.reason.contains("skipped:"))
}

/// Dispatches that the recorder has seen and not yet accounted for; `None` if it does not state them.
fn pending(info: &TraceInfo) -> Option<u64> {
    let count = |tag: &str| -> Option<u64> {
        info.metadata.iter().find(|(name, _)| name == tag)?.1.trim().parse().ok()
    };
    let is_of_dispatches = |tag: &str| tag.starts_with("lost:") || tag.starts_with("skipped:");
    let missing: u64 =
        info.losses.iter().filter(|(tag, _)| is_of_dispatches(tag)).map(|(_, count)| count).sum();
    Some(count("seen")?.saturating_sub(count("recorded")?).saturating_sub(missing))
}
