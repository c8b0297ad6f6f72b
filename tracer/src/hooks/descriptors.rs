//! Queues by descriptor (`hsa_amd_queue_create`), as HIP of ROCm 10 creates all of its queues.
//!
//! The runtime makes plain queues of the descriptors, and `hsa_amd_queue_intercept_register` takes interceptible ones only. So
//! each queue that can be recorded is replaced by an interceptible one with the same properties, before the application
//! learns of it. A ring in the memory of the GPU becomes one in system memory (docs/design/dispatch.md).

use std::ffi::c_void;
use std::sync::atomic::AtomicBool;

use hsa_sys::bindings::{
    HSA_AMD_QUEUE_PRIORITY_NORMAL, HSA_STATUS_ERROR, HSA_STATUS_ERROR_INVALID_ARGUMENT, HSA_STATUS_SUCCESS,
    hsa_agent_t, hsa_queue_t, hsa_status_t,
};
use hsa_sys::function::{QueueCreate, QueueDescriptor, QueueGetInfo};
use hsa_sys::table;

use super::{guarded, is_cooperative, record};
use crate::api::Tables;
use crate::story;
use crate::tracer::{self, Tracer};

/// The version of descriptors whose size and fields are known.
const VERSION: u16 = 1;

/// `HSA_AMD_QUEUE_ENGINE_COMPUTE`.
const COMPUTE: u8 = 0;

const PACKET_BYTES: u32 = 64;

/// `HSA_STATUS_CU_MASK_REDUCED`: the mask is set, as far as the GPU has the units.
const CU_MASK_REDUCED: hsa_status_t = 44;

/// Attributes of `hsa_amd_queue_get_info` by which an application writes packets past the interceptor: the doorbell and the
/// ring of metadata, which are those of the queue of the hardware, and the pointers of the ring.
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
    let Some(create) = tracer::get().and_then(|tracer| tracer.api.queue_create) else {
        return HSA_STATUS_ERROR;
    };
    // SAFETY: the caller has so many descriptors there, of which those before another version have this size.
    let descriptors_of = || unsafe { known(descriptors, count) };
    // A runtime that refuses the call as a whole leaves the fields as they are.
    for descriptor in descriptors_of() {
        descriptor.queue = std::ptr::null_mut();
    }
    let _turn = guarded(|tracer| tracer.creations.take());
    // SAFETY: the arguments are the caller's, passed on as they came.
    let status = unsafe { create(agent, descriptors, count) };
    let replaced = guarded(|tracer| {
        let gpu = tracer.gpu(agent.handle).filter(|_| !tracer.settings.no_kernels)?;
        let created = descriptors_of().iter_mut().filter(|descriptor| !descriptor.queue.is_null());
        let statuses = created.map(|descriptor| replace(tracer, gpu, agent, descriptor));
        // All are replaced, and the first error counts, as in the runtime.
        statuses.fold(None, |first, status| first.or((status != HSA_STATUS_SUCCESS).then_some(status)))
    });
    if status == HSA_STATUS_SUCCESS { replaced.flatten().unwrap_or(status) } else { status }
}

/// The descriptors up to the first of another version, whose size is not known.
///
/// # Safety
/// `descriptors` is null or points to `count` descriptors, which nothing else uses meanwhile.
unsafe fn known<'a>(descriptors: *mut QueueDescriptor, count: u32) -> &'a mut [QueueDescriptor] {
    let version = |at| {
        // SAFETY: within the caller's descriptors, because those before it are of the known size.
        let descriptor = unsafe { descriptors.add(at) };
        // SAFETY: as above, and every version begins with its number.
        unsafe { (*descriptor).version }
    };
    let count = if descriptors.is_null() { 0 } else { count as usize };
    match (0..count).take_while(|&at| version(at) == VERSION).count() {
        0 => &mut [],
        // SAFETY: the caller's promise, for descriptors of the known size.
        known => unsafe { std::slice::from_raw_parts_mut(descriptors, known) },
    }
}

/// Puts an interceptible queue in the place of the one that the runtime has made. Where that fails, the application has a plain
/// queue, and one line reports that it is not recorded. An error means that the application has no queue.
fn replace(tracer: &Tracer, gpu: u16, agent: hsa_agent_t, descriptor: &mut QueueDescriptor) -> hsa_status_t {
    static ENGINE: AtomicBool = AtomicBool::new(false);
    static COOPERATIVE: AtomicBool = AtomicBool::new(false);
    static QUEUE: AtomicBool = AtomicBool::new(false);
    if descriptor.engine != COMPUTE {
        let engine = match descriptor.engine {
            1 => "SDMA",
            2 => "AIE",
            _ => "another engine",
        };
        story::once(&ENGINE, format_args!("packets on queues of {engine} are not recorded"));
        return HSA_STATUS_SUCCESS;
    }
    // The runtime crashes (SIGFPE in ROCr 5.2.3) when a GPU gets an interceptible one beside its only one.
    if is_cooperative(descriptor.compute.kind) {
        story::once(&COOPERATIVE, format_args!("packets on cooperative queues are not recorded"));
        return HSA_STATUS_SUCCESS;
    }
    let plain = descriptor.queue;
    // It also crashes when two queues at a time ask for scratch memory of another size than the default.
    let is_alone = descriptor.compute.private_segment_size != u32::MAX;
    if is_alone {
        destroy(tracer, plain);
    }
    // A panic must not leave the application with a queue that is destroyed.
    let made = guarded(|tracer| intercepted(tracer, gpu, agent, descriptor));
    match made.unwrap_or(Err(HSA_STATUS_ERROR)) {
        Ok(queue) => {
            descriptor.queue = queue;
            if !is_alone {
                destroy(tracer, plain);
            }
            HSA_STATUS_SUCCESS
        }
        Err(status) => {
            story::once(&QUEUE, format_args!("a queue cannot be recorded ({status:#x})"));
            if is_alone { create_again(tracer, agent, descriptor) } else { HSA_STATUS_SUCCESS }
        }
    }
}

