//! A place in the program's memory that the hardware would read and write.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// An aligned 32-bit or 64-bit place that the program has handed over, as a ring, a signal or a doorbell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u64);

impl Place {
    /// # Safety
    /// From here on, for as long as the place is used, 8 bytes at `address` (4 where only [`Place::half`] is)
    /// are mapped, aligned and only touched atomically or by agreement of the protocol, as for hardware.
    pub(crate) unsafe fn at(address: u64) -> Self {
        Self(address)
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: mapped and aligned is what the constructor asks for.
        unsafe { AtomicU64::from_ptr(self.0 as *mut u64) }
    }

    fn signed(&self) -> &AtomicI64 {
        // SAFETY: mapped and aligned is what the constructor asks for.
        unsafe { AtomicI64::from_ptr(self.0 as *mut i64) }
    }

    /// The 32-bit half at this address.
    pub(crate) fn half(&self) -> &AtomicU32 {
        // SAFETY: mapped and aligned is what the constructor asks for.
        unsafe { AtomicU32::from_ptr(self.0 as *mut u32) }
    }

    pub(crate) fn load(self) -> u64 {
        self.word().load(Ordering::Acquire)
    }

    pub(crate) fn load_signed(self) -> i64 {
        self.signed().load(Ordering::Acquire)
    }

    pub(crate) fn store(self, value: u64) {
        self.word().store(value, Ordering::Release);
    }

    /// Adds, wrapping around.
    pub(crate) fn add(self, value: u64) {
        self.word().fetch_add(value, Ordering::AcqRel);
    }

    pub(crate) fn decrement(self) {
        self.signed().fetch_sub(1, Ordering::AcqRel);
    }
}
