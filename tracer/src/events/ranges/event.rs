//! Events of ranges, markers and names, as a thread of the application sends them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::text::Text;

/// Numbers of ranges (`roctxId`) that were given away.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The number of a new range, from 1.
#[inline]
pub fn new_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed) + 1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A range begins within those that are open in the thread.
    Push,
    /// The innermost range of the thread ends.
    Pop,
    Mark,
    /// A range begins that any thread may end.
    Start,
    /// One of those ends.
    Stop,
    /// The thread has a name.
    NameThread,
    /// An agent has a name: the handle of its `hsa_agent_t`.
    NameAgent,
    /// A device of HIP has a name: its number.
    NameDevice,
    /// A stream of HIP has a name: its address.
    NameStream,
}

#[derive(Clone, Copy, Debug)]
pub struct RangeEvent {
    /// In ns of CLOCK_BOOTTIME.
    pub time: i64,
    /// The range's own number (`roctxId`), the result of roctxRangeStartA, or the handle of a named object.
    pub number: u64,
    /// Meaningless where a range ends.
    pub text: &'static Text,
    pub what: What,
}
