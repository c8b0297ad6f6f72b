//! The types of the functions of AMD's extension table that a tracer calls or replaces.
//!
//! Types that ROCr 5.2.3 has are compared with its header when this crate is compiled ([`crate::table`]).
//! `hsa_amd_memory_async_copy_on_engine` is as in ROCr 7.2.4.

use core::ffi::c_void;

use crate::bindings::*;

/// Called when a queue or a fault has to be reported to the creator of the queue.
pub type QueueCallback =
    Option<unsafe extern "C" fn(status: hsa_status_t, source: *mut hsa_queue_t, data: *mut c_void)>;

/// `hsa_amd_profiling_set_profiler_enabled` decides whether the packets of a queue get start and end times.
pub type SetProfilerEnabled =
    unsafe extern "C" fn(queue: *mut hsa_queue_t, enable: core::ffi::c_int) -> hsa_status_t;

/// `hsa_amd_profiling_async_copy_enable` decides whether copies get start and end times, in the whole process.
pub type AsyncCopyEnable = unsafe extern "C" fn(enable: bool) -> hsa_status_t;

/// `hsa_amd_profiling_get_async_copy_time` gives start and end of the copy that completed with `signal`, in ticks of the system
/// clock.
pub type GetAsyncCopyTime = unsafe extern "C" fn(
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_async_copy_time_t,
) -> hsa_status_t;

/// `hsa_amd_profiling_convert_tick_to_system_domain` converts a tick of an agent's clock to one of the system's.
pub type ConvertTick =
    unsafe extern "C" fn(agent: hsa_agent_t, agent_tick: u64, system_tick: *mut u64) -> hsa_status_t;

/// `hsa_amd_memory_async_copy` returns before the copy is done, which then decrements `completion`.
pub type MemoryAsyncCopy = unsafe extern "C" fn(
    destination: *mut c_void,
    destination_agent: hsa_agent_t,
    source: *const c_void,
    source_agent: hsa_agent_t,
    bytes: usize,
    dependency_count: u32,
    dependencies: *const hsa_signal_t,
    completion: hsa_signal_t,
) -> hsa_status_t;

/// `hsa_amd_memory_async_copy_on_engine` copies on a given SDMA engine (a bit of `engine`).
pub type MemoryAsyncCopyOnEngine = unsafe extern "C" fn(
    destination: *mut c_void,
    destination_agent: hsa_agent_t,
    source: *const c_void,
    source_agent: hsa_agent_t,
    bytes: usize,
    dependency_count: u32,
    dependencies: *const hsa_signal_t,
    completion: hsa_signal_t,
    engine: core::ffi::c_uint,
    force_sdma: bool,
) -> hsa_status_t;

/// `hsa_amd_memory_async_copy_rect` copies a box between pitched buffers.
pub type MemoryAsyncCopyRect = unsafe extern "C" fn(
    destination: *const hsa_pitched_ptr_t,
    destination_offset: *const hsa_dim3_t,
    source: *const hsa_pitched_ptr_t,
    source_offset: *const hsa_dim3_t,
    range: *const hsa_dim3_t,
    agent: hsa_agent_t,
    direction: hsa_amd_copy_direction_t,
    dependency_count: u32,
    dependencies: *const hsa_signal_t,
    completion: hsa_signal_t,
) -> hsa_status_t;

/// `hsa_amd_memory_async_batch_copy` starts operations, each of which decrements its completion signal when it is done.
pub type MemoryAsyncBatchCopy = unsafe extern "C" fn(
    operations: *const CopyOperation,
    count: u32,
    dependency_count: u32,
    dependencies: *const hsa_signal_t,
) -> hsa_status_t;

/// `hsa_amd_memory_copy_op_t` of version 1. Where `entries` is not 0, several addresses, agents and sizes are in lists of the caller.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CopyOperation {
    /// Version 1 is the only known one.
    pub version: u16,
    /// 0 is linear, 1 a broadcast, 2 an exchange, 3 to 5 take an address from memory.
    pub kind: u16,
    /// Length of the lists; 0 where there are none.
    pub entries: u16,
    /// Always 0.
    pub traffic_class: u16,
    pub completion: hsa_signal_t,
    /// An address or a list of addresses.
    pub source: *const c_void,
    /// One agent for all sources.
    pub source_agent: hsa_agent_t,
    /// The handle of an agent, or the address of a list of agents.
    pub destination_agent: u64,
    /// An address or a list of addresses.
    pub destination: *mut c_void,
    /// Bytes, or the address of a list of them; of an exchange without lists both are bytes.
    pub size: [usize; 2],
    /// Words that the operation waits for before it starts.
    pub wait: [u64; 4],
    /// Words that the operation writes when it is done.
    pub signal: [u64; 3],
    /// Always 0.
    pub reserved: u64,
}

