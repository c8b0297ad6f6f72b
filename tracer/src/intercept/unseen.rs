//! Queues of the application whose packets do not pass the interceptor, and the numbers of their packets.
//!
//! The existence of a queue proves no work: HIP creates queues for programs that launch nothing. Its write index does, which
//! counts the packets that were written to it, and which no program moves without a packet.

#![expect(unsafe_code, reason = "reads the indices of queues of the runtime")]

use std::sync::Mutex;

use hsa_sys::bindings::{CoreApiTable, hsa_queue_t};

use crate::base::counters::{Counters, Lost};
use crate::base::try_lock::lock;

#[derive(Debug, Default)]
pub struct UnseenQueues(Mutex<Vec<Queue>>);

#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Address of the `hsa_queue_t`.
    address: u64,
    /// Address of the ring, which counted queues share.
    ring: u64,
    why: Lost,
    /// Packets that are counted already, or that were written before.
    counted: u64,
}

/// The write index of a queue; 0 where the runtime has no function for it.
///
/// # Safety
/// The queue exists.
unsafe fn written(queue: *const hsa_queue_t, core: &CoreApiTable) -> u64 {
    // SAFETY: the caller promised that the queue exists.
    core.hsa_queue_load_write_index_relaxed_fn.map_or(0, |index| unsafe { index(queue) })
}

fn count(queues: &mut [Queue], at: usize, core: &CoreApiTable, counters: &Counters) {
    let Queue { address, ring, why, counted } = queues[at];
    // SAFETY: the queue has been created and not been destroyed, as `add` was promised.
    let written = unsafe { written(address as *const hsa_queue_t, core) };
    lose(why, written.saturating_sub(counted), counters);
    for queue in queues.iter_mut().filter(|queue| queue.ring == ring) {
        queue.counted = queue.counted.max(written);
    }
}

/// Counts packets that were not seen.
pub fn lose(why: Lost, packets: u64, counters: &Counters) {
    if packets > 0 {
        counters.see(packets);
        counters.lose(why, packets);
    }
}

impl UnseenQueues {
    /// Adds a queue that was created.
    ///
    /// # Safety
    /// The queue exists until [`UnseenQueues::remove`] or the end of the runtime, after which nothing here is called.
    pub unsafe fn add(&self, queue: *mut hsa_queue_t, why: Lost, core: &CoreApiTable) {
        // SAFETY: the caller promised that the queue exists.
        let ring = unsafe { (*queue).base_address } as u64;
        // SAFETY: the caller promised that the queue exists.
        let counted = unsafe { written(queue, core) };
        lock(&self.0).push(Queue { address: queue as u64, ring, why, counted });
    }

    /// Called before a queue is destroyed; counts its packets.
    pub fn remove(&self, queue: u64, core: &CoreApiTable, counters: &Counters) {
        let mut queues = lock(&self.0);
        if let Some(at) = queues.iter().position(|known| known.address == queue) {
            count(&mut queues, at, core, counters);
            queues.swap_remove(at);
        }
    }

    /// Counts the packets of all queues. Does not wait for the lock, which may be held for ever at the end of the process.
    pub fn count(&self, core: &CoreApiTable, counters: &Counters) {
        if let Ok(mut queues) = self.0.try_lock() {
            (0..queues.len()).for_each(|at| count(&mut queues, at, core, counters));
        }
    }
}

/// Number of packets that were written to an interceptible queue which has taken none of them.
///
/// # Safety
/// The queue exists.
pub unsafe fn bypassed(queue: *const hsa_queue_t, core: &CoreApiTable) -> u64 {
    // SAFETY: the caller promised that the queue exists.
    let taken = core.hsa_queue_load_read_index_relaxed_fn.map(|index| unsafe { index(queue) });
    // SAFETY: the caller promised that the queue exists.
    if taken == Some(0) { unsafe { written(queue, core) } } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function of the simulated runtime, whose queues have their write index as id.
    unsafe extern "C" fn index(queue: *const hsa_queue_t) -> u64 {
        // SAFETY: the queue is one of this test.
        unsafe { (*queue).id }
    }

    fn address(queue: &hsa_queue_t) -> *mut hsa_queue_t {
        std::ptr::from_ref(queue).cast_mut()
    }

    fn queue(ring: usize) -> Box<hsa_queue_t> {
        // SAFETY: the fields are numbers and pointers, which may all be 0.
        let mut queue: hsa_queue_t = unsafe { std::mem::zeroed() };
        queue.base_address = ring as *mut std::ffi::c_void;
        Box::new(queue)
    }

    #[test]
    fn packets_count_once_whoever_shares_the_queue_of_the_hardware() {
        // SAFETY: the fields are a version and functions that may be absent.
        let mut core: CoreApiTable = unsafe { std::mem::zeroed() };
        core.hsa_queue_load_write_index_relaxed_fn = Some(index);
        let (unseen, counters) = (UnseenQueues::default(), Counters::default());
        let mut queues = [queue(0x1000), queue(0x1000), queue(0x2000)];
        let add = |queue: &hsa_queue_t| {
            // SAFETY: the queue outlives the test.
            unsafe { unseen.add(address(queue), Lost::Counted, &core) };
        };
        queues[2].id = 5;
        add(&queues[0]);
        add(&queues[2]);
        unseen.count(&core, &counters);
        assert_eq!(counters.snapshot().seen, 0, "the packets of others, before it was acquired");
        (queues[0].id, queues[1].id) = (7, 7);
        add(&queues[1]);
        (queues[0].id, queues[1].id) = (10, 10);
        unseen.count(&core, &counters);
        unseen.remove(address(&queues[1]) as u64, &core, &counters);
        queues[2].id = 6;
        unseen.remove(address(&queues[2]) as u64, &core, &counters);
        unseen.remove(0x3000, &core, &counters);
        assert_eq!(counters.snapshot().lost, [(Lost::Counted, 11)]);
    }
}
