//! What a thread of the application did, as it hands it to the recorder.

use super::text::Text;

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

/// One entry of a thread's ring.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// In ns of CLOCK_BOOTTIME.
    pub time: i64,
    /// Of what: the range's own number (`roctxId`), what roctxRangeStartA returned, or what has a name.
    pub number: u64,
    /// What the application called it; meaningless where a range ends.
    pub text: &'static Text,
    /// What was done.
    pub what: What,
}

// A ring holds thousands of them.
const _: () = assert!(size_of::<Event>() <= 32);