/// `hsa_amd_counted_queue_acquire` gives a queue of the runtime's, which several acquisitions may share.
pub type CountedQueueAcquire = unsafe extern "C" fn(
    agent: hsa_agent_t,
    kind: hsa_queue_type32_t,
    priority: hsa_amd_queue_priority_t,
    callback: QueueCallback,
    data: *mut c_void,
    flags: u64,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t;

/// `hsa_amd_counted_queue_release`.
pub type CountedQueueRelease = unsafe extern "C" fn(queue: *mut hsa_queue_t) -> hsa_status_t;

/// `hsa_amd_pointer_info` describes the memory at an address. `allocate` is for the list of agents that may use it, which is left
/// out where `agents` is null.
pub type PointerInfo = unsafe extern "C" fn(
    address: *const c_void,
    info: *mut hsa_amd_pointer_info_t,
    allocate: Option<unsafe extern "C" fn(bytes: usize) -> *mut c_void>,
    agent_count: *mut u32,
    agents: *mut *mut hsa_agent_t,
) -> hsa_status_t;

/// `hsa_amd_queue_intercept_create` makes a queue whose packets pass registered handlers before the hardware.
pub type QueueInterceptCreate = unsafe extern "C" fn(
    agent: hsa_agent_t,
    size: u32,
    kind: hsa_queue_type32_t,
    callback: QueueCallback,
    data: *mut c_void,
    private_segment_size: u32,
    group_segment_size: u32,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t;

/// `hsa_amd_queue_intercept_register` adds a handler to such a queue; the last one added is called first.
pub type QueueInterceptRegister = unsafe extern "C" fn(
    queue: *mut hsa_queue_t,
    handler: hsa_amd_queue_intercept_handler,
    data: *mut c_void,
) -> hsa_status_t;

/// `hsa_amd_queue_create` makes the queues of `count` descriptors. The first error is returned, and the descriptors behind it are
/// served all the same.
pub type QueueCreate =
    unsafe extern "C" fn(agent: hsa_agent_t, descriptors: *mut QueueDescriptor, count: u32) -> hsa_status_t;

/// `hsa_amd_queue_get_info` writes a `value` of the attribute's type.
pub type QueueGetInfo =
    unsafe extern "C" fn(queue: *mut hsa_queue_t, attribute: u32, value: *mut c_void) -> hsa_status_t;

/// `hsa_amd_queue_set_priority`.
pub type QueueSetPriority =
    unsafe extern "C" fn(queue: *mut hsa_queue_t, priority: hsa_amd_queue_priority_t) -> hsa_status_t;

/// `hsa_amd_queue_cu_set_mask` takes a mask of `count` bits.
pub type QueueCuSetMask =
    unsafe extern "C" fn(queue: *const hsa_queue_t, count: u32, mask: *const u32) -> hsa_status_t;

/// `hsa_amd_queue_create_desc_t` of version 1: a queue that is to be created.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QueueDescriptor {
    /// Version 1 is the only known one.
    pub version: u16,
    /// Bit 0: the ring lies in the memory of the GPU; bit 1: so does the descriptor of the queue.
    pub flags: u16,
    /// 0 is compute, 1 SDMA, 2 AIE.
    pub engine: u8,
    /// Always 0.
    pub reserved_header: [u8; 3],
    /// Bytes of the ring.
    pub size: u32,
    pub priority: hsa_amd_queue_priority_t,
    /// Called at errors of the queue.
    pub callback: QueueCallback,
    pub callback_data: *mut c_void,
    /// Written by the runtime, which returns the queue here.
    pub queue: *mut hsa_queue_t,
    /// Parameters of compute queues. Queues of other engines have other fields here.
    pub compute: ComputeQueue,
    /// Always 0.
    pub traffic_class: u32,
    /// Always 0.
    pub reserved: [u8; 20],
}

/// `hsa_amd_compute_queue_params_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ComputeQueue {
    /// A bit for each compute unit; null where `cu_mask_count` is 0.
    pub cu_mask: *const u32,
    /// As in `hsa_queue_create`.
    pub kind: hsa_queue_type32_t,
    /// As in `hsa_queue_create`.
    pub private_segment_size: u32,
    pub cu_mask_count: u32,
    /// Always 0.
    pub reserved: [u32; 3],
}
