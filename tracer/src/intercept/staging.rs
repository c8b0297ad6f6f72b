//! Works around a defect of the runtime that would crash programs only because they are traced.
//!
//! Since the runtime hands packets to interceptors in batches, it copies a batch that goes beyond the end of a queue's ring into
//! a buffer of 256 packets, however many they are: rocm-systems pull request 2185 introduced this, 4066 fixed it, and the 7.2.4
//! of Debian crashes. It happens before any interceptor is called. So a doorbell that would lead to it is rung twice: once with
//! the ring cut at its end, which needs no copy, and once for the rest. The cut is in the header of a packet in the ring of the
//! interceptible queue, which the GPU never reads.
//!
//! The runtime's thread that resumes a ring, after the queue of the hardware was full, rings no doorbell.
//! [`crate::intercept::wrapped`] keeps that from being necessary.

#![expect(unsafe_code, reason = "the ring is the runtime's memory")]

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU64, Ordering};

use hsa_sys::bindings::{HSA_PACKET_TYPE_INVALID, hsa_queue_t};
use hsa_sys::table::Generation;

use crate::base::api::Api;
use crate::intercept::lookup::{Entry, Lookup};
use crate::intercept::wrapped::{self, HardwareQueue};

/// Capacity of the runtime's buffer in packets.
pub const STAGED: u64 = 256;

/// `minor_id` of the first extension table of a runtime with batches.
const FIRST: u32 = 600;

/// True if a runtime of this generation may have the defect. A fixed one loses nothing by the precaution.
#[must_use]
pub fn may_overflow(generation: &Generation) -> bool {
    generation.minor >= FIRST
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// Address of the `hsa_queue_t`.
    pub queue: u64,
    /// Address of the first packet.
    pub base: u64,
    /// Number of packets.
    pub size: u64,
}

impl Ring {
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        (self.base..self.base + self.size * 64).contains(&address)
    }
}

/// True if the packets from `read` to `write` are more than the buffer holds, and go beyond the end of the ring.
fn overflows(read: u64, write: u64, size: u64) -> bool {
    let end = write.min(read.saturating_add(size));
    size > 0 && end > read && end - read > STAGED && read / size != (end - 1) / size
}

/// An intercepted queue.
#[derive(Default)]
pub struct Proxy {
    base: AtomicU64,
    size: AtomicU64,
    doorbell: AtomicU64,
    pub wrapped: HardwareQueue,
}

/// Finds the queue of a doorbell.
#[derive(Default)]
struct DoorbellQueue {
    ring: AtomicU64,
    proxy: AtomicPtr<Proxy>,
}

/// The intercepted queues, by their addresses and by the handles of their doorbells.
#[derive(Default)]
pub struct Doorbells {
    proxies: Lookup<Proxy>,
    rung: Lookup<DoorbellQueue>,
    /// True if queues have their write index where [`wrapped::write_index`] reads it: the runtime's function has returned the
    /// same.
    has_known_layout: AtomicBool,
}

/// A queue that is about to be destroyed, whose doorbell and address are no longer valid keys.
pub struct HiddenQueue {
    queue: u64,
    proxy: &'static Entry<Proxy>,
    rung: Option<&'static Entry<DoorbellQueue>>,
}

impl HiddenQueue {
    pub fn destroyed(self) {
        self.rung.inspect(|rung| rung.free());
        self.proxy.free();
    }

    /// Called when the queue could not be destroyed.
    pub fn stays(self) {
        self.proxy.show(self.queue);
        self.rung.inspect(|rung| rung.show(self.proxy.value.doorbell.load(Ordering::Relaxed)));
    }
}

impl Doorbells {
    pub fn add(&self, doorbell: u64, ring: Ring) -> &'static Proxy {
        let proxy = &self
            .proxies
            .add(ring.queue, |proxy| {
                proxy.base.store(ring.base, Ordering::Relaxed);
                proxy.size.store(ring.size, Ordering::Relaxed);
                proxy.doorbell.store(doorbell, Ordering::Relaxed);
                proxy.wrapped.reset();
            })
            .value;
        self.rung.add(doorbell, |rung| {
            rung.ring.store(ring.queue, Ordering::Relaxed);
            rung.proxy.store(std::ptr::from_ref(proxy).cast_mut(), Ordering::Relaxed);
        });
        proxy
    }

    /// Called before a queue is destroyed. Another one may have its address and its doorbell right afterwards.
    pub fn hide(&self, queue: u64) -> Option<HiddenQueue> {
        let proxy = self.proxies.get(queue)?;
        let rung = self.rung.get(proxy.value.doorbell.load(Ordering::Relaxed));
        rung.inspect(|rung| rung.hide());
        proxy.hide();
        Some(HiddenQueue { queue, proxy, rung })
    }

    /// The queue of the hardware behind the queue at this address, if that is intercepted.
    #[inline]
    pub fn wrapped(&self, queue: u64) -> Option<&'static HardwareQueue> {
        self.proxies.get(queue).map(|entry| &entry.value.wrapped)
    }

    /// Cuts the ring of this doorbell, if it must not be rung unchanged.
    #[inline]
    pub fn cut(&self, signal: u64, api: &Api) -> Option<Cut> {
        let rung = &self.rung.get(signal)?.value;
        // SAFETY: `add` stored the pointer before the entry could be found; proxies are never freed.
        let proxy = unsafe { rung.proxy.load(Ordering::Relaxed).as_ref() }?;
        let queue = rung.ring.load(Ordering::Relaxed);
        // Nearly always the runtime has taken all packets but the last one.
        if self.has_known_layout.load(Ordering::Relaxed) {
            // SAFETY: the application rings the queue's doorbell, so the queue exists.
            let write = unsafe { wrapped::write_index(queue as *mut hsa_queue_t) };
            if write.wrapping_sub(proxy.wrapped.taken()) <= STAGED {
                return None;
            }
        }
        self.cut_overflow(queue, proxy, api)
    }

    #[cold]
    fn cut_overflow(&self, queue: u64, proxy: &Proxy, api: &Api) -> Option<Cut> {
        let (base, size) = (proxy.base.load(Ordering::Relaxed), proxy.size.load(Ordering::Relaxed));
        let ring = Ring { queue, base, size };
        let write = write_index(&ring, api);
        // SAFETY: the application rings the queue's doorbell, so the queue exists.
        let seen = unsafe { wrapped::write_index(queue as *mut hsa_queue_t) };
        // Other words are 0, too. If another thread submits meanwhile, the next doorbell decides.
        if write != 0 && write == seen {
            self.has_known_layout.store(true, Ordering::Relaxed);
        }
        overflows(read_index(&ring, api), write, ring.size).then(|| Cut::at(&ring)).flatten()
    }
}

