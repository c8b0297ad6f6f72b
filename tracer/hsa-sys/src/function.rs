//! The types of the functions of AMD's extension table that a tracer calls or replaces.
//!
//! Those that ROCr 5.2.3 has are compared with its header when this crate is compiled
//! ([`crate::table`]). `hsa_amd_memory_async_copy_on_engine` is as in ROCr 7.2.4; the batch copy and the counted
//! queues are as on the development branch after it.

use core::ffi::c_void;

use crate::bindings::*;

/// Called when a queue or a fault has to be reported to whoever created the queue.
pub type QueueCallback =
    Option<unsafe extern "C" fn(status: hsa_status_t, source: *mut hsa_queue_t, data: *mut c_void)>;

/// `hsa_amd_profiling_set_profiler_enabled`: whether the packets of a queue get start and end times.
pub type SetProfilerEnabled =
    unsafe extern "C" fn(queue: *mut hsa_queue_t, enable: core::ffi::c_int) -> hsa_status_t;

/// `hsa_amd_profiling_async_copy_enable`: whether copies get start and end times, process-wide.
pub type AsyncCopyEnable = unsafe extern "C" fn(enable: bool) -> hsa_status_t;

/// `hsa_amd_profiling_get_dispatch_time`: start and end of the packet that completed with `signal`, in ticks
/// of the system clock (`HSA_SYSTEM_INFO_TIMESTAMP`).
pub type GetDispatchTime = unsafe extern "C" fn(
    agent: hsa_agent_t,
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_dispatch_time_t,
) -> hsa_status_t;

/// `hsa_amd_profiling_get_async_copy_time`: start and end of the copy that completed with `signal`, in ticks
/// of the system clock.
pub type GetAsyncCopyTime = unsafe extern "C" fn(
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_async_copy_time_t,
) -> hsa_status_t;

/// `hsa_amd_profiling_convert_tick_to_system_domain`: from a tick of an agent's clock to one of the system's.
pub type ConvertTick =
    unsafe extern "C" fn(agent: hsa_agent_t, agent_tick: u64, system_tick: *mut u64) -> hsa_status_t;

/// `hsa_amd_signal_async_handler`: calls `handler` on a thread of the runtime when the condition holds.
pub type SignalAsyncHandler = unsafe extern "C" fn(
    signal: hsa_signal_t,
    condition: hsa_signal_condition_t,
    value: hsa_signal_value_t,
    handler: hsa_amd_signal_handler,
    data: *mut c_void,
) -> hsa_status_t;

/// `hsa_amd_signal_wait_any`: the index of the first of several signals whose condition holds.
pub type SignalWaitAny = unsafe extern "C" fn(
    count: u32,
    signals: *mut hsa_signal_t,
    conditions: *mut hsa_signal_condition_t,
    values: *mut hsa_signal_value_t,
    timeout: u64,
    wait: hsa_wait_state_t,
    satisfying: *mut hsa_signal_value_t,
) -> u32;

/// `hsa_amd_queue_cu_set_mask`: restricts a queue to some compute units.
pub type QueueSetCuMask =
    unsafe extern "C" fn(queue: *const hsa_queue_t, bits: u32, mask: *const u32) -> hsa_status_t;

/// `hsa_amd_queue_cu_get_mask`: which compute units a queue may use.
pub type QueueGetCuMask =
    unsafe extern "C" fn(queue: *const hsa_queue_t, bits: u32, mask: *mut u32) -> hsa_status_t;

/// `hsa_amd_memory_async_copy`: a copy that decrements `completion` when done. Returns before.
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

/// `hsa_amd_memory_async_copy_on_engine`: the same on a given SDMA engine (a bit of `engine`).
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

/// `hsa_amd_memory_async_copy_rect`: a copy of a box between pitched buffers.
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

/// `hsa_amd_memory_async_batch_copy`: several copies at once. The type of the array's elements is not in the
/// headers of ROCr 5.2.3 and is not described here.
pub type MemoryAsyncBatchCopy = unsafe extern "C" fn(
    copies: *const c_void,
    copy_count: u32,
    dependency_count: u32,
    dependencies: *const hsa_signal_t,
) -> hsa_status_t;

/// `hsa_amd_memory_fill`: fills `count` words of 32 bits.
pub type MemoryFill =
    unsafe extern "C" fn(destination: *mut c_void, value: u32, count: usize) -> hsa_status_t;

/// `hsa_amd_pointer_info`: what the runtime knows of the memory at an address. `allocate` is for the list of agents that
/// may use it, which is not asked for where `agents` is null.
pub type PointerInfo = unsafe extern "C" fn(
    address: *const c_void,
    info: *mut hsa_amd_pointer_info_t,
    allocate: Option<unsafe extern "C" fn(bytes: usize) -> *mut c_void>,
    agent_count: *mut u32,
    agents: *mut *mut hsa_agent_t,
) -> hsa_status_t;

/// `hsa_amd_signal_create`: a signal with attributes (`HSA_AMD_SIGNAL_*`).
pub type SignalCreate = unsafe extern "C" fn(
    initial: hsa_signal_value_t,
    consumer_count: u32,
    consumers: *const hsa_agent_t,
    attributes: u64,
    signal: *mut hsa_signal_t,
) -> hsa_status_t;

/// `hsa_amd_queue_intercept_create`: a queue whose packets pass registered handlers before the hardware.
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

/// `hsa_amd_queue_intercept_register`: adds a handler to such a queue; the last one added is called first.
pub type QueueInterceptRegister = unsafe extern "C" fn(
    queue: *mut hsa_queue_t,
    handler: hsa_amd_queue_intercept_handler,
    data: *mut c_void,
) -> hsa_status_t;

/// `hsa_amd_queue_set_priority`.
pub type QueueSetPriority =
    unsafe extern "C" fn(queue: *mut hsa_queue_t, priority: hsa_amd_queue_priority_t) -> hsa_status_t;

/// `hsa_amd_runtime_queue_create_register`: be told of the queues that the runtime creates for itself.
pub type RuntimeQueueCreateRegister =
    unsafe extern "C" fn(notifier: hsa_amd_runtime_queue_notifier, data: *mut c_void) -> hsa_status_t;

/// `hsa_amd_counted_queue_acquire`: a queue handle that may share its hardware queue with other handles, and
/// does not come from `hsa_queue_create` (rocm-systems 00bfe167, hsa_ext_amd.h).
pub type CountedQueueAcquire = unsafe extern "C" fn(
    agent: hsa_agent_t,
    kind: hsa_queue_type_t,
    priority: hsa_amd_queue_priority_t,
    callback: QueueCallback,
    data: *mut c_void,
    flags: u64,
    queue: *mut *mut hsa_queue_t,
) -> hsa_status_t;

/// `hsa_amd_counted_queue_release`.
pub type CountedQueueRelease = unsafe extern "C" fn(queue: *mut hsa_queue_t) -> hsa_status_t;
