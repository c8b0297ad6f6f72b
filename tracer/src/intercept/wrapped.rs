//! The queue of the hardware that an interceptible queue wraps, and the progress of the GPU in it.
//!
//! An interceptible queue takes packets out of the application's ring as soon as its doorbell rings: its read index shows room in
//! the ring, however far behind the GPU is. Packets that do not fit the queue of the hardware wait in a buffer, and the runtime
//! resumes the ring on a thread of its own when there is room. Runtimes that hand over packets in batches crash there
//! ([`crate::intercept::staging`]). So the application reads the index that it would read without interception, that of the
//! hardware. Then the two queues together never hold more packets than one ring has, and nothing waits in the buffer. The
//! application waits by itself, where and how it would without the tracer.

#![expect(unsafe_code, reason = "reads the indices of a queue of the runtime")]

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

use hsa_sys::bindings::{
    CoreApiTable, HSA_PACKET_TYPE_VENDOR_SPECIFIC, HSA_STATUS_SUCCESS, hsa_amd_queue_intercept_packet_writer,
    hsa_queue_t,
};

/// Offset of `write_dispatch_id` in `amd_queue_t` (amd_hsa_queue.h), whose first field is the `hsa_queue_t`.
const WRITE_INDEX: usize = 56;

/// `HSA_AMD_SYSTEM_INFO_EXT_VERSION_MINOR`.
const EXTENSION_MINOR: u32 = 0x208;

/// ROCm 7.0 and newer, which hand over packets in batches, have later versions of AMD's extension than 6.4, whose is 1.7.
const MARKERS_SINCE: u16 = 8;

/// True if this runtime calls the callback of a marker packet. Another one would hand it to the GPU.
pub fn has_markers(core: &CoreApiTable) -> bool {
    let mut minor = 0_u16;
    let Some(get_info) = core.hsa_system_get_info_fn else { return false };
    // SAFETY: the attribute is of the type of `minor`; a runtime that does not know it writes nothing.
    let status = unsafe { get_info(EXTENSION_MINOR, (&raw mut minor).cast()) };
    status == HSA_STATUS_SUCCESS && minor >= MARKERS_SINCE
}

#[derive(Default)]
pub struct HardwareQueue {
    /// Null until a marker packet has shown it.
    queue: AtomicPtr<hsa_queue_t>,
    is_requested: AtomicBool,
    /// A lower bound on the index up to which the runtime has taken the application's packets.
    taken: AtomicU64,
    /// Packets of the hardware's queue beyond those of the application: the runtime and other tools have added them.
    surplus: AtomicU64,
}

/// `amd_aql_intercept_marker_t`: the runtime calls back instead of submitting it.
#[repr(C)]
struct Marker {
    header: u16,
    format: u8,
    reserved: [u8; 5],
    callback: unsafe extern "C" fn(*const Self, *mut hsa_queue_t, u64),
    wrapped: *const HardwareQueue,
    index: u64,
    unused: [u64; 4],
}

/// `AMD_AQL_FORMAT_INTERCEPT_MARKER`.
const FORMAT: u8 = 0xfe;

impl HardwareQueue {
    /// Resets the state for a new queue.
    pub fn reset(&self) {
        self.queue.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.is_requested.store(false, Ordering::Relaxed);
        self.taken.store(0, Ordering::Relaxed);
    }

    /// The index that the interceptor was called with last: the runtime has taken all packets before it.
    #[inline(always)]
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Notes that the application's packets before this index are in the queue of the hardware.
    #[inline(always)]
    pub fn all_before(&self, index: u64) {
        self.taken.store(index, Ordering::Relaxed);
        let queue = self.queue.load(Ordering::Relaxed);
        if !queue.is_null() {
            // SAFETY: the queue that wraps it is in use.
            self.surplus.store(unsafe { write_index(queue) }.wrapping_sub(index), Ordering::Release);
        }
    }

    /// Requests the queue of the hardware, once, from within an interceptor that is at this index.
    ///
    /// # Safety
    /// `writer` is that of the interceptor, which is running.
    pub unsafe fn request(&'static self, index: u64, writer: hsa_amd_queue_intercept_packet_writer) {
        if self.is_requested.swap(true, Ordering::Relaxed) {
            return;
        }
        let marker = Marker {
            header: HSA_PACKET_TYPE_VENDOR_SPECIFIC as u16,
            format: FORMAT,
            reserved: [0; 5],
            callback: found,
            wrapped: self,
            index,
            unused: [0; 4],
        };
        if let Some(writer) = writer {
            // SAFETY: the marker is one packet, which the runtime is done with when the call returns.
            unsafe { writer((&raw const marker).cast(), 1) };
        }
    }

