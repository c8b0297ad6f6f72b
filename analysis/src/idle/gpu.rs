//! The gaps of one GPU, in order.

use rtl_schema::{NameId, Tables};

use super::blocked::{AHEAD, AHEAD_AGAIN, BlockingCalls};
use super::cause::Cause;
use super::gap_split::{GapSplit, STALL, UNUSUAL};
use super::losses::{LossKind, Losses, LostPart, Site};
use super::paths::Paths;
use super::pieces::{Cursor, Piece};
use super::tally::{CAUSES, Gap, Names, Parts, Tally};
use super::threads::Threads;
use super::types::{GpuIdle, IdlePiece};
use crate::base::first_use::FirstUseMap;
use crate::base::ops::{AgentOps, Op, Simultaneous};
use crate::base::uncovered::Uncovered;
use crate::gpu_time::operators::nesting::ThreadKey;
use crate::launches::{EnqueueTimes, queued_since};
use crate::names::labels;

const NOWHERE: (NameId, NameId) = (NameId::NONE, NameId::NONE);

/// A GPU takes less than this in ns from one op to the next that is enqueued: to write back caches, to read the packet, to start it.
const TURNAROUND: u64 = 10_000;

/// An op that starts within this time in ns after it was enqueued was on its way: the host did not enqueue it earlier.
const ON_ITS_WAY: u64 = 10_000;

/// The ops of one launch follow each other sooner, in ns, and so does the first op of a queue its launch where the GPU has no other
/// work: no pair in 60 public traces took so long but where work is missing.
const HOLE: u64 = 500_000;

/// The tie of an op to the host.
#[derive(Debug, Clone, Copy)]
struct Launch {
    /// From when on it was enqueued, in ns: not after its start.
    queued: i64,
    call: Option<usize>,
}

#[derive(Debug)]
struct Followed {
    cursor: Cursor,
    calls: BlockingCalls,
}

pub(super) struct GpuSweep<'a> {
    tables: &'a Tables,
    ops: &'a AgentOps,
    threads: &'a Threads<'a>,
    times: &'a EnqueueTimes<'a>,
    base: i64,
    /// The last end so far, in ns after `base`, and the op that ended then.
    end: u64,
    last: Option<Op>,
    /// By position in `threads`: those that launched ops of this GPU.
    followed: FirstUseMap<usize, Followed>,
    /// Copies that the host waited for.
    copies: Uncovered,
    /// The thread of the last call that was looked at.
    last_thread: Option<(ThreadKey, Option<usize>)>,
    tally: Tally,
    losses: Losses,
    /// The work of the host in the step with the first op until it launched that.
    before: Losses,
    paths: Paths,
    /// Every piece, where they are asked for.
    pieces: Option<Vec<IdlePiece>>,
}

impl<'a> GpuSweep<'a> {
    pub(super) fn new(
        tables: &'a Tables,
        ops: &'a AgentOps,
        threads: &'a Threads<'a>,
        times: &'a EnqueueTimes<'a>,
    ) -> Self {
        let base = ops.base(tables);
        let blocking = ops.copies.iter().filter(|&&row| {
            let call = times.call(Op { copy: true, row });
            call.is_some_and(|call| threads.call(call as u32).cause == Cause::BlockingCopy)
        });
        let interval = |&row: &u32| {
            let copy = &tables.copies[row as usize];
            (copy.start, copy.start.saturating_add(copy.duration.unwrap_or(0)))
        };
        Self {
            copies: Uncovered::of(blocking.map(interval).collect()),
            tables,
            ops,
            threads,
            times,
            base,
            end: 0,
            last: None,
            followed: FirstUseMap::default(),
            last_thread: None,
            tally: Tally::default(),
            losses: Losses::default(),
            before: Losses::default(),
            paths: Paths::default(),
            pieces: None,
        }
    }

    pub(super) fn keeping_pieces(self) -> Self {
        Self { pieces: Some(Vec::new()), ..self }
    }

    pub(super) fn pieces(self) -> Vec<IdlePiece> {
        self.pieces.unwrap_or_default()
    }

    #[inline]
    pub(super) fn add(&mut self, same: Simultaneous<'a>) {
        let start = self.base.saturating_add_unsigned(same.start);
        let is_gap = same.start > self.end;
        if self.last.is_none() {
            self.before_first(same, start);
        }
        if let (&[row], []) = (same.dispatches, same.copies) {
            let op = Op { copy: false, row };
            let launch = self.launch(op, start);
            if is_gap {
                self.gap(same.start, op, launch);
            }
            self.look_ahead(launch, start);
            self.run(op, same.start, start);
        } else {
            if is_gap {
                self.gap_before(same, start);
            }
            same.ops().for_each(|op| self.look_ahead(self.launch(op, start), start));
            same.ops().for_each(|op| self.run(op, same.start, start));
        }
    }

