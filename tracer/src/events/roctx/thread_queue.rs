//! A thread's way to the recorder: a ring that no other thread puts anything into.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::event::{Event, What};
use super::text::{NOT_KEPT, Text};
use crate::base::counters::Lost;
use crate::events::ring::{Consumer, Producer, ring};

/// Events that a thread may be ahead of the recorder: 512 kB, touched as far as they are needed.
pub const PLACES: usize = 1 << 14;

/// Threads at most that have a ring at the same time.
pub const MOST_LANES: usize = 1024;

/// How deep recorded ranges of a thread may be nested.
pub const DEEPEST: usize = 1024;

/// After this number of events a thread checks whether the recorder should be woken.
const LOOK: u32 = 1024;

static QUEUES: AtomicUsize = AtomicUsize::new(0);

/// Numbers of ranges (`roctxId`) that were given away.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The number of a new range, from 1.
#[inline]
pub fn new_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed) + 1
}

/// In the child of a fork: the threads that had rings are not in it.
pub fn forget() {
    QUEUES.store(0, Ordering::Relaxed);
}

/// The thread's end.
///
/// Ranges that are not recorded (the recording was paused, or there was no room) leave no trace here: levels are
/// counted elsewhere, and what is recorded knows the level that it is at.
pub struct ThreadQueue {
    events: Producer<Event, PLACES>,
    /// By level: the innermost range that was recorded down to there; 0 for none.
    frames: Vec<u64>,
    /// Recorded ranges that are open. The ring always has room for the end of each.
    open: usize,
    until_look: u32,
}

impl ThreadQueue {
    /// A thread's end, and the recorder's. `None` where there are [`MOST_LANES`].
    pub fn new() -> Option<(Self, Consumer<Event, PLACES>)> {
        if QUEUES.fetch_add(1, Ordering::Relaxed) >= MOST_LANES {
            QUEUES.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let (events, arrived) = ring();
        let frames = Vec::with_capacity(DEEPEST);
        Some((Self { events, frames, open: 0, until_look: LOOK }, arrived))
    }

    /// The innermost recorded range that is open; 0 for none.
    #[inline]
    pub fn innermost(&self) -> u64 {
        self.frames.last().copied().unwrap_or(0)
    }

    /// A range begins at this level.
    ///
    /// # Errors
    /// Why it is not recorded: [`Lost::Bounds`] where [`DEEPEST`] ranges are open in the thread, or [`Lost::Behind`].
    #[inline]
    pub fn push(&mut self, level: usize, text: &'static Text, time: i64) -> Result<(), Lost> {
        self.pop_to(level, time);
        if level >= DEEPEST {
            return Err(Lost::Bounds);
        }
        if !self.events.has_room(self.open + 2) {
            return Err(Lost::Behind);
        }
        let number = new_number();
        self.frames.resize(level, self.innermost());
        self.frames.push(number);
        self.open += 1;
        self.put(Event { time, number, text, what: What::Push });
        Ok(())
    }

    /// Whether a range at this level, or above it, may have been recorded.
    #[inline]
    pub fn is_above(&self, level: usize) -> bool {
        self.frames.len() > level
    }

    /// The range at this level, and any above it, ends.
    #[inline]
    pub fn pop_to(&mut self, level: usize, time: i64) {
        while self.frames.len() > level {
            let number = self.frames.pop().unwrap_or(0);
            if number != self.innermost() {
                self.open -= 1;
                self.put(Event { time, number, text: &NOT_KEPT, what: What::Pop });
            }
        }
    }

    /// Anything else.
    ///
    /// # Errors
    /// [`Lost::Behind`] where the ring is full.
    pub fn send(&mut self, event: Event) -> Result<(), Lost> {
        if !self.events.has_room(self.open + 1) {
            return Err(Lost::Behind);
        }
        self.put(event);
        Ok(())
    }

    #[inline]
    fn put(&mut self, event: Event) {
        // The caller has checked for room, and `open` has kept some for what ends.
        let _ = self.events.push(event);
        self.until_look = self.until_look.saturating_sub(1);
    }

    /// Whether the recorder should look at this queue before its time.
    #[inline]
    pub fn is_filling(&mut self) -> bool {
        if self.until_look > 0 {
            return false;
        }
        self.until_look = LOOK;
        self.events.waiting() >= PLACES / 4
    }
}

impl Drop for ThreadQueue {
    fn drop(&mut self) {
        QUEUES.fetch_sub(1, Ordering::Relaxed);
    }
}
