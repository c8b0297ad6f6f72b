//! Copies and barriers, and their path from the collector to the recorder.
//!
//! It is a path of its own, so that dispatches stay small and the common path is not made longer for rare ops.

use std::sync::Mutex;

use crate::base::try_lock::lock;
use crate::collect::dispatch::QueueOrdinal;

/// The numbers of copies and barriers ([`CopyOrBarrier::correlation`]) begin behind these, so that no op has the number of another
/// kind of op.
pub const COPIES: u64 = 1 << 40;
/// See [`COPIES`].
pub const BARRIERS: u64 = 2 << 40;

/// An op that is no kernel, and when it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyOrBarrier {
    /// When it started, in ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// When it ended, in ns of CLOCK_BOOTTIME; not before `start`.
    pub end: i64,
    /// Unique among all ops of the process, rising in the order of submission.
    pub correlation: u64,
    /// When it was enqueued, in ns of CLOCK_BOOTTIME; 0 where that is not recorded.
    pub enqueued: i64,
    /// The innermost range in which it was submitted; 0 for none.
    pub range: u64,
    /// The thread that submitted it.
    pub tid: u32,
    pub what: What,
}

/// An op that is no kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Bytes went from one agent to another.
    Copy(Copy),
    /// A barrier packet, which only waits.
    Barrier {
        queue: QueueOrdinal,
        /// The number of the GPU.
        gpu: u16,
    },
}

/// A copy as it is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copy {
    /// How many bytes, without what lies between rows.
    pub bytes: u64,
    /// The number of the GPU that is read from; `None` is the host.
    pub source: Option<u16>,
    /// The number of the GPU that is written to; `None` is the host.
    pub destination: Option<u16>,
}

/// Entries at most between collector and recorder: 4 MB.
const BOUND: usize = 1 << 16;

/// The way from the collector to the recorder. Neither is a thread of the application, so neither can make one wait.
#[derive(Debug, Default)]
pub struct CopiesAndBarriers(Mutex<Vec<CopyOrBarrier>>);

impl CopiesAndBarriers {
    /// Takes the op, unless the recorder is so far behind that there is no room: then the answer is false.
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
            what: What::Barrier { queue: QueueOrdinal(0), gpu: 0 },
        };
        assert!((0..BOUND as u64).all(|number| channel.put(op(number))));
        assert!(!channel.put(op(0)));
        let mut taken = Vec::new();
        channel.take(&mut taken);
        assert!(taken.iter().map(|op| op.correlation).eq(0..BOUND as u64));
        assert!(channel.put(op(0)), "there is room again");
    }
}