    /// The op runs from `moment` on, in ns after `base`.
    #[inline]
    fn run(&mut self, op: Op, moment: u64, start: i64) {
        let length = op.length(self.tables);
        let end = moment.saturating_add(length);
        if end > self.end || self.last.is_none() {
            (self.end, self.last) = (end.max(self.end), Some(op));
        }
        if !op.copy {
            self.copies.add(start, start.saturating_add_unsigned(length));
        }
    }

    /// The gap before several ops: the one that was enqueued first ends it.
    fn gap_before(&mut self, same: Simultaneous<'a>, start: i64) {
        if let Some((op, launch)) = self.first_enqueued(same, start) {
            self.gap(same.start, op, launch);
        }
    }

    fn first_enqueued(&self, same: Simultaneous<'a>, start: i64) -> Option<(Op, Option<Launch>)> {
        let (tables, calls) = (self.tables, &self.tables.api_calls);
        same.ops().map(|op| (op, self.launch(op, start))).min_by(|(one, first), (other, second)| {
            let key = |launch: &Option<Launch>| match launch {
                Some(Launch { queued, call }) => {
                    (false, *queued, call.is_none(), call.map(|row| (calls.start[row], calls.tid.get(row))))
                }
                None => (true, 0, true, None),
            };
            let op_key = |op: Op| (op.name(tables), op.correlation(tables));
            key(first).cmp(&key(second)).then_with(|| op_key(*one).cmp(&op_key(*other)))
        })
    }

    /// Splits the time from the start of the step with the first op until that was launched. It is no idle time of the GPU, which may have
    /// run work that was not recorded: it did where the first op had been launched long before it started, or the host waited for it.
    fn before_first(&mut self, same: Simultaneous<'a>, start: i64) {
        let calls = &self.tables.api_calls;
        let Some((after, Some(Launch { queued, call: Some(call) }))) = self.first_enqueued(same, start)
        else {
            return;
        };
        let (key, until) = ((calls.process.get(call), calls.tid.get(call)), calls.start[call]);
        let begin = self.threads.step_start(key.0, until).filter(|&begin| begin < until);
        let (Some(begin), Some(thread)) = (begin, self.threads.position(&key)) else { return };
        if start.wrapping_sub(queued) as u64 >= HOLE {
            return;
        }
        let ns = until.wrapping_sub(begin) as u64;
        let whole = LostPart {
            start: begin,
            ns,
            gap_start: begin,
            gap_ns: ns,
            calls: 0,
            before: None,
            after,
            thread: Some(key),
        };
        let history = self.threads.get(thread);
        let (parts, blocked) = (Parts::default(), Parts::default());
        let mut losses = Losses::default();
        let mut split = GapSplit {
            tally: &mut Tally::default(),
            losses: &mut losses,
            threads: self.threads,
            lost: Vec::new(),
            calls: &mut BlockingCalls::since(begin),
            code: Vec::new(),
            gap: &mut Gap { start: begin, length: ns, after, parts, blocked, own: [0; CAUSES], waiting: 0 },
            whole,
            stall: STALL.max(history.usual.saturating_mul(UNUSUAL)),
            // There is no earlier op: that says nothing.
            is_first: false,
            drained: None,
        };
        Cursor::default()
            .split(self.threads, history, &mut self.paths, [begin, until], |piece| split.add(piece));
        split.finish([until, until], &mut self.paths, |_, _, _| ());
        losses.finish();
        let waited = losses.by_kind().get(&LossKind::Blocking(Cause::Synchronise)).copied();
        if waited.unwrap_or(0) * 2 <= ns {
            self.before = losses;
        }
    }

    #[inline]
    fn launch(&self, op: Op, start: i64) -> Option<Launch> {
        let call = self.times.call(op);
        let returned = call.map(|row| self.times.returned(row));
        let queued = queued_since(start, op.enqueued(self.tables), returned)?;
        Some(Launch { queued, call })
    }