/// Gives the application the plain queue that it has asked for.
fn create_again(tracer: &Tracer, agent: hsa_agent_t, descriptor: &mut QueueDescriptor) -> hsa_status_t {
    descriptor.queue = std::ptr::null_mut();
    let Some(create) = tracer.api.queue_create else { return HSA_STATUS_ERROR };
    // SAFETY: one descriptor, which the runtime has accepted before.
    unsafe { create(agent, descriptor, 1) }
}

/// An interceptible queue that is recorded, with the properties of the descriptor; else the status of the call that failed.
fn intercepted(
    tracer: &Tracer,
    gpu: u16,
    agent: hsa_agent_t,
    descriptor: &QueueDescriptor,
) -> Result<*mut hsa_queue_t, hsa_status_t> {
    let (compute, mut queue) = (&descriptor.compute, std::ptr::null_mut());
    // SAFETY: what the runtime has just accepted in the descriptor, and `queue` outlives the call.
    let status = unsafe {
        (tracer.api.intercept_create)(
            agent,
            descriptor.size / PACKET_BYTES,
            compute.kind,
            descriptor.callback,
            descriptor.callback_data,
            compute.private_segment_size,
            u32::MAX,
            &raw mut queue,
        )
    };
    succeeded(status)?;
    // SAFETY: `queue` has just been created, and only this function knows it.
    let prepared = unsafe { prepare(tracer, queue, descriptor) };
    if let Err(status) = prepared {
        destroy(tracer, queue);
        return Err(status);
    }
    // SAFETY: as above.
    let registered = unsafe { record(tracer, gpu, queue) };
    if registered != HSA_STATUS_SUCCESS {
        let leaving = tracer.queue_ends(queue as u64);
        destroy(tracer, queue);
        leaving.into_iter().for_each(|leaving| tracer.queue_destroyed(leaving));
    }
    succeeded(registered).map(|()| queue)
}

/// Gives a queue the priority and the compute units of the descriptor.
///
/// # Safety
/// The queue is alive, and the descriptor is one that the runtime has accepted.
unsafe fn prepare(
    tracer: &Tracer,
    queue: *mut hsa_queue_t,
    descriptor: &QueueDescriptor,
) -> Result<(), hsa_status_t> {
    if descriptor.priority != HSA_AMD_QUEUE_PRIORITY_NORMAL {
        let set = tracer.api.queue_set_priority.ok_or(HSA_STATUS_ERROR)?;
        // SAFETY: as the caller promised.
        succeeded(unsafe { set(queue, descriptor.priority) })?;
    }
    let compute = &descriptor.compute;
    if compute.cu_mask_count > 0 {
        let set = tracer.api.queue_cu_set_mask.ok_or(HSA_STATUS_ERROR)?;
        // SAFETY: as the caller promised.
        match unsafe { set(queue, compute.cu_mask_count, compute.cu_mask) } {
            CU_MASK_REDUCED => (),
            status => succeeded(status)?,
        }
    }
    Ok(())
}

fn succeeded(status: hsa_status_t) -> Result<(), hsa_status_t> {
    if status == HSA_STATUS_SUCCESS { Ok(()) } else { Err(status) }
}

/// Destroys a queue that the application has never seen.
fn destroy(tracer: &Tracer, queue: *mut hsa_queue_t) {
    if let Some(destroy) = tracer.api.core.hsa_queue_destroy_fn {
        // SAFETY: the queue is alive, and nothing else knows it.
        unsafe { destroy(queue) };
    }
}

/// What would lead an application past the interceptor is refused for queues that are recorded: HIP then rings their doorbell
/// by its signal.
unsafe extern "C" fn queue_get_info(
    queue: *mut hsa_queue_t,
    attribute: u32,
    value: *mut c_void,
) -> hsa_status_t {
    if DIRECT.contains(&attribute) && guarded(|tracer| tracer.is_intercepted(queue as u64)) == Some(true) {
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    match tracer::get().and_then(|tracer| tracer.api.queue_get_info) {
        // SAFETY: the arguments are the caller's, passed on as they came.
        Some(get_info) => unsafe { get_info(queue, attribute, value) },
        None => HSA_STATUS_ERROR,
    }
}
