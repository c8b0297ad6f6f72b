//! Bounds the memory that dispatches occupy on their way to the file (RTL_BUFFER).
//!
//! Memory is taken as it is needed and given back, by slots (running dispatches, and free slots) and by batches (completed
//! dispatches that wait for the recorder).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::base::counters::Lost;

/// The bound in bytes where RTL_BUFFER is not set.
pub const DEFAULT: usize = 256 << 20;

/// The smallest bound in bytes, which has room for some slots and two batches.
pub const LEAST: usize = 1 << 20;

/// Bytes of a slot, its place in a queue and its signal in the runtime's memory.
pub const SLOT: usize = 384;

/// Slots may occupy this many of the `PARTS` parts of the bound, so that the recorder is never without batches.
const OF_SLOTS: usize = 3;
const PARTS: usize = 4;

#[derive(Debug)]
pub struct Budget {
    bound: AtomicUsize,
    slots: AtomicUsize,
    batches: AtomicUsize,
    /// The largest sum so far.
    peak: AtomicUsize,
    is_behind: AtomicBool,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(DEFAULT)
    }
}

impl Budget {
    #[must_use]
    pub const fn new(bound: usize) -> Self {
        let (slots, batches, peak) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        Self { bound: AtomicUsize::new(bound), slots, batches, peak, is_behind: AtomicBool::new(false) }
    }

    /// To be called before any memory is taken.
    pub fn set_bound(&self, bound: Option<u64>) {
        let bound = bound.map_or(DEFAULT, |bound| usize::try_from(bound).unwrap_or(usize::MAX));
        self.bound.store(bound.max(LEAST), Ordering::Relaxed);
    }

    /// The bound in bytes.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.bound.load(Ordering::Relaxed)
    }

    /// Bytes that are taken now.
    #[must_use]
    pub fn used(&self) -> usize {
        self.slots.load(Ordering::Relaxed) + self.batches.load(Ordering::Relaxed)
    }

    /// The largest number of bytes that were taken at once.
    #[must_use]
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    fn most_of_slots(&self) -> usize {
        self.bound() / PARTS * OF_SLOTS
    }

    /// Takes the memory of one more slot; false at the bound.
    #[must_use]
    pub fn take_slot(&self) -> bool {
        let slots = self.slots.fetch_add(SLOT, Ordering::Relaxed) + SLOT;
        let all = slots + self.batches.load(Ordering::Relaxed);
        if slots <= self.most_of_slots() && all <= self.bound() {
            self.peak.fetch_max(all, Ordering::Relaxed);
            return true;
        }
        self.give_slots_back(1);
        false
    }

    pub fn give_slots_back(&self, count: usize) {
        self.slots.fetch_sub(count * SLOT, Ordering::Relaxed);
    }

    /// True where hardly any more slots can be made.
    #[must_use]
    pub fn is_tight(&self) -> bool {
        let most =
            self.most_of_slots().min(self.bound().saturating_sub(self.batches.load(Ordering::Relaxed)));
        self.slots.load(Ordering::Relaxed) >= most - most / 8
    }

    /// Takes `bytes` bytes for a batch; false at the bound, and then the recorder is behind until there is room again.
    #[must_use]
    pub fn take_batch(&self, bytes: usize) -> bool {
        let batches = self.batches.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let all = batches + self.slots.load(Ordering::Relaxed);
        let fits = all <= self.bound();
        if fits {
            self.peak.fetch_max(all, Ordering::Relaxed);
        } else {
            self.batches.fetch_sub(bytes, Ordering::Relaxed);
        }
        fits
    }

    pub fn give_batch_back(&self, bytes: usize) {
        self.batches.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Notes that completed dispatches wait in their slots because the recorder has no room for them.
    pub fn set_behind(&self, is_behind: bool) {
        self.is_behind.store(is_behind, Ordering::Relaxed);
    }

    /// The reason why a dispatch that finds no slot at the bound is lost.
    #[must_use]
    pub fn loss(&self) -> Lost {
        if self.is_behind.load(Ordering::Relaxed) { Lost::Behind } else { Lost::Buffer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_leave_room_for_batches_and_both_stay_within_the_bound() {
        let budget = Budget::new(8 * SLOT);
        assert_eq!((0..10).filter(|_| budget.take_slot()).count(), 6);
        assert!(budget.take_batch(2 * SLOT) && !budget.take_batch(1));
        assert_eq!((budget.used(), budget.peak()), (budget.bound(), budget.bound()));
        budget.give_slots_back(6);
        assert!(budget.take_batch(5 * SLOT));
        assert!(budget.take_slot() && !budget.take_slot(), "batches take what slots do not need");
    }

    #[test]
    fn the_reason_for_a_loss_at_the_bound_is_who_occupies_it() {
        let budget = Budget::default();
        assert_eq!(budget.loss(), Lost::Buffer);
        budget.set_behind(true);
        assert_eq!(budget.loss(), Lost::Behind);
        budget.set_behind(false);
        assert_eq!(budget.loss(), Lost::Buffer);
    }

    #[test]
    fn the_bound_is_the_users_but_never_too_small_to_record_at_all() {
        let budget = Budget::default();
        for (bytes, bound) in [(None, DEFAULT), (Some(1), LEAST), (Some(2 << 30), 2 << 30)] {
            budget.set_bound(bytes);
            assert_eq!(budget.bound(), bound);
        }
    }
}
