//! Hooks of queues by descriptor (`hsa_amd_queue_create`), as HIP of ROCm 10 creates all of its queues.
//!
//! The runtime makes plain queues of the descriptors, and `hsa_amd_queue_intercept_register` takes interceptible ones only. So an
//! interceptible queue with the same properties is made in place of each queue that can be recorded. The plain one is never made:
//! HIP holds a lock here that its callbacks take, and the destruction of a queue waits for them. A ring in the memory of the GPU
//! becomes one in system memory (docs/design/dispatch.md).

use std::ffi::c_void;
use std::sync::atomic::AtomicBool;

use hsa_sys::bindings::{
    HSA_AMD_QUEUE_PRIORITY_NORMAL, HSA_STATUS_ERROR, HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_SUCCESS,
    hsa_agent_t, hsa_queue_t, hsa_status_t,
};
use hsa_sys::function::{QueueCreate, QueueDescriptor, QueueGetInfo};
use hsa_sys::table;

use super::guard::{guarded, original};
use super::queues::{recorded, unseen};
use crate::base::api::Tables;
use crate::base::counters::Lost;
use crate::base::headroom;
use crate::base::log;
use crate::intercept::context::Context;

/// The only version of descriptors whose size and fields are known.
const VERSION: u16 = 1;

/// `HSA_AMD_QUEUE_ENGINE_COMPUTE`.
const COMPUTE: u8 = 0;

const PACKET_BYTES: u32 = 64;

/// Flags of a descriptor whose meaning is known: the memory of the ring and of the queue's structure.
const KNOWN_FLAGS: u16 = 0b11;

/// Attributes of `hsa_amd_queue_get_info` by which an application writes packets past the interceptor: the doorbell and the ring
/// of metadata, which are those of the queue of the hardware, and the pointers of the ring.
const DIRECT: [u32; 4] = [DOORBELL_ID, METADATA_RING, READ_POINTER, WRITE_POINTER];
const DOORBELL_ID: u32 = 1;
const METADATA_RING: u32 = 8;
const READ_POINTER: u32 = 15;
const WRITE_POINTER: u32 = 16;

pub(super) fn install(tables: &Tables) {
    tables.replace(&table::QUEUE_CREATE, queue_create as QueueCreate);
    tables.replace(&table::QUEUE_GET_INFO, queue_get_info as QueueGetInfo);
}

unsafe extern "C" fn queue_create(
    agent: hsa_agent_t,
    descriptors: *mut QueueDescriptor,
    count: u32,
) -> hsa_status_t {
    let original = |descriptors, count| original!(queue_create(agent, descriptors, count));
    let gpu = guarded(|tracer| tracer.gpu(agent.handle).filter(|_| !tracer.settings.no_kernels)).flatten();
    let Some(gpu) = gpu else { return original(descriptors, count) };
    // SAFETY: the caller has `count` descriptors there, of which those before another version have this size.
    let known = unsafe { known(descriptors, count) };
    if known.is_empty() {
        return original(descriptors, count);
    }
    let rest = count - known.len() as u32;
    // SAFETY: the result is at most at the end of the caller's `count` descriptors.
    let unknown = unsafe { descriptors.add(known.len()) };
    let _turn = guarded(|tracer| tracer.creations.take());
    let of_known = known.iter_mut().map(|descriptor| {
        descriptor.queue = std::ptr::null_mut();
        match guarded(|tracer| intercepted(tracer, gpu, agent, descriptor)).flatten() {
            Some(queue) => {
                descriptor.queue = queue;
                HSA_STATUS_SUCCESS
            }
            None => {
                let status = original(descriptor, 1);
                if !descriptor.queue.is_null() {
                    report_unrecorded(descriptor);
                    let why = if descriptor.engine == COMPUTE { Lost::Unintercepted } else { Lost::Engine };
                    // SAFETY: the runtime has just created the queue.
                    unsafe { unseen(agent, descriptor.queue, why) };
                }
                status
            }
        }
    });
    // As in the runtime, an error does not stop the others, and the first one is returned.
    let first_error = |first, status| if first == HSA_STATUS_SUCCESS { status } else { first };
    let status = of_known.fold(HSA_STATUS_SUCCESS, first_error);
    if rest == 0 {
        return status;
    }
    let status_of_rest = original(unknown, rest);
    if status_of_rest == HSA_STATUS_SUCCESS {
        static VERSION: AtomicBool = AtomicBool::new(false);
        log::warn_once(
            &VERSION,
            format_args!("queues by descriptors of an unknown version are not recorded"),
        );
    }
    first_error(status, status_of_rest)
}

