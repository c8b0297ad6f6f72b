//! The ranges that are open in a thread.

use super::event::{RangeEvent, RangeEventKind, new_number};
use super::text::{NOT_KEPT, Text};
use crate::base::counters::Lost;
use crate::events::event::Event;
use crate::events::event_queue::EventQueue;

/// Limit on the depth of a thread's nested recorded ranges.
pub const DEEPEST: usize = 1024;

/// Ranges that are not recorded (the recording was paused, or there was no room) are not noted here: levels are counted
/// elsewhere, and recorded ranges have their level.
#[derive(Debug, Default)]
pub struct OpenRanges {
    /// Indexed by level: the innermost range that was recorded down to there; 0 for none.
    frames: Vec<u64>,
}

impl OpenRanges {
    /// The innermost recorded range that is open; 0 for none.
    #[inline]
    pub fn innermost(&self) -> u64 {
        self.frames.last().copied().unwrap_or(0)
    }

    /// Begins a range at this level, and keeps room in the queue for its end.
    ///
    /// # Errors
    /// [`Lost::Bounds`] where [`DEEPEST`] ranges are open in the thread, or [`Lost::Behind`].
    #[inline]
    pub fn push(
        &mut self,
        queue: &mut EventQueue,
        level: usize,
        text: &'static Text,
        time: i64,
    ) -> Result<(), Lost> {
        self.pop_to(queue, level, time);
        if level >= DEEPEST {
            return Err(Lost::Bounds);
        }
        if !queue.make_room(2) {
            return Err(Lost::Behind);
        }
        let number = new_number();
        if self.frames.capacity() == 0 {
            self.frames.reserve_exact(DEEPEST);
        }
        self.frames.resize(level, self.innermost());
        self.frames.push(number);
        queue.reserve();
        queue.push(Event::Range(RangeEvent { time, number, text, what: RangeEventKind::Push }));
        Ok(())
    }

    /// True if a range at this level, or above it, may have been recorded.
    #[inline]
    pub fn is_above(&self, level: usize) -> bool {
        self.frames.len() > level
    }

    /// Ends the range at this level, and any above it.
    #[inline]
    pub fn pop_to(&mut self, queue: &mut EventQueue, level: usize, time: i64) {
        while self.frames.len() > level {
            let number = self.frames.pop().unwrap_or(0);
            if number != self.innermost() {
                let event = RangeEvent { time, number, text: &NOT_KEPT, what: RangeEventKind::Pop };
                queue.push_reserved(Event::Range(event));
            }
        }
    }
}
