//! The queue of a thread's events, from the thread's side.

use super::event::Event;
use super::recorder_waker;
use crate::base::spsc::{self, Bound, Consumer, Producer};

/// Events of a block, 14 kB.
pub const BLOCK: usize = 256;

/// Full blocks of a queue that are a reason to wake the recorder.
const MANY: usize = 8;

/// The thread's end of its queue.
pub struct EventQueue {
    events: Producer<Event, BLOCK>,
    /// Events for which there always is room: the ends of open ranges.
    reserved: usize,
}

impl EventQueue {
    /// The two ends of a queue. `None` at the bound.
    pub fn new(bound: &'static Bound) -> Option<(Self, Consumer<Event, BLOCK>)> {
        let (events, arrived) = spsc::channel(bound)?;
        Some((Self { events, reserved: 0 }, arrived))
    }

    /// Whether this number of events finds room, all of them.
    #[inline]
    pub fn make_room(&mut self, events: usize) -> bool {
        self.events.make_room(events + self.reserved)
    }

    /// Reserves room for one more event. The caller has made room for it.
    #[inline]
    pub fn reserve(&mut self) {
        self.reserved += 1;
    }

    /// Puts an event in for which room was reserved.
    #[inline]
    pub fn push_reserved(&mut self, event: Event) {
        self.reserved -= 1;
        self.push(event);
    }

    /// Puts an event in for which the caller has made room.
    #[inline]
    pub fn push(&mut self, event: Event) {
        let _ = self.events.push(event);
        if self.events.has_gone_on() && self.events.waiting() >= MANY {
            recorder_waker::wake();
        }
    }
}
