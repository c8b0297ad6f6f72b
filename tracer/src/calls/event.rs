//! What a thread hands to the recorder of its calls.

use calls::{Details, Function};

/// A call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// In ns of CLOCK_BOOTTIME.
    pub start: i64,
    /// In ns of CLOCK_BOOTTIME.
    pub end: i64,
    /// Its number.
    pub correlation: u64,
    /// The number of the call that it was made from; 0 for none.
    pub parent: u64,
    /// The stream that it was given; 0 for none.
    pub stream: u64,
    /// What was called.
    pub function: Function,
    /// What it returned, where that is a status; 0 is success.
    pub status: i32,
}

/// One entry of a thread's queue.
#[derive(Debug)]
pub enum Entry {
    /// Belongs to the call behind it.
    Details(Box<Details>),
    /// Belongs to the call behind it.
    Arguments(Box<str>),
    /// A call.
    Call(Call),
}

// Queues hold thousands of them.
const _: () = assert!(size_of::<Entry>() <= 56);
