//! Copies and barriers, and their path from the collector to the recorder.
//!
//! The path is separate from that of dispatches, so that dispatches stay small and rare ops cost the common path nothing.

use std::sync::Mutex;

use crate::base::try_lock::lock;
use crate::collect::dispatch::QueueOrdinal;

/// The numbers of copies and barriers ([`CopyOrBarrier::correlation`]) begin behind these, so that ops of different kinds never
/// share a number.
pub const COPIES: u64 = 1 << 40;
/// See [`COPIES`].
pub const BARRIERS: u64 = 2 << 40;

/// An op that is no kernel, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOrBarrier {
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// In ns of CLOCK_BOOTTIME; not before `start`.
    pub end: i64,
    /// Unique among all ops of the process, rising in the order of submission.
    pub correlation: u64,
    /// Time of the submission in ns of CLOCK_BOOTTIME; 0 where that is not recorded.
    pub enqueued: i64,
    /// The innermost range in which it was submitted; 0 for none.
    pub range: u64,
    /// The thread that submitted it.
    pub tid: u32,
    pub what: CopyOrBarrierKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyOrBarrierKind {
    Copy(Copy),
    /// A barrier packet, which only waits.
    Barrier {
        queue: QueueOrdinal,
        /// Number of the GPU.
        gpu: u16,
    },
}

/// A copy as the application submits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// Bytes, without gaps between rows.
    pub bytes: u64,
    /// Number of the GPU that is read from; `None` is the host.
    pub source: Option<u16>,
    /// Number of the GPU that is written to; `None` is the host.
    pub destination: Option<u16>,
}

/// Limit on the entries between collector and recorder, 4 MB.
const BOUND: usize = 1 << 16;

/// The channel from the collector to the recorder. Neither is a thread of the application, so neither can make one wait.
#[derive(Debug, Default)]
pub struct CopiesAndBarriers(Mutex<Vec<CopyOrBarrier>>);

impl CopiesAndBarriers {
    /// False if the recorder is so far behind that there is no room.
    #[must_use]
    pub fn put(&self, op: CopyOrBarrier) -> bool {
        let mut ops = lock(&self.0);
        let has_room = ops.len() < BOUND;
        if has_room {
            ops.push(op);
        }
        has_room
    }

    /// Moves everything into `room`, which is empty.
    pub fn take(&self, room: &mut Vec<CopyOrBarrier>) {
        std::mem::swap(&mut *lock(&self.0), room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken_in_order_and_what_has_no_room_is_refused() {
        let channel = CopiesAndBarriers::default();
        let op = |correlation| CopyOrBarrier {
            start: 0,
            end: 1,
            correlation,
            enqueued: 0,
            range: 0,
            tid: 1,
            what: CopyOrBarrierKind::Barrier { queue: QueueOrdinal(0), gpu: 0 },
        };
        assert!((0..BOUND as u64).all(|number| channel.put(op(number))));
        assert!(!channel.put(op(0)));
        let mut taken = Vec::new();
        channel.take(&mut taken);
        assert!(taken.iter().map(|op| op.correlation).eq(0..BOUND as u64));
        assert!(channel.put(op(0)), "there is room again");
    }
}
