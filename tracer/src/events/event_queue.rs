//! The queue of a thread's events, from the thread's side.

use super::event::Event;
use super::recorder_waker;
use crate::base::spsc::{self, Bound, Consumer, Producer};

/// Events of a block, which takes 14 kB.
pub const BLOCK: usize = 256;

/// At this number of full blocks in a queue the recorder is woken.
const MANY: usize = 8;

/// The thread's end of its queue.
pub struct EventQueue {
    events: Producer<Event, BLOCK>,
    /// Events that always find room: the ends of open ranges.
    reserved: usize,
}

impl EventQueue {
    /// Makes the two ends of a queue; `None` at the bound.
    pub fn new(bound: &'static Bound) -> Option<(Self, Consumer<Event, BLOCK>)> {
        let (events, arrived) = spsc::channel(bound)?;
        Some((Self { events, reserved: 0 }, arrived))
    }

    /// Makes room for all of this number of events; false where there is none.
    #[inline]
    pub fn make_room(&mut self, events: usize) -> bool {
        self.events.make_room(events + self.reserved)
    }

    /// Reserves room for one more event, for which the caller has made room.
    #[inline]
    pub fn reserve(&mut self) {
        self.reserved += 1;
    }

    /// Adds an event for which room was reserved.
    #[inline]
    pub fn push_reserved(&mut self, event: Event) {
        self.reserved -= 1;
        self.push(event);
    }

    /// Adds an event for which the caller has made room.
    #[inline]
    pub fn push(&mut self, event: Event) {
        let _ = self.events.push(event);
        if self.events.has_gone_on() && self.events.waiting() >= MANY {
            recorder_waker::wake();
        }
    }
}
