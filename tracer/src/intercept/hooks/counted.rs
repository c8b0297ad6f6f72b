//! Hooks of counted queues (`hsa_amd_counted_queue_acquire`), several of which share a queue of the hardware.
//!
//! The runtime makes them itself, and interceptors can be registered on queues of `hsa_amd_queue_intercept_create` only.
//! Interceptible queues in their place would each take a queue of the hardware, of which there are few. So they are not recorded,
//! which is reported and counted.

use std::ffi::c_void;
use std::sync::atomic::AtomicBool;

use hsa_sys::bindings::{
    HSA_STATUS_SUCCESS, hsa_agent_t, hsa_amd_queue_priority_t, hsa_queue_t, hsa_queue_type32_t, hsa_status_t,
};
use hsa_sys::function::{CountedQueueAcquire, CountedQueueRelease, QueueCallback};
use hsa_sys::table;

use super::guard::{guarded, original};
use super::queues::unseen;
use crate::base::api::Tables;
use crate::base::counters::Lost;
use crate::base::log;

pub(super) fn install(tables: &Tables) {
    tables.replace(&table::COUNTED_QUEUE_ACQUIRE, acquire as CountedQueueAcquire);
    tables.replace(&table::COUNTED_QUEUE_RELEASE, release as CountedQueueRelease);
}

unsafe extern "C" fn acquire(
    agent: hsa_agent_t,
    kind: hsa_queue_type32_t,
    priority: hsa_amd_queue_priority_t,
    callback: QueueCallback,
    data: *mut c_void,
    flags: u64,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t {
    let status = original!(counted_queue_acquire(agent, kind, priority, callback, data, flags, queue));
    if status == HSA_STATUS_SUCCESS {
        static SAID: AtomicBool = AtomicBool::new(false);
        guarded(|_| log::warn_once(&SAID, format_args!("packets on counted queues are not recorded")));
        // SAFETY: the runtime has put a queue there.
        let queue = unsafe { *queue };
        // SAFETY: the queue has just been acquired.
        unsafe { unseen(agent, queue, Lost::Counted) };
    }
    status
}

unsafe extern "C" fn release(queue: *mut hsa_queue_t) -> hsa_status_t {
    guarded(|tracer| tracer.unseen_ends(queue as u64));
    original!(counted_queue_release(queue))
}
