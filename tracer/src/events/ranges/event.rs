//! What a thread of the application did with ranges, markers and names.

use std::sync::atomic::{AtomicU64, Ordering};

use super::text::Text;

/// Numbers of ranges (`roctxId`) that were given away.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The number of a new range, from 1.
#[inline]
pub fn new_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed) + 1
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A range begins within those that are open in the thread.
    Push,
    /// The innermost range of the thread ends.
    Pop,
    /// An instant.
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

/// That it was done.
#[derive(Clone, Copy, Debug)]
pub struct RangeEvent {
    /// In ns of CLOCK_BOOTTIME.
    pub time: i64,
    /// Of what: the range's own number (`roctxId`), what roctxRangeStartA returned, or what has a name.
    pub number: u64,
    /// What the application called it; meaningless where a range ends.
    pub text: &'static Text,
    /// What was done.
    pub what: What,
}
