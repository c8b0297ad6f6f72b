//! The rows that a filter keeps.

use rtl_schema::table::{AgentKind, Track};
use rtl_schema::{AgentId, ProcessId, Tables, TrackId};

use super::filter::Filter;
use super::kernel_pattern::MatchingKernels;
use super::steady::SteadyParts;
use crate::base::ops::Op;
use crate::gpu_time::ranges::{Attribution, Cursor};

/// The ranges of a name, with what ties rows to them.
#[derive(Debug)]
pub(super) struct Within {
    attribution: Attribution,
    /// Indexed by position: whether such a range encloses it.
    within: Vec<bool>,
}

impl Within {
    /// `None` where the trace has no range of this name.
    pub(super) fn new(tables: &Tables, name: &str) -> Option<Self> {
        let attribution = Attribution::of_all_rows(tables);
        let within = tables.strings.lookup(name).and_then(|id| attribution.within(id))?;
        Some(Self { attribution, within })
    }
}

/// One flag for each row of each table that a region cuts.
#[derive(Debug)]
pub(super) struct RowMask {
    dispatches: Vec<bool>,
    copies: Vec<bool>,
    barriers: Vec<bool>,
    calls: Vec<bool>,
    ranges: Vec<bool>,
    operators: Vec<bool>,
    python_frames: Vec<bool>,
    spans: Vec<bool>,
    memory_events: Vec<bool>,
}

impl RowMask {
    pub(super) fn everything(tables: &Tables) -> Self {
        Self {
            dispatches: vec![true; tables.dispatches.len()],
            copies: vec![true; tables.copies.len()],
            barriers: vec![true; tables.barriers.len()],
            calls: vec![true; tables.api_calls.len()],
            ranges: vec![true; tables.ranges.len()],
            operators: vec![true; tables.operators.len()],
            python_frames: vec![true; tables.python_frames.len()],
            spans: vec![true; tables.spans.len()],
            memory_events: vec![true; tables.memory_events.len()],
        }
    }

    /// Keeps the ops whose track and start in ns pass.
    fn ops(&mut self, tables: &Tables, passes: impl Fn(TrackId, i64) -> bool) {
        let dispatches = &tables.dispatches;
        for (row, kept) in self.dispatches.iter_mut().enumerate() {
            *kept &= passes(dispatches.track[row], dispatches.start[row]);
        }
        for (kept, copy) in self.copies.iter_mut().zip(&tables.copies) {
            *kept &= passes(copy.track, copy.start);
        }
        for (kept, barrier) in self.barriers.iter_mut().zip(&tables.barriers) {
            *kept &= passes(barrier.track, barrier.start);
        }
    }

    /// Keeps the GPUs, queues and ranks that the filter names.
    pub(super) fn places(&mut self, tables: &Tables, filter: &Filter) {
        let any = |list: bool, found: bool| list || found;
        let rank_stays = |rank: Option<u32>| {
            any(filter.ranks.is_empty(), rank.is_some_and(|rank| filter.ranks.contains(&rank)))
        };
        let ranks: Vec<bool> = tables.processes.iter().map(|process| rank_stays(process.rank)).collect();
        let gpu_stays = |agent: AgentId| {
            let gpu = tables.agents.get(agent.index()).filter(|agent| agent.kind != AgentKind::Cpu);
            any(filter.gpus.is_empty(), gpu.is_some_and(|gpu| filter.gpus.contains(&gpu.number)))
        };
        for (kept, span) in self.spans.iter_mut().zip(&tables.spans) {
            *kept &= span.agent.is_none_or(gpu_stays);
        }
        for (kept, event) in self.memory_events.iter_mut().zip(&tables.memory_events) {
            *kept &= event.agent.is_none_or(gpu_stays);
        }
        let track_stays = |track: &Track| {
            gpu_stays(track.agent)
                && any(filter.queues.is_empty(), filter.queues.contains(&track.queue))
                && ranks.get(track.process.index()).copied().unwrap_or(true)
        };
        let tracks: Vec<bool> = tables.tracks.rows().iter().map(track_stays).collect();
        if tracks.contains(&false) {
            self.ops(tables, |track, _| tracks[track.index()]);
        }
        if ranks.contains(&false) {
            let stays = |process: ProcessId| ranks.get(process.index()).copied().unwrap_or(true);
            for (row, kept) in self.calls.iter_mut().enumerate() {
                *kept &= stays(tables.api_calls.process.get(row));
            }
            for (kept, range) in self.ranges.iter_mut().zip(&tables.ranges) {
                *kept &= stays(range.process);
            }
            for (row, kept) in self.operators.iter_mut().enumerate() {
                *kept &= stays(tables.operators.process.get(row));
            }
            for (row, kept) in self.python_frames.iter_mut().enumerate() {
                *kept &= stays(tables.python_frames.process.get(row));
            }
            for (kept, span) in self.spans.iter_mut().zip(&tables.spans) {
                *kept &= stays(span.process);
            }
            for (kept, event) in self.memory_events.iter_mut().zip(&tables.memory_events) {
                *kept &= stays(event.process);
            }
        }
    }

    /// Keeps the rows that start in `[from, to)`.
    pub(super) fn window(&mut self, tables: &Tables, from: i64, to: i64) {
        self.ops(tables, |_, start| from <= start && start < to);
        self.others(tables, from, to);
    }