    /// The read index for the application: the number of its packets that the GPU has taken, of the `taken` ones that the
    /// interceptible queue has. `read_index` loads that of the hardware.
    #[inline]
    pub fn read_index(&self, taken: u64, read_index: impl FnOnce(*const hsa_queue_t) -> u64) -> u64 {
        let queue = self.queue.load(Ordering::Acquire);
        if queue.is_null() {
            return taken;
        }
        let read = read_index(queue);
        // Nothing is in flight, regardless of packets that were added or left out in between.
        // SAFETY: the queue that wraps it is in use.
        if read == unsafe { write_index(queue) } {
            return taken;
        }
        let done = read.wrapping_sub(self.surplus.load(Ordering::Acquire));
        // The GPU may be done with packets that the runtime has not yet freed in the ring.
        if (done.wrapping_sub(taken) as i64) < 0 { done } else { taken }
    }
}

/// Reads the write index of a queue, which callers compare with another source before they rely on it.
///
/// # Safety
/// The queue is one of the runtime and exists.
#[inline(always)]
pub unsafe fn write_index(queue: *mut hsa_queue_t) -> u64 {
    let index = queue.wrapping_byte_add(WRITE_INDEX).cast();
    // SAFETY: the place is aligned and in the runtime's `amd_queue_t`, whose first field is the `hsa_queue_t`.
    unsafe { AtomicU64::from_ptr(index) }.load(Ordering::Acquire)
}

/// Called by the runtime with the queue of the hardware, and the index at which the marker would be in it.
unsafe extern "C" fn found(marker: *const Marker, queue: *mut hsa_queue_t, write: u64) {
    // SAFETY: the runtime passes the packet on unchanged.
    let marker = unsafe { &*marker };
    // SAFETY: `request` has put the pointer there, and the structure is never freed.
    let wrapped = unsafe { &*marker.wrapped };
    // SAFETY: the runtime passes the queue of the hardware.
    if unsafe { write_index(queue) } == write {
        wrapped.surplus.store(write.wrapping_sub(marker.index), Ordering::Relaxed);
        wrapped.queue.store(queue, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A queue of the hardware, as far as its write index.
    #[repr(C, align(64))]
    struct Hardware([AtomicU64; 16]);

    /// The interceptible queue has taken 1,000 packets. The hardware's queue has those up to `write`, including `surplus` that
    /// others added; the GPU has taken those up to `read`.
    fn read_index(surplus: u64, write: u64, read: u64) -> u64 {
        let hardware = Hardware(Default::default());
        let set_write_index = |write| hardware.0[WRITE_INDEX / 8].store(write, Ordering::Relaxed);
        set_write_index(write - 10);
        let queue: *mut hsa_queue_t = (&raw const hardware).cast_mut().cast();
        let wrapped: &'static HardwareQueue = Box::leak(Box::default());
        assert_eq!(wrapped.read_index(1000, |_| panic!("unknown")), 1000);
        let marker = Marker {
            header: 0,
            format: FORMAT,
            reserved: [0; 5],
            callback: found,
            wrapped,
            index: write - 10 - surplus,
            unused: [0; 4],
        };
        // SAFETY: the pointers are to memory of this test.
        unsafe { (marker.callback)(&raw const marker, queue, write - 11) };
        assert_eq!(wrapped.read_index(1000, |_| panic!("at another place")), 1000);
        // SAFETY: the pointers are to memory of this test.
        unsafe { (marker.callback)(&raw const marker, queue, write - 10) };
        set_write_index(write);
        wrapped.all_before(write - surplus);
        wrapped.read_index(1000, |found| {
            assert_eq!(found, queue.cast_const());
            read
        })
    }

    #[test]
    fn the_marker_has_the_size_of_a_packet() {
        assert_eq!((size_of::<Marker>(), std::mem::offset_of!(Marker, callback)), (64, 8));
    }

    #[test]
    fn the_application_sees_the_progress_of_the_gpu() {
        assert_eq!(read_index(0, 1000, 400), 400);
        assert_eq!(read_index(7, 1007, 407), 400, "packets of others are not the application's");
        assert_eq!(read_index(0, 1000, 1000), 1000);
    }

    #[test]
    fn the_application_never_sees_more_than_the_ring_has_freed() {
        assert_eq!(read_index(0, 1010, 1005), 1000);
    }

    #[test]
    fn a_queue_without_packets_in_flight_is_empty_whatever_was_added() {
        assert_eq!(read_index(7, 990, 990), 1000);
    }
}
