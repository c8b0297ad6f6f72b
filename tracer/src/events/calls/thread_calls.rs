//! The thread's own state of its calls, and the events that it puts into its queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::base::call_interface::{Function, Source};

use super::call::{Call, CallParams, Piece};
use super::open::OpenCall;
use super::shown::Shown;
use crate::base::clock;
use crate::events::event::Event;
use crate::events::event_queue::EventQueue;

/// A thread takes this many numbers at once.
const AT_ONCE: u64 = 64;

/// The last number that was given to a thread.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

pub struct ThreadCalls {
    shown: Arc<Shown>,
    /// The last number given to a call; `last` is the last one that the thread may give.
    number: u64,
    last: u64,
    /// The first number that the thread gave. A call with a smaller one was begun by the parent of a fork.
    pub first: u64,
    /// The innermost open call; 0 for none.
    innermost: u64,
    /// Number of open calls by source.
    open: [u32; Source::ALL.len()],
    /// Number of open calls that are shown.
    depth: usize,
}

pub struct CallStart {
    pub call: OpenCall,
    /// True for a call of HSA that HIP makes: its ops belong to the call of HIP.
    pub is_for_hip: bool,
}

impl ThreadCalls {
    /// The state of a thread that makes its first call; the recorder has `shown`, too.
    #[must_use]
    pub fn new(shown: Arc<Shown>) -> Self {
        let open = [0; Source::ALL.len()];
        Self { shown, number: 0, last: 0, first: u64::MAX, innermost: 0, open, depth: 0 }
    }

    #[inline]
    pub fn begin(&mut self, source: Source, function: Function) -> CallStart {
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
        CallStart { call, is_for_hip }
    }

    /// Ends a call after its events are in the queue, or have found no room there. It is open until then, so that a reader that
    /// looks at open calls first and then empties the queue sees every call.
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

/// Puts a call with its parameters and arguments into the queue, all of it or nothing: parameters of a call that has found no
/// room would belong to the next one.
#[inline]
pub fn send(queue: &mut EventQueue, params: Option<CallParams>, arguments: &[u8], call: Call) -> bool {
    let pieces = Piece::split(arguments);
    let has_room = queue.make_room(usize::from(params.is_some()) + pieces.len() + 1);
    if has_room {
        params.into_iter().for_each(|params| queue.push(Event::Params(params)));
        pieces.for_each(|piece| queue.push(Event::Arguments(piece)));
        queue.push(Event::Call(call));
    }
    has_room
}

/// Adds 1 to a count that nobody else writes. A reader of the count sees everything that was done before.
#[inline]
fn count(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Release);
}

/// Makes numbers from here on larger than `last`, because earlier dispatches have the numbers up to it.
pub fn number_from(last: u64) {
    NUMBERS.fetch_max(last, Ordering::Relaxed);
}

#[cfg(test)]
mod tests;