    /// Keeps the rows, other than ops, that start in `[from, to)`.
    pub(super) fn others(&mut self, tables: &Tables, from: i64, to: i64) {
        let inside = |start: i64| from <= start && start < to;
        for (kept, &start) in self.calls.iter_mut().zip(&tables.api_calls.start) {
            *kept &= inside(start);
        }
        for (kept, range) in self.ranges.iter_mut().zip(&tables.ranges) {
            *kept &= inside(range.start);
        }
        for (kept, &start) in self.operators.iter_mut().zip(&tables.operators.start) {
            *kept &= inside(start);
        }
        for (kept, &start) in self.python_frames.iter_mut().zip(&tables.python_frames.start) {
            *kept &= inside(start);
        }
        for (kept, span) in self.spans.iter_mut().zip(&tables.spans) {
            *kept &= inside(span.start);
        }
        for (kept, event) in self.memory_events.iter_mut().zip(&tables.memory_events) {
            *kept &= inside(event.time);
        }
    }

    /// Keeps the rows that ranges enclose: ops as in the report on ranges, calls, operators, Python frames and memory events by
    /// their thread, barriers by their start, ranges with all that lies inside. The trace may have ranges before those of `tables`.
    pub(super) fn range(&mut self, tables: &Tables, within: &Within, ranges_before: usize) {
        let Within { attribution, within } = within;
        let holds = |position: u32| within[position as usize];
        let mut cursor = Cursor::default();
        for (row, kept) in self.dispatches.iter_mut().enumerate() {
            *kept = *kept && holds(attribution.op(tables, Op { copy: false, row: row as u32 }, &mut cursor));
        }
        for (row, kept) in self.copies.iter_mut().enumerate() {
            *kept = *kept && holds(attribution.op(tables, Op { copy: true, row: row as u32 }, &mut cursor));
        }
        for (kept, barrier) in self.barriers.iter_mut().zip(&tables.barriers) {
            let process = tables.tracks.get(barrier.track).process;
            *kept = *kept && holds(attribution.moment(process, barrier.start, &mut cursor));
        }
        for (row, kept) in self.calls.iter_mut().enumerate() {
            *kept = *kept && holds(attribution.call(tables, row));
        }
        for (row, kept) in self.ranges.iter_mut().enumerate() {
            *kept = *kept && holds(attribution.range(ranges_before + row));
        }
        let operators = &tables.operators;
        for (row, kept) in self.operators.iter_mut().enumerate() {
            let (process, tid) = (operators.process.get(row), operators.tid.get(row));
            *kept = *kept && holds(attribution.thread_moment(process, tid, operators.start[row]));
        }
        let frames = &tables.python_frames;
        for (row, kept) in self.python_frames.iter_mut().enumerate() {
            let (process, tid) = (frames.process.get(row), frames.tid.get(row));
            *kept = *kept && holds(attribution.thread_moment(process, tid, frames.start[row]));
        }
        for (kept, event) in self.memory_events.iter_mut().zip(&tables.memory_events) {
            *kept = *kept && holds(attribution.thread_moment(event.process, event.tid, event.time));
        }
    }

    /// Keeps the steady part of each GPU.
    pub(super) fn steady(&mut self, tables: &Tables, parts: &SteadyParts) {
        self.ops(tables, |track, start| {
            let (from, to) = parts.of_agent(tables.tracks.get(track).agent);
            from <= start && start < to
        });
        self.others(tables, parts.hull.0, parts.hull.1);
    }

    /// Keeps of all ops the dispatches of these kernels.
    pub(super) fn kernels(&mut self, tables: &Tables, kernels: &mut MatchingKernels<'_>) {
        for (kept, &name) in self.dispatches.iter_mut().zip(&tables.dispatches.name) {
            *kept &= kernels.matches(name, tables);
        }
        self.copies.fill(false);
        self.barriers.fill(false);
    }

    pub(super) fn dispatches(&self) -> &[bool] {
        &self.dispatches
    }

    pub(super) fn any_op(&self) -> bool {
        [&self.dispatches, &self.copies, &self.barriers].into_iter().any(|kept| kept.contains(&true))
    }

    pub(super) fn any_other(&self) -> bool {
        self.calls.contains(&true) || self.ranges.contains(&true)
    }

    /// Drops the rows that are not kept.
    pub(super) fn apply(self, tables: &mut Tables) {
        let Self {
            dispatches,
            copies,
            barriers,
            calls,
            ranges,
            operators,
            python_frames,
            spans,
            memory_events,
        } = self;
        if dispatches.contains(&false) {
            tables.dispatches.retain(&dispatches);
        }
        if calls.contains(&false) {
            tables.api_calls.retain(&calls);
        }
        if operators.contains(&false) {
            tables.operators.retain(&operators);
        }
        if python_frames.contains(&false) {
            tables.python_frames.retain(&python_frames);
        }
        retain(&mut tables.copies, &copies);
        retain(&mut tables.barriers, &barriers);
        retain(&mut tables.ranges, &ranges);
        retain(&mut tables.spans, &spans);
        retain(&mut tables.memory_events, &memory_events);
    }
}

/// Returns whether any row starts in `[from, to)`.
pub(super) fn any_row_starts(tables: &Tables, from: i64, to: i64) -> bool {
    let inside = |start: i64| from <= start && start < to;
    tables.dispatches.start.iter().any(|&start| inside(start))
        || tables.copies.iter().any(|copy| inside(copy.start))
        || tables.barriers.iter().any(|barrier| inside(barrier.start))
        || tables.api_calls.start.iter().any(|&start| inside(start))
        || tables.ranges.iter().any(|range| inside(range.start))
}

fn retain<T>(rows: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    rows.retain(|_| flags.next().copied().unwrap_or(true));
}
