//! Registers queues that are created, both the interceptible ones and those whose packets are not seen.

use hsa_sys::bindings::{
    HSA_QUEUE_TYPE_COOPERATIVE, HSA_STATUS_SUCCESS, hsa_agent_t, hsa_queue_t, hsa_queue_type32_t,
    hsa_status_t,
};

use super::guard::guarded;
use crate::base::counters::Lost;
use crate::base::log;
use crate::intercept::context::Context;
use crate::intercept::staging::Ring;

/// Registers a queue whose packets are not seen.
///
/// # Safety
/// The queue has just been created, and nothing destroys it yet.
pub(super) unsafe fn unseen(agent: hsa_agent_t, queue: *mut hsa_queue_t, why: Lost) {
    guarded(|tracer| {
        let is_recorded = tracer.gpu(agent.handle).is_some() && !tracer.settings.no_kernels;
        if is_recorded && !queue.is_null() {
            // SAFETY: our hooks see the destruction of the queue and its release.
            unsafe { tracer.queue_unseen(queue, why) };
        }
    });
}

/// Returns a recorded queue: the cooperative one that the GPU has already, or the one that `create` makes. The error is the
/// runtime's status.
pub(super) fn recorded(
    tracer: &Context,
    gpu: u16,
    kind: hsa_queue_type32_t,
    create: impl FnOnce(*mut *mut hsa_queue_t) -> hsa_status_t,
) -> Result<*mut hsa_queue_t, hsa_status_t> {
    let is_cooperative = kind == HSA_QUEUE_TYPE_COOPERATIVE;
    if is_cooperative && let Some(shared) = tracer.cooperative.join(gpu) {
        return Ok(shared as *mut hsa_queue_t);
    }
    let mut queue = std::ptr::null_mut();
    let status = create(&raw mut queue);
    if status != HSA_STATUS_SUCCESS {
        log::debug(format_args!("a queue cannot be intercepted ({status:#x})"));
        return Err(status);
    }
    // SAFETY: the queue is interceptible and has just been created.
    let registered = unsafe { record(tracer, gpu, queue) };
    if registered != HSA_STATUS_SUCCESS {
        log::warn(format_args!("a queue cannot be recorded ({registered:#x})"));
        // SAFETY: the queue has just been created, and our hook sees its destruction.
        unsafe { tracer.queue_unseen(queue, Lost::Unintercepted) };
    }
    if is_cooperative {
        tracer.cooperative.keep(gpu, queue as u64);
    }
    Ok(queue)
}

/// Records the packets of a queue; returns the runtime's status.
///
/// # Safety
/// The queue is interceptible, has just been created, and nothing destroys it yet.
unsafe fn record(tracer: &Context, gpu: u16, queue: *mut hsa_queue_t) -> hsa_status_t {
    // SAFETY: the caller promised that the queue exists.
    let created = unsafe { *queue };
    let ring = Ring { queue: queue as u64, base: created.base_address as u64, size: u64::from(created.size) };
    // SAFETY: the caller promised that the queue exists.
    let profiled = unsafe { (tracer.api.set_profiler_enabled)(queue, 1) };
    if profiled != HSA_STATUS_SUCCESS {
        log::debug(format_args!("a queue without times ({profiled:#x})"));
    }
    let intercepted = tracer.queue_created(gpu, ring, created.doorbell_signal.handle);
    // SAFETY: `intercepted` lives until `queue_destroy` knows that the queue is destroyed, and for ever if that remains unknown.
    let interceptor = unsafe { &*intercepted }.interceptor();
    // SAFETY: the queue is interceptible, and `intercepted` lives as long as it, as above.
    unsafe { (tracer.api.intercept_register)(queue, interceptor, intercepted.cast_mut().cast()) }
}