/// An invalid header that no application writes: the bits above its type are reserved.
const HELD_BACK: u16 = HSA_PACKET_TYPE_INVALID as u16 | 0xa000;

/// The first packet of a ring, held back: the runtime stops at it, as at one that is still being written.
pub struct Cut {
    header: &'static AtomicU16,
    first: u16,
}

impl Cut {
    /// `None` where the packet is not valid: the runtime stops there anyway.
    #[cold]
    fn at(ring: &Ring) -> Option<Self> {
        // SAFETY: the address is that of the first packet of a ring that exists, as its queue is being rung. Headers are written
        // as a whole.
        let header = unsafe { AtomicU16::from_ptr(ring.base as *mut u16) };
        let first = header.load(Ordering::Acquire);
        let is_valid = first & 0xff != HSA_PACKET_TYPE_INVALID as u16;
        let exchange =
            || header.compare_exchange(first, HELD_BACK, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        (is_valid && exchange()).then_some(Self { header, first })
    }

    /// Puts the packet back; false if another thread rang, and the runtime has taken the packet already.
    #[cold]
    pub fn put_back(self) -> bool {
        self.header.compare_exchange(HELD_BACK, self.first, Ordering::AcqRel, Ordering::Relaxed).is_ok()
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

    fn ring_of(packets: &mut [u16]) -> Ring {
        Ring { queue: 0x1000, base: packets.as_mut_ptr() as u64, size: 1 }
    }

    #[test]
    fn the_first_packet_is_held_back_until_it_is_put_back() {
        let packets = Box::leak(Box::new([0x1502_u16; 32]));
        let place = ring_of(packets);
        // SAFETY: the memory is never freed.
        let header = unsafe { AtomicU16::from_ptr(place.base as *mut u16) };
        let cut = Cut::at(&place).unwrap();
        assert_eq!(header.load(Ordering::Relaxed) & 0xff, HSA_PACKET_TYPE_INVALID as u16);
        assert!(Cut::at(&place).is_none(), "by one thread at a time");
        assert!(cut.put_back());
        assert_eq!(header.load(Ordering::Relaxed), 0x1502);
    }

    #[test]
    fn a_first_packet_that_is_not_valid_or_was_taken_meanwhile_is_left_as_it_is() {
        let packets = Box::leak(Box::new([0x1502_u16; 32]));
        let place = ring_of(packets);
        // SAFETY: the memory is never freed.
        let header = unsafe { AtomicU16::from_ptr(place.base as *mut u16) };
        let cut = Cut::at(&place).unwrap();
        // The runtime marks a packet that it has taken in this way.
        header.store(0x0101, Ordering::Relaxed);
        assert!(!cut.put_back());
        assert!(Cut::at(&place).is_none());
        assert_eq!(header.load(Ordering::Relaxed), 0x0101);
    }

    #[test]
    fn a_queue_is_known_until_it_is_destroyed() {
        let doorbells = Doorbells::default();
        let ring = Ring { queue: 0x1000, base: 0x2000, size: 64 };
        let is_known = || (doorbells.wrapped(0x1000).is_some(), doorbells.rung.get(0x3000).is_some());
        doorbells.add(0x3000, ring);
        assert_eq!(is_known(), (true, true));
        let hidden = doorbells.hide(0x1000).unwrap();
        assert_eq!((is_known(), doorbells.hide(0x1000).is_none()), ((false, false), true));
        hidden.stays();
        assert_eq!(is_known(), (true, true));
        let hidden = doorbells.hide(0x1000).unwrap();
        doorbells.add(0x3000, ring);
        hidden.destroyed();
        assert_eq!(is_known(), (true, true), "another queue at the same address");
    }
}