    /// The position in `followed` of the thread that made a call.
    #[inline]
    fn thread_of(&mut self, call: usize) -> Option<usize> {
        let calls = &self.tables.api_calls;
        let key = (calls.process.get(call), calls.tid.get(call));
        match self.last_thread {
            Some((last, position)) if last == key => position,
            _ => {
                let base = self.base;
                let new = || Followed { cursor: Cursor::default(), calls: BlockingCalls::since(base) };
                let position = self.threads.position(&key).map(|thread| {
                    let entry = self.followed.entry(thread);
                    let position = entry.index();
                    entry.or_insert_with(new);
                    position
                });
                self.last_thread = Some((key, position));
                position
            }
        }
    }

    /// Notes whether a thread is ahead of the GPU.
    #[inline]
    fn look_ahead(&mut self, launch: Option<Launch>, start: i64) {
        if let Some(Launch { queued, call: Some(call) }) = launch
            && start.wrapping_sub(queued) as u64 >= AHEAD_AGAIN
            && let Some(thread) = self.thread_of(call)
        {
            let moment = self.tables.api_calls.start[call];
            self.followed[thread].calls.ahead_at(moment);
        }
    }

    /// Adds the gap from the last end to `start`, in ns after `base`.
    #[inline]
    fn gap(&mut self, start: u64, after: Op, launch: Option<Launch>) {
        let length = start - self.end;
        let [from, to] = [self.end, start].map(|moment| self.base.saturating_add_unsigned(moment));
        let queued = launch.map_or(from, |launch| launch.queued.clamp(from, to));
        if queued == from {
            // An op that was enqueued long before waited for something else than its launch.
            let is_waiting = launch.is_some_and(|launch| is_long_wait(launch, to));
            let (cause, kind) = match launch {
                None => (Cause::Unknown, LossKind::Unknown),
                Some(launch) if length < TURNAROUND && self.was_there(launch, to) => {
                    (Cause::Queued, LossKind::Turnaround)
                }
                Some(_) if is_waiting => (Cause::Queued, LossKind::Waiting),
                Some(_) => (Cause::Queued, LossKind::Pace),
            };
            // The thread may be late by a call before.
            let mut thread = || launch.and_then(|launch| launch.call).and_then(|call| self.thread_of(call));
            if kind == LossKind::Pace && thread().is_some() {
                return self.split_gap([from, queued, to], length, after, launch);
            }
            self.keep_piece(cause, [from, to], NOWHERE);
            let part = self.part([from, to], [from, to], after);
            let (kind, site) = match launch {
                Some(launch) if kind == LossKind::Waiting => self.waiting(launch, after, length),
                _ => (kind, Site::NONE),
            };
            self.losses.add_whole(kind, site, part);
            let own = if is_waiting { 0 } else { length };
            return self.tally.add_whole(cause, [length, own], from, after);
        }
        self.split_gap([from, queued, to], length, after, launch);
    }

    /// Returns whether an op that started at `start`, in ns, could have started as soon as the one before it had ended.
    fn was_there(&self, launch: Launch, start: i64) -> bool {
        let call_before = || self.last.and_then(|op| self.times.call(op));
        let waited = start.wrapping_sub(launch.queued) as u64;
        waited >= ON_ITS_WAY || launch.call.is_some() && call_before() == launch.call
    }

    /// The loss of an op that stayed in its queue for `waited` ns of a gap; the site has the call that launched it.
    fn waiting(&self, launch: Launch, after: Op, waited: u64) -> (LossKind, Site) {
        let call = launch.call.map_or(NameId::NONE, |call| self.tables.api_calls.name[call]);
        let site = Site { call, ..Site::NONE };
        let call_before = || self.last.and_then(|op| self.times.call(op));
        match waited >= HOLE {
            true if launch.call.is_some() && call_before() == launch.call => (LossKind::Unrecorded, site),
            true if self.threads.is_first_of_queue(after) => (LossKind::Unrecorded, Site::NONE),
            _ => (LossKind::Waiting, site),
        }
    }

    /// A part of the gap `from`..`to`.
    fn part(&self, [start, end]: [i64; 2], [from, to]: [i64; 2], after: Op) -> LostPart {
        let length = |start: i64, end: i64| end.wrapping_sub(start) as u64;
        let (ns, gap_ns) = (length(start, end), length(from, to));
        LostPart { start, ns, gap_start: from, gap_ns, calls: 0, before: self.last, after, thread: None }
    }

