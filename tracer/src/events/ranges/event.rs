//! Events of ranges, markers and names, as a thread of the application sends them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::text::Text;

/// The number of ranges (`roctxId`) so far.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The number of a new range, from 1.
#[inline]
pub fn new_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed) + 1
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeEventKind {
    /// Begins a range within the open ones of the thread.
    Push,
    /// Ends the innermost range of the thread.
    Pop,
    Mark,
    /// Begins a range that any thread may end.
    Start,
    /// Ends a started range.
    Stop,
    NameThread,
    /// Names an agent by the handle of its `hsa_agent_t`.
    NameAgent,
    /// Names a device of HIP by its number.
    NameDevice,
    /// Names a stream of HIP by its address.
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
    pub what: RangeEventKind,
}
