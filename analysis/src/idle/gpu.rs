//! The gaps of one GPU, in order.

use rtl_schema::{NameId, Tables};

use super::blocked::{AHEAD, BlockingCalls};
use super::cause::Cause;
use super::pieces::{Cursor, Piece};
use super::tally::{CAUSES, Gap, Names, Parts, Tally};
use super::threads::Threads;
use super::types::{GpuIdle, IdlePiece};
use crate::base::ops::{AgentOps, Op, Simultaneous};
use crate::base::uncovered::Uncovered;
use crate::gpu_time::operators::nesting::ThreadKey;
use crate::launches::{EnqueueTimes, queued_since};
use crate::names::labels;

/// Code of a thread that takes so long in ns between two calls is a cause of its own, whatever the thread waited for before.
const LONG: u64 = 1_000_000;

const NOWHERE: (NameId, NameId) = (NameId::NONE, NameId::NONE);

/// The tie of an op to the host.
#[derive(Debug, Clone, Copy)]
struct Launch {
    /// From when on it was enqueued, in ns: not after its start.
    queued: i64,
    call: Option<usize>,
}

#[derive(Debug, Default)]
struct Followed {
    cursor: Cursor,
    blocked: BlockingCalls,
}

pub(super) struct GpuSweep<'a> {
    tables: &'a Tables,
    ops: &'a AgentOps,
    threads: &'a Threads<'a>,
    times: &'a EnqueueTimes<'a>,
    base: i64,
    /// The last end so far, in ns after `base`.
    end: u64,
    followed: Vec<Followed>,
    /// Copies that the host waited for.
    copies: Uncovered,
    /// The thread of the last call that was looked at.
    last_thread: Option<(ThreadKey, Option<usize>)>,
    tally: Tally,
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
        let mut followed = Vec::new();
        followed.resize_with(threads.len(), Followed::default);
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
            followed,
            last_thread: None,
            tally: Tally::default(),
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
        self.end = self.end.max(moment.saturating_add(length));
        if !op.copy {
            self.copies.add(start, start.saturating_add_unsigned(length));
        }
    }

    /// The gap before several ops: the one that was enqueued first ends it.
    fn gap_before(&mut self, same: Simultaneous<'a>, start: i64) {
        let (tables, calls) = (self.tables, &self.tables.api_calls);
        let first =
            same.ops().map(|op| (op, self.launch(op, start))).min_by(|(one, first), (other, second)| {
                let key = |launch: &Option<Launch>| match launch {
                    Some(Launch { queued, call }) => (
                        false,
                        *queued,
                        call.is_none(),
                        call.map(|row| (calls.start[row], calls.tid.get(row))),
                    ),
                    None => (true, 0, true, None),
                };
                let op_key = |op: Op| (op.name(tables), op.correlation(tables));
                key(first).cmp(&key(second)).then_with(|| op_key(*one).cmp(&op_key(*other)))
            });
        if let Some((op, launch)) = first {
            self.gap(same.start, op, launch);
        }
    }

    #[inline]
    fn launch(&self, op: Op, start: i64) -> Option<Launch> {
        let call = self.times.call(op);
        let returned = call.map(|row| self.times.returned(row));
        let queued = queued_since(start, op.enqueued(self.tables), returned)?;
        Some(Launch { queued, call })
    }

    #[inline]
    fn thread_of(&mut self, call: usize) -> Option<usize> {
        let calls = &self.tables.api_calls;
        let key = (calls.process.get(call), calls.tid.get(call));
        match self.last_thread {
            Some((last, position)) if last == key => position,
            _ => {
                let position = self.threads.position(&key);
                self.last_thread = Some((key, position));
                position
            }
        }
    }

    /// Notes whether a thread is ahead of the GPU.
    #[inline]
    fn look_ahead(&mut self, launch: Option<Launch>, start: i64) {
        if let Some(Launch { queued, call: Some(call) }) = launch
            && start.wrapping_sub(queued) as u64 >= AHEAD
            && let Some(thread) = self.thread_of(call)
        {
            let moment = self.tables.api_calls.start[call];
            self.followed[thread].blocked.ahead_at(moment);
        }
    }

    /// Adds the gap from the last end to `start`, in ns after `base`.
    #[inline]
    fn gap(&mut self, start: u64, after: Op, launch: Option<Launch>) {
        let length = start - self.end;
        let [from, to] = [self.end, start].map(|moment| self.base.saturating_add_unsigned(moment));
        let queued = launch.map_or(from, |launch| launch.queued.clamp(from, to));
        let rest = if launch.is_some() { Cause::Queued } else { Cause::Unknown };
        if queued == from {
            self.keep_piece(rest, [from, to], NOWHERE);
            // An op that was enqueued long before waited for something else than its launch.
            let is_late = launch.is_none_or(|launch| (to.wrapping_sub(launch.queued) as u64) < AHEAD);
            let own = if is_late { length } else { 0 };
            return self.tally.add_whole(rest, [length, own], from, after);
        }
        self.split_gap([from, queued, to], length, after, launch);
    }

    /// Adds a gap whose op was enqueued within it.
    fn split_gap(&mut self, [from, queued, to]: [i64; 3], length: u64, after: Op, launch: Option<Launch>) {
        let rest = if launch.is_some() { Cause::Queued } else { Cause::Unknown };
        let (parts, blocked) = (Parts::default(), Parts::default());
        let mut gap = Gap { start: from, length, after, parts, blocked, own: [0; CAUSES] };
        let thread = launch.and_then(|launch| launch.call).and_then(|call| self.thread_of(call));
        let drained = match thread {
            Some(thread) => self.split(thread, [from, queued, to], &mut gap),
            None => {
                let late = queued.wrapping_sub(from) as u64;
                gap.parts.add(Cause::Host, late, NOWHERE);
                gap.own[Cause::Host as usize] += late;
                gap.own[rest as usize] += length - late;
                self.tally.add_place(Cause::Host, NOWHERE, late);
                self.keep_piece(Cause::Host, [from, queued], NOWHERE);
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
    fn split(&mut self, thread: usize, [from, queued, to]: [i64; 3], gap: &mut Gap) -> Option<Cause> {
        let Self { tally, pieces, followed, threads, .. } = self;
        let Followed { cursor, blocked: calls } = &mut followed[thread];
        let mut drained = None;
        let charge = |calls: &mut BlockingCalls, gap: &mut Gap, tally: &mut Tally, cause, length: u64| {
            // What takes long has not become late by a blocking call.
            let is_long = cause == Cause::Host && length >= LONG;
            let left = match is_long {
                true => length,
                false => calls.charge(length, |call, part| {
                    let names = (call.within, call.call);
                    gap.blocked.add(call.cause, part, names);
                    tally.add_blocked(call.cause, names, part);
                }),
            };
            gap.own[cause as usize] += left;
        };
        // Of the thread's own code, up to the next call.
        let mut code = 0;
        let agent = self.ops.agent;
        cursor.split(threads, threads.get(thread), [from, queued], |piece: Piece| {
            let Piece { cause, start, end, within, call, .. } = piece;
            let is_code = cause == Cause::Host;
            if !is_code && code > 0 {
                charge(calls, gap, tally, Cause::Host, std::mem::take(&mut code));
            }
            calls.add(&piece);
            let (length, names) = (piece.length(), (within, call));
            if length == 0 {
                return;
            }
            gap.parts.add(cause, length, names);
            tally.add_place(cause, names, length);
            if let Some(pieces) = pieces {
                pieces.push(IdlePiece { agent, cause, start_ns: start, end_ns: end, within, call });
            }
            if cause.is_blocking() && call.is_some() {
                drained = drained.or((start == from).then_some(cause));
                calls.spend(&piece);
                gap.blocked.add(cause, length, names);
                tally.add_blocked(cause, names, length);
            } else if is_code {
                code += length;
            } else {
                charge(calls, gap, tally, cause, length);
            }
        });
        if code > 0 {
            charge(calls, gap, tally, Cause::Host, code);
        }
        charge(calls, gap, tally, Cause::Queued, to.wrapping_sub(queued) as u64);
        drained
    }

    #[inline]
    fn keep_piece(&mut self, cause: Cause, [start_ns, end_ns]: [i64; 2], (within, call): Names) {
        if let Some(pieces) = &mut self.pieces {
            pieces.push(IdlePiece { agent: self.ops.agent, cause, start_ns, end_ns, within, call });
        }
    }

    pub(super) fn finish(self) -> GpuIdle {
        let number = self.tables.agents.get(self.ops.agent.index()).map_or(-1, |agent| agent.number);
        let label = labels::agent(self.tables, self.ops.agent);
        GpuIdle {
            blocking_copies_alone_ns: self.copies.finish(),
            ..self.tally.finish(self.tables, number, label, self.end)
        }
    }
}
