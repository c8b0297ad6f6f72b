//! Blocking calls of a thread that may have made its later launches late.

use std::collections::VecDeque;

use rtl_schema::NameId;

use super::cause::Cause;
use super::paths::PathId;
use super::pieces::Piece;

/// A thread of which an op waits on the GPU for so long in ns is ahead of it.
pub(super) const AHEAD: u64 = 100_000;

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
        self.calls.push_back(BlockingCall { cause, within, path, call, start, end, left });
    }

    /// Takes the length of a piece within a call off the time of that call.
    #[inline]
    pub(super) fn spend(&mut self, piece: &Piece) {
        if let Some(call) =
            self.calls.back_mut().filter(|call| (call.call, call.end) == (piece.call, piece.call_end))
        {
            call.left = call.left.saturating_sub(piece.length());
            if call.left == 0 {
                self.calls.pop_back();
            }
        }
    }

    /// The thread launched an op at `moment`, in ns, with which it was ahead: calls until then no longer matter.
    #[inline]
    pub(super) fn ahead_at(&mut self, moment: i64) {
        self.ahead = self.ahead.max(moment);
        self.calls.retain(|call| call.end > moment);
    }

    /// Charges idle time in ns to the calls, the latest first; `each` gets a call and its part. Returns what is left.
    pub(super) fn charge(&mut self, mut idle: u64, mut each: impl FnMut(BlockingCall, u64)) -> u64 {
        while let Some(call) = self.calls.back_mut().filter(|_| idle > 0) {
            let part = call.left.min(idle);
            (idle, call.left) = (idle - part, call.left - part);
            let call = *call;
            if call.left == 0 {
                self.calls.pop_back();
            }
            each(call, part);
        }
        idle
    }
}