/// The descriptors up to the first one of another version, whose size is not known.
///
/// # Safety
/// `descriptors` is null or points to `count` descriptors, which nothing else uses meanwhile.
unsafe fn known<'a>(descriptors: *mut QueueDescriptor, count: u32) -> &'a mut [QueueDescriptor] {
    let version = |at| {
        // SAFETY: the pointer is within the caller's descriptors, because those before it are of the known size.
        let descriptor = unsafe { descriptors.add(at) };
        // SAFETY: the pointer is within the caller's descriptors, and every version begins with its number.
        unsafe { (*descriptor).version }
    };
    let count = if descriptors.is_null() { 0 } else { count as usize };
    match (0..count).take_while(|&at| version(at) == VERSION).count() {
        0 => &mut [],
        // SAFETY: the caller promised `count` descriptors, and these are of the known size.
        known => unsafe { std::slice::from_raw_parts_mut(descriptors, known) },
    }
}

/// Reports that the packets of a queue are not recorded, in one line for each reason.
fn report_unrecorded(descriptor: &QueueDescriptor) {
    static ENGINE: AtomicBool = AtomicBool::new(false);
    static FLAGS: AtomicBool = AtomicBool::new(false);
    static QUEUE: AtomicBool = AtomicBool::new(false);
    match (descriptor.engine, descriptor.flags) {
        (COMPUTE, ..=KNOWN_FLAGS) => {
            log::warn_once(&QUEUE, format_args!("a queue is not recorded: it cannot be intercepted"))
        }
        (COMPUTE, flags) => {
            log::warn_once(&FLAGS, format_args!("packets on queues with flags {flags:#x} are not recorded"));
        }
        (engine, _) => {
            let engine = match engine {
                1 => "SDMA",
                2 => "AIE",
                _ => "another engine",
            };
            log::warn_once(&ENGINE, format_args!("packets on queues of {engine} are not recorded"));
        }
    }
}

/// Makes an interceptible queue with the properties of the descriptor, and records it. `None` leaves the descriptor, and the
/// error of one that is wrong, to the runtime.
fn intercepted(
    tracer: &Context,
    gpu: u16,
    agent: hsa_agent_t,
    descriptor: &QueueDescriptor,
) -> Option<*mut hsa_queue_t> {
    let is_known = descriptor.engine == COMPUTE && descriptor.flags <= KNOWN_FLAGS;
    if !is_known
        || headroom::is_gone()
        || !descriptor.size.is_power_of_two()
        || descriptor.size < PACKET_BYTES
    {
        return None;
    }
    let compute = &descriptor.compute;
    let create = |queue| {
        // SAFETY: the arguments are the caller's, and the result goes to a place for a queue.
        unsafe {
            (tracer.api.intercept_create)(
                agent,
                descriptor.size / PACKET_BYTES,
                compute.kind,
                descriptor.callback,
                descriptor.callback_data,
                compute.private_segment_size,
                u32::MAX,
                queue,
            )
        }
    };
    recorded(tracer, gpu, compute.kind, |queue| {
        let status = create(queue);
        if status != HSA_STATUS_SUCCESS {
            return status;
        }
        // SAFETY: the runtime has just created the queue and written it there.
        let queue = unsafe { *queue };
        // SAFETY: the queue is alive, and the caller has a mask with the bits that the descriptor counts.
        let prepared = unsafe { prepare(tracer, queue, descriptor) };
        if prepared != HSA_STATUS_SUCCESS {
            destroy(tracer, queue);
        }
        prepared
    })
    .ok()
}

/// Gives a queue the priority and the compute units of the descriptor; returns the status of the first call that fails. A mask
/// with units that the GPU lacks is an error, as in the runtime.
///
/// # Safety
/// The queue is alive, and the mask of the descriptor has the bits that it counts.
unsafe fn prepare(tracer: &Context, queue: *mut hsa_queue_t, descriptor: &QueueDescriptor) -> hsa_status_t {
    let (api, compute) = (&tracer.api, &descriptor.compute);
    if descriptor.priority != HSA_AMD_QUEUE_PRIORITY_NORMAL {
        let status = match api.queue_set_priority {
            // SAFETY: the caller promised that the queue is alive.
            Some(set) => unsafe { set(queue, descriptor.priority) },
            None => HSA_STATUS_ERROR,
        };
        if status != HSA_STATUS_SUCCESS {
            return status;
        }
    }
    match api.queue_cu_set_mask {
        _ if compute.cu_mask_count == 0 => HSA_STATUS_SUCCESS,
        // SAFETY: the caller promised that the queue is alive and the mask has these bits.
        Some(set) => unsafe { set(queue, compute.cu_mask_count, compute.cu_mask) },
        None => HSA_STATUS_ERROR,
    }
}

/// Destroys a queue that the application has never seen.
fn destroy(tracer: &Context, queue: *mut hsa_queue_t) {
    if let Some(destroy) = tracer.api.core.hsa_queue_destroy_fn {
        // SAFETY: the queue is alive, and nothing else knows it.
        unsafe { destroy(queue) };
    }
}

/// Refuses, for recorded queues, the attributes by which an application would pass by the interceptor: HIP then rings their
/// doorbell by its signal.
unsafe extern "C" fn queue_get_info(
    queue: *mut hsa_queue_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    if DIRECT.contains(&attribute) && guarded(|tracer| tracer.is_intercepted(queue as u64)) == Some(true) {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    original!(queue_get_info(queue, attribute, value))
}
