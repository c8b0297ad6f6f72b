//! Around a defect of the runtime that would crash programs only because they are traced.
//!
//! Since it hands packets to interceptors in batches, the runtime copies a batch that goes beyond the end of a queue's
//! ring into a buffer of 256 packets, however many they are: rocm-systems pull request 2185 made it so, 4066
//! mended it, and the 7.2.4 that Debian has crashes. It happens before any interceptor is called. So a
//! doorbell that would lead to it is rung twice: once with the ring cut at its end, which needs no copy, and once
//! for the rest.

#![expect(unsafe_code, reason = "the ring is the runtime's memory")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{PoisonError, RwLock};

use hsa_sys::bindings::{HSA_PACKET_TYPE_INVALID, hsa_queue_t};
use hsa_sys::table::Generation;

use crate::api::Api;

/// Packets that the runtime's buffer holds.
pub const STAGED: u64 = 256;

/// `minor_id` of the first extension table that a runtime with batches has.
const FIRST: u32 = 600;

/// Whether a runtime of this generation may have the defect. One that was mended loses nothing by the precaution.
#[must_use]
pub fn may_overflow(generation: &Generation) -> bool {
    generation.minor >= FIRST
}

/// A queue's ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The address of its `hsa_queue_t`.
    pub queue: u64,
    /// The address of its first packet.
    pub base: u64,
    /// Its packets.
    pub size: u64,
}

impl Ring {
    /// Whether this address is in the ring.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        (self.base..self.base + self.size * 64).contains(&address)
    }
}

/// Whether the packets from `read` to `write` would overflow the buffer: more than it holds, and beyond the end of
/// the ring.
fn overflows(read: u64, write: u64, size: u64) -> bool {
    let end = write.min(read.saturating_add(size));
    size > 0 && end > read && end - read > STAGED && read / size != (end - 1) / size
}

/// The rings of the queues that are intercepted, by the handles of their doorbells.
#[derive(Debug, Default)]
pub struct Doorbells {
    rings: RwLock<HashMap<u64, Ring>>,
}

impl Doorbells {
    /// A queue was created.
    pub fn add(&self, doorbell: u64, ring: Ring) {
        self.rings.write().unwrap_or_else(PoisonError::into_inner).insert(doorbell, ring);
    }

    /// A queue is about to be destroyed.
    pub fn remove(&self, queue: u64) {
        self.rings.write().unwrap_or_else(PoisonError::into_inner).retain(|_, ring| ring.queue != queue);
    }

    /// Rings: calls `ring`, which stores to this signal, once or twice.
    pub fn ring(&self, signal: u64, api: &Api, ring: impl Fn()) {
        let found = self.rings.read().unwrap_or_else(PoisonError::into_inner).get(&signal).copied();
        match found {
            Some(found) if overflows(read_index(&found, api), write_index(&found, api), found.size) => {
                ring_twice(&found, ring);
            }
            _ => ring(),
        }
    }
}

fn ring_twice(place: &Ring, ring: impl Fn()) {
    // SAFETY: the first packet of a ring that exists: its queue is being rung. Headers are written as a whole.
    let header = unsafe { AtomicU16::from_ptr(place.base as *mut u16) };
    let invalid = HSA_PACKET_TYPE_INVALID as u16;
    // The runtime stops at a packet that is not valid yet, as it does for one that is still being written.
    let first = header.swap(invalid, Ordering::AcqRel);
    ring();
    if first != invalid {
        header.store(first, Ordering::Release);
        ring();
    }
}

fn read_index(ring: &Ring, api: &Api) -> u64 {
    let queue = ring.queue as *const hsa_queue_t;
    // SAFETY: the application rings the queue's doorbell, so the queue exists.
    api.core.hsa_queue_load_read_index_relaxed_fn.map_or(0, |load| unsafe { load(queue) })
}

fn write_index(ring: &Ring, api: &Api) -> u64 {
    let queue = ring.queue as *const hsa_queue_t;
    // SAFETY: the application rings the queue's doorbell, so the queue exists.
    api.core.hsa_queue_load_write_index_relaxed_fn.map_or(0, |load| unsafe { load(queue) })
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn only_what_is_too_much_and_goes_beyond_the_end_overflows() {
        assert!(!overflows(0, 4096, 4096), "up to the end");
        assert!(!overflows(4000, 4256, 4096), "256 packets fit");
        assert!(overflows(4000, 4257, 4096));
        assert!(overflows(4095, 9000, 4096), "never more than the ring has");
        assert!(!overflows(4096, 8192, 4096), "from the beginning");
        assert!(!overflows(7, 7, 4096) && !overflows(9, 7, 4096), "nothing");
        assert!(!overflows(4000, 4100, 128), "a ring that is smaller than the buffer");
    }

    #[test]
    fn the_first_packet_is_held_back_for_the_first_ring_and_there_for_the_second() {
        let mut packets = vec![0x1502_u16; 32];
        let place = Ring { queue: 0, base: packets.as_mut_ptr() as u64, size: 1 };
        // SAFETY: the memory of this test.
        let header = || unsafe { AtomicU16::from_ptr(place.base as *mut u16) }.load(Ordering::Relaxed);
        let seen = RefCell::new(Vec::new());
        ring_twice(&place, || seen.borrow_mut().push(header()));
        assert_eq!((seen.take(), header()), (vec![1, 0x1502], 0x1502));
        // SAFETY: the memory of this test.
        unsafe { AtomicU16::from_ptr(place.base as *mut u16) }.store(1, Ordering::Relaxed);
        ring_twice(&place, || seen.borrow_mut().push(header()));
        assert_eq!((seen.take(), header()), (vec![1], 1));
    }
}