    /// Adds a gap whose op was enqueued within it.
    fn split_gap(&mut self, [from, queued, to]: [i64; 3], length: u64, after: Op, launch: Option<Launch>) {
        let rest = if launch.is_some() { Cause::Queued } else { Cause::Unknown };
        let (parts, blocked) = (Parts::default(), Parts::default());
        let mut gap = Gap { start: from, length, after, parts, blocked, own: [0; CAUSES], waiting: 0 };
        let mut lost = Vec::new();
        if let Some(launch) = launch.filter(|launch| is_long_wait(*launch, to)) {
            gap.waiting = to.wrapping_sub(queued) as u64;
            let (kind, site) = self.waiting(launch, after, gap.waiting);
            lost.push((kind, site, self.part([queued, to], [from, to], after)));
        }
        let thread = launch.and_then(|launch| launch.call).and_then(|call| self.thread_of(call));
        let drained = match thread {
            Some(thread) => self.split(thread, [from, queued, to], &mut gap, lost),
            None => {
                let late = queued.wrapping_sub(from) as u64;
                gap.parts.add(Cause::Host, late, NOWHERE);
                gap.own[Cause::Host as usize] += late;
                gap.own[rest as usize] += length - late - gap.waiting;
                self.tally.add_place(Cause::Host, NOWHERE, late);
                self.keep_piece(Cause::Host, [from, queued], NOWHERE);
                let kind = if late >= STALL { LossKind::Stall } else { LossKind::Pace };
                lost.push((kind, Site::NONE, self.part([from, queued], [from, to], after)));
                if gap.waiting == 0 {
                    lost.push((LossKind::Pace, Site::NONE, self.part([queued, to], [from, to], after)));
                }
                self.losses.add_gap(&lost);
                None
            }
        };
        if to > queued {
            gap.parts.add(rest, to.wrapping_sub(queued) as u64, NOWHERE);
            self.keep_piece(rest, [queued, to], NOWHERE);
        }
        self.tally.add(&gap, drained);
    }

    /// Adds what a thread did from the start of a gap until it had enqueued the op at its end; returns the cause of the
    /// blocking call in which the gap began.
    fn split(
        &mut self,
        followed: usize,
        [from, queued, to]: [i64; 3],
        gap: &mut Gap,
        lost: Vec<(LossKind, Site, LostPart)>,
    ) -> Option<Cause> {
        let thread = *self.followed.get_index(followed)?.0;
        let whole = LostPart {
            thread: Some(self.threads.key(thread)),
            ..self.part([from, to], [from, to], gap.after)
        };
        let Self { tally, losses, paths, pieces, followed: all, threads, .. } = self;
        let Followed { cursor, calls } = &mut all[followed];
        let history = threads.get(thread);
        let stall = STALL.max(history.usual.saturating_mul(UNUSUAL));
        let is_first = threads.is_first(gap.after);
        let code = Vec::new();
        let mut split = GapSplit {
            tally,
            losses,
            threads,
            lost,
            calls,
            code,
            gap,
            whole,
            stall,
            is_first,
            drained: None,
        };
        cursor.split(threads, history, paths, [from, queued], |piece: Piece| {
            split.add(piece);
            let Piece { cause, start, end, within, call, .. } = piece;
            if let Some(pieces) = pieces.as_mut().filter(|_| end > start) {
                pieces.push(IdlePiece {
                    agent: self.ops.agent,
                    cause,
                    start_ns: start,
                    end_ns: end,
                    within,
                    call,
                });
            }
        });
        split.finish([queued, to], paths, |paths, times, each| {
            cursor.look_ahead(threads, history, paths, times, each);
        })
    }

    #[inline]
    fn keep_piece(&mut self, cause: Cause, [start_ns, end_ns]: [i64; 2], (within, call): Names) {
        if let Some(pieces) = &mut self.pieces {
            pieces.push(IdlePiece { agent: self.ops.agent, cause, start_ns, end_ns, within, call });
        }
    }

    pub(super) fn finish(mut self) -> GpuIdle {
        self.losses.finish();
        let number = self.tables.agents.get(self.ops.agent.index()).map_or(-1, |agent| agent.number);
        let label = labels::agent(self.tables, self.ops.agent);
        GpuIdle {
            blocking_copies_alone_ns: self.copies.finish(),
            losses: Losses { paths: self.paths, ..self.losses }.merge_recurring(),
            before: self.before,
            ..self.tally.finish(self.tables, number, label, self.end)
        }
    }
}

/// Returns whether an op that started at `start`, in ns, waited for something else than its launch.
fn is_long_wait(launch: Launch, start: i64) -> bool {
    start.wrapping_sub(launch.queued) as u64 >= AHEAD
}
