//! One gap, split by what the thread did that launched the op at its end.

use rtl_schema::NameId;

use super::blocked::{BlockingCall, BlockingCalls};
use super::cause::Cause;
use super::first_times::FirstTime;
use super::losses::{LossKind, Losses, LostPart, Site};
use super::paths::{PathId, Paths, SpanKind};
use super::pieces::{FIRST_TIME, Piece};
use super::tally::{Gap, Tally};
use super::threads::Threads;

/// Code of a thread that takes so long in ns between two calls, and [`UNUSUAL`] times as long as usual, is no part of its pace.
pub(super) const STALL: u64 = 200_000;
pub(super) const UNUSUAL: u64 = 10;

/// Code that takes so long in ns is a cause of its own if the call before has not taken longer, and from [`LONG_WORK`] on in any case. A
/// [`STALL`] is one where a range or a function of the program names the code.
const OWN_WORK: u64 = 1_000_000;
const LONG_WORK: u64 = 2_000_000;

/// No launch takes so long in ns by itself.
const LONG_LAUNCH: u64 = 1_000_000;

/// Takes the pieces of a gap in order.
pub(super) struct GapSplit<'a> {
    pub(super) tally: &'a mut Tally,
    pub(super) losses: &'a mut Losses,
    pub(super) threads: &'a Threads<'a>,
    /// The parts so far.
    pub(super) lost: Vec<(LossKind, Site, LostPart)>,
    /// The earlier calls of the thread that may have made it late.
    pub(super) calls: &'a mut BlockingCalls,
    /// The thread's own code since its last call.
    pub(super) code: Vec<Piece>,
    pub(super) gap: &'a mut Gap,
    /// The gap as one part.
    pub(super) whole: LostPart,
    /// Code of this length in ns is a stall.
    pub(super) stall: u64,
    /// The op at the end is the first one of its kernel.
    pub(super) is_first: bool,
    /// The cause of the blocking call in which the gap began.
    pub(super) drained: Option<Cause>,
}

impl GapSplit<'_> {
    pub(super) fn add(&mut self, piece: Piece) {
        let Piece { cause, start, end, within, path, call, is_call, first_time, .. } = piece;
        let is_code = cause == Cause::Host;
        if !is_code {
            self.add_code();
        }
        self.calls.add(&piece);
        let (length, names) = (piece.length(), (within, call));
        if length == 0 {
            return;
        }
        self.gap.parts.add(cause, length, names);
        self.tally.note_piece(cause, length, names, path);
        self.tally.add_place(cause, names, length);
        if is_code {
            self.code.push(piece);
            return;
        }
        let site = Site { path, call: if is_call { call } else { NameId::NONE } };
        if cause.is_blocking() && is_call {
            if start == self.whole.gap_start {
                self.drained = self.drained.or(Some(cause));
            }
            let calls = self.calls.spend(&piece);
            self.gap.blocked.add(cause, length, names);
            self.tally.add_blocked(cause, names, length);
            let part = LostPart { start, ns: length, calls, ..self.whole };
            return self.lost.push((LossKind::Blocking(cause), site, part));
        }
        let kind = match cause {
            Cause::Loading => LossKind::Blocking(cause),
            _ if is_call && first_time == FirstTime::Yes && length >= FIRST_TIME => LossKind::First,
            _ if is_call && self.is_first && first_time != FirstTime::No && length >= STALL => {
                LossKind::First
            }
            _ if is_call && length >= LONG_LAUNCH => LossKind::Stall,
            _ => LossKind::Pace,
        };
        let own = self.charge(length);
        self.gap.own[cause as usize] += own;
        self.lose(kind, site, [end.saturating_sub_unsigned(own), end]);
    }

    /// Adds the code since the last call.
    fn add_code(&mut self) {
        let length = self.code.iter().map(Piece::length).sum();
        // What takes long has not become late by a blocking call.
        // A span around the call names nothing that came after it.
        let (waited, left) = self.calls.last();
        let is_named = |piece: &&Piece| {
            matches!(piece.innermost, Some(SpanKind::Range | SpanKind::OwnPython)) && piece.entered >= waited
        };
        let named: u64 = self.code.iter().filter(is_named).map(Piece::length).sum();
        let own_work = match named >= length - named {
            true => STALL,
            false => OWN_WORK.max(left.min(LONG_WORK)),
        };
        let own = if length >= own_work { length } else { self.charge(length) };
        self.gap.own[Cause::Host as usize] += own;
        // The calls bear its beginning.
        let mut borne = length - own;
        for piece in std::mem::take(&mut self.code) {
            let skipped = piece.length().min(borne);
            borne -= skipped;
            // What an operator does before the first op of a kernel is done once; a range or Python may do anything.
            let is_once = self.is_first && piece.innermost == Some(SpanKind::Operator);
            let kind = match piece.first_time {
                FirstTime::Yes if length >= FIRST_TIME => LossKind::First,
                FirstTime::Unknown if length >= self.stall && is_once => LossKind::First,
                _ if length >= self.stall => LossKind::Stall,
                _ => LossKind::Pace,
            };
            let site = Site { path: piece.path, call: NameId::NONE };
            self.lose(kind, site, [piece.start.saturating_add_unsigned(skipped), piece.end]);
        }
    }

    /// Charges a length of the gap in ns to earlier calls, and returns what these do not bear.
    fn charge(&mut self, length: u64) -> u64 {
        let Self { tally, lost, calls, gap, whole, .. } = self;
        calls.charge(length, |call: BlockingCall, ns, calls| {
            let names = (call.within, call.call);
            gap.blocked.add(call.cause, ns, names);
            tally.add_blocked(call.cause, names, ns);
            let site = Site { path: call.path, call: call.call };
            lost.push((
                LossKind::Blocking(call.cause),
                site,
                LostPart { start: call.start, ns, calls, ..*whole },
            ));
        })
    }

    fn lose(&mut self, kind: LossKind, site: Site, [start, end]: [i64; 2]) {
        let ns = end.wrapping_sub(start) as u64;
        self.lost.push((kind, site, LostPart { start, ns, ..self.whole }));
    }

    /// Adds the time from which on the op was enqueued, in which `look_ahead` follows the thread. Returns the cause of the blocking call
    /// in which the gap began.
    pub(super) fn finish(
        mut self,
        [queued, start]: [i64; 2],
        paths: &mut Paths,
        look_ahead: impl FnOnce(&mut Paths, [i64; 2], &mut dyn FnMut(PathId, [i64; 2])),
    ) -> Option<Cause> {
        self.add_code();
        self.tally.name_places(self.gap, paths, |name| self.threads.says_where(name));
        if self.gap.waiting == 0 {
            let own = self.charge(start.wrapping_sub(queued) as u64);
            self.gap.own[Cause::Queued as usize] += own;
            look_ahead(paths, [start.saturating_sub_unsigned(own), start], &mut |path, times| {
                self.lose(LossKind::Pace, Site { path, call: NameId::NONE }, times);
            });
        }
        // Code around what compiles the first op of a kernel compiles, too.
        let compiles = |(kind, ..): &(LossKind, Site, LostPart)| *kind == LossKind::Blocking(Cause::Loading);
        if self.is_first && self.lost.iter().any(compiles) {
            for (kind, ..) in self.lost.iter_mut().filter(|(kind, ..)| *kind == LossKind::Stall) {
                *kind = LossKind::First;
            }
        }
        self.losses.add_gap(&self.lost);
        self.drained
    }
}
