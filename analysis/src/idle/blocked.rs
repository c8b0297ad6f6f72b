//! Blocking calls of a thread that may have made its later launches late.

use std::collections::VecDeque;

use rtl_schema::NameId;

use super::cause::Cause;
use super::paths::PathId;
use super::pieces::Piece;

/// An op that waits on the GPU for so long in ns does not wait for its launch.
pub(super) const AHEAD: u64 = 100_000;

/// A thread of which an op waits so long in ns is ahead of the GPU again, not only while one long kernel runs.
pub(super) const AHEAD_AGAIN: u64 = 200_000;

/// How many calls of a thread are remembered; each is worth at most the time it took, so older ones bear little.
const REMEMBERED: usize = 8;

/// A call and what is left of its time in ns.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockingCall {
    pub(super) cause: Cause,
    pub(super) within: NameId,
    pub(super) path: PathId,
    pub(super) call: NameId,
    pub(super) start: i64,
    end: i64,
    left: u64,
    /// Idle time was charged to it.
    is_counted: bool,
}

impl BlockingCall {
    /// Returns 1 when idle time is charged to it for the first time.
    fn count(&mut self) -> u64 {
        u64::from(!std::mem::replace(&mut self.is_counted, true))
    }
}

/// The blocking calls since the thread was ahead of the GPU.
#[derive(Debug)]
pub(super) struct BlockingCalls {
    calls: VecDeque<BlockingCall>,
    ahead: i64,
}

impl BlockingCalls {
    /// Calls that end by `moment`, in ns, do not matter: the GPU had nothing to do before its first op.
    pub(super) fn since(moment: i64) -> Self {
        Self { calls: VecDeque::new(), ahead: moment }
    }

    /// Adds the call of a piece, if it is the first piece of one that blocks.
    #[inline]
    pub(super) fn add(&mut self, piece: &Piece) {
        let Piece { cause, start, within, path, call, call_end: end, .. } = *piece;
        let Some(left) = piece.blocked.filter(|&left| end > self.ahead && left > 0) else { return };
        if self.calls.len() == REMEMBERED {
            self.calls.pop_front();
        }
        self.calls.push_back(BlockingCall { cause, within, path, call, start, end, left, is_counted: false });
    }

    /// The start of the latest call with time left, and that time, in ns.
    pub(super) fn last(&self) -> (i64, u64) {
        self.calls.back().map_or((i64::MIN, 0), |call| (call.start, call.left))
    }

    /// Takes the length of a piece within a call off the time of that call. Returns how many calls that adds to those with idle time.
    #[inline]
    pub(super) fn spend(&mut self, piece: &Piece) -> u64 {
        let is_this = |call: &&mut BlockingCall| (call.call, call.end) == (piece.call, piece.call_end);
        let Some(call) = self.calls.back_mut().filter(is_this) else {
            return u64::from(piece.blocked.is_some());
        };
        let calls = call.count();
        call.left = call.left.saturating_sub(piece.length());
        if call.left == 0 {
            self.calls.pop_back();
        }
        calls
    }

    /// The thread launched an op at `moment`, in ns, with which it was ahead: calls until then no longer matter.
    #[inline]
    pub(super) fn ahead_at(&mut self, moment: i64) {
        self.ahead = self.ahead.max(moment);
        self.calls.retain(|call| call.end > moment);
    }

    /// Charges idle time in ns to the calls, the latest first; `each` gets a call, its part, and how many
    /// calls that adds to those with idle time. Returns what is left.
    pub(super) fn charge(&mut self, mut idle: u64, mut each: impl FnMut(BlockingCall, u64, u64)) -> u64 {
        while let Some(call) = self.calls.back_mut().filter(|_| idle > 0) {
            let part = call.left.min(idle);
            (idle, call.left) = (idle - part, call.left - part);
            let calls = call.count();
            let call = *call;
            if call.left == 0 {
                self.calls.pop_back();
            }
            each(call, part, calls);
        }
        idle
    }
}
