//! The calls that a thread is in, and what it puts into its queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::call_interface::{Function, Source};

use super::call::{Call, CallParams, Piece};
use super::open::OpenCall;
use super::shown::Shown;
use crate::base::clock;
use crate::events::event::Event;
use crate::events::event_queue::EventQueue;

/// Numbers that a thread takes at once.
const AT_ONCE: u64 = 64;

/// The last number that was given to a thread.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The calls that a thread is in.
pub struct ThreadCalls {
    shown: Arc<Shown>,
    /// The last number given to a call, and the last one that the thread may give.
    number: u64,
    last: u64,
    /// The first one that it gave. A call with a smaller one was begun by the parent of a fork.
    pub first: u64,
    /// The innermost call that the thread is in; 0 for none.
    innermost: u64,
    /// How many calls of each source it is in.
    open: [u32; Source::ALL.len()],
    /// How many that are shown.
    depth: usize,
}

/// A call as it begins.
pub struct Beginning {
    pub call: OpenCall,
    /// A call of HSA that HIP makes: its ops belong to the call of HIP.
    pub is_for_hip: bool,
}

impl ThreadCalls {
    /// A thread that makes its first call; the recorder has `shown`, too.
    #[must_use]
    pub fn new(shown: Arc<Shown>) -> Self {
        let open = [0; Source::ALL.len()];
        Self { shown, number: 0, last: 0, first: u64::MAX, innermost: 0, open, depth: 0 }
    }

    /// A call of this function begins.
    #[inline]
    pub fn begin(&mut self, source: Source, function: Function) -> Beginning {
        if self.number == self.last {
            self.number = NUMBERS.fetch_add(AT_ONCE, Ordering::Relaxed);
            self.last = self.number + AT_ONCE;
            self.first = self.first.min(self.number + 1);
        }
        self.number += 1;
        count(&self.shown.counts.seen[source as usize]);
        let correlation = self.number;
        let parent = std::mem::replace(&mut self.innermost, correlation);
        self.open[source as usize] += 1;
        let is_for_hip = source == Source::Hsa && self.open[Source::Hip as usize] > 0;
        let call = OpenCall { correlation, parent, start: clock::now(), function };
        self.shown.open.enter(&mut self.depth, &call);
        Beginning { call, is_for_hip }
    }

    /// The call is over, and what is to be told of it is in the queue, or has found no room there. Only now it is none
    /// of those that the thread is in: who looks at these first and empties the queue then meets every call.
    #[inline]
    pub fn end(&mut self, source: Source, call: &Call, is_sent: bool) {
        self.innermost = call.parent;
        let open = &mut self.open[source as usize];
        *open = open.saturating_sub(1);
        self.shown.open.leave(&mut self.depth, call.correlation);
        if !is_sent {
            count(&self.shown.counts.behind[source as usize]);
        }
    }
}

/// Hands a call over with what belongs to it, all of it or nothing: what belongs to a call that has found no room would
/// belong to the next one.
#[inline]
pub fn send(queue: &mut EventQueue, params: Option<CallParams>, arguments: &[u8], call: Call) -> bool {
    let pieces = Piece::of(arguments);
    let has_room = queue.make_room(usize::from(params.is_some()) + pieces.len() + 1);
    if has_room {
        params.into_iter().for_each(|params| queue.push(Event::Params(params)));
        pieces.for_each(|piece| queue.push(Event::Arguments(piece)));
        queue.push(Event::Call(call));
    }
    has_room
}

/// Counts one more; nobody else writes this count. Who has read it sees what was done before.
#[inline]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Release);
}

/// Numbers from here on are larger than this one: the dispatches so far have those up to it.
pub fn number_from(last: u64) {
    NUMBERS.fetch_max(last, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
