//! What a thread of the application hands to the recorder.

use super::calls::call::{Call, CallParams, Piece};
use super::ranges::event::RangeEvent;

/// One entry of a thread's queue. All of it lies in the queue, whose bound is therefore one of memory.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Of a range, a marker or a name.
    Range(RangeEvent),
    /// Belongs to the call behind it.
    Params(CallParams),
    /// Belongs to the call behind it.
    Arguments(Piece),
    /// A call.
    Call(Call),
}

// Queues hold thousands of them.
const _: () = assert!(size_of::<Event>() <= 56);
