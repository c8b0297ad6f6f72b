//! Places in the program's memory that the hardware would read and write.

use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

/// An aligned 32-bit or 64-bit place that the program has handed over, as a ring, a signal or a doorbell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(u64);

impl Place {
    /// # Safety
    /// From here on, for as long as the place is used, 8 bytes at `address` (4 where only [`Place::half`] is used) are mapped,
    /// aligned and only touched atomically or by agreement of the protocol, as for hardware.
    pub(crate) unsafe fn at(address: u64) -> Self {
        Self(address)
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: the caller of `at` promised that the place is mapped and aligned.
        unsafe { AtomicU64::from_ptr(self.0 as *mut u64) }
    }

    fn signed(&self) -> &AtomicI64 {
        // SAFETY: the caller of `at` promised that the place is mapped and aligned.
        unsafe { AtomicI64::from_ptr(self.0 as *mut i64) }
    }

    /// The 32-bit half at this address.
    pub(crate) fn half(&self) -> &AtomicU32 {
        // SAFETY: the caller of `at` promised that the place is mapped and aligned.
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

/// A range of the program's memory that is copied or filled.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bytes {
    first: *mut u8,
    count: usize,
}

impl Bytes {
    /// # Safety
    /// From here on, for as long as the range is used, it is mapped and nobody else touches it, as the program promises to
    /// hardware.
    pub(crate) unsafe fn at(address: u64, count: usize) -> Self {
        Self { first: address as *mut u8, count }
    }

    /// Copies from a range of the same length, which may overlap this one.
    pub(crate) fn copy_from(self, other: Self) {
        let count = self.count.min(other.count);
        // SAFETY: the callers of `at` promised that both ranges are mapped.
        unsafe { std::ptr::copy(other.first.cast_const(), self.first, count) };
    }

    /// Writes a pattern repeatedly; an empty one writes nothing.
    pub(crate) fn fill(self, pattern: &[u8]) {
        let mut written = pattern.len().min(self.count);
        // SAFETY: the caller of `at` promised that the range is mapped, and the pattern is the simulator's own.
        unsafe { std::ptr::copy_nonoverlapping(pattern.as_ptr(), self.first, written) };
        while written > 0 && written < self.count {
            // The written part is a whole number of patterns, so it can be doubled.
            let more = written.min(self.count - written);
            let next = self.first.wrapping_add(written);
            // SAFETY: both halves are within the range and do not overlap.
            unsafe { std::ptr::copy_nonoverlapping(self.first.cast_const(), next, more) };
            written += more;
        }
    }

    /// Copies the present content.
    pub(crate) fn to_vec(self) -> Vec<u8> {
        let mut copy = vec![0; self.count];
        // SAFETY: the caller of `at` promised that the range is mapped; the copy has the same length.
        unsafe { std::ptr::copy_nonoverlapping(self.first.cast_const(), copy.as_mut_ptr(), self.count) };
        copy
    }
}
