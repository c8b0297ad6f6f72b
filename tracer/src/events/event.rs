//! Events that threads of the application hand to the recorder.

use super::calls::call::{Call, CallParams, Piece};
use super::ranges::event::RangeEvent;

/// An entry of a thread's queue. All its data lie in the queue, whose bound is therefore one of memory.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A range, a marker or a name.
    Range(RangeEvent),
    /// Belongs to the following call.
    Params(CallParams),
    /// Belongs to the following call.
    Arguments(Piece),
    Call(Call),
}

// Queues hold thousands of events, so their size matters.
const _: () = assert!(size_of::<Event>() <= 56);
