//! The types of the functions of AMD's extension table that a tracer calls or replaces.
//!
//! Those that ROCr 5.2.3 has are compared with its header when this crate is compiled
//! ([`crate::table`]). `hsa_amd_memory_async_copy_on_engine` is as in ROCr 7.2.4.

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

/// `hsa_amd_profiling_get_async_copy_time`: start and end of the copy that completed with `signal`, in ticks
/// of the system clock.
pub type GetAsyncCopyTime = unsafe extern "C" fn(
    signal: hsa_signal_t,
    time: *mut hsa_amd_profiling_async_copy_time_t,
) -> hsa_status_t;

/// `hsa_amd_profiling_convert_tick_to_system_domain`: from a tick of an agent's clock to one of the system's.
pub type ConvertTick =
    unsafe extern "C" fn(agent: hsa_agent_t, agent_tick: u64, system_tick: *mut u64) -> hsa_status_t;

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

/// `hsa_amd_pointer_info`: what the runtime knows of the memory at an address. `allocate` is for the list of agents that
/// may use it, which is not asked for where `agents` is null.
pub type PointerInfo = unsafe extern "C" fn(
    address: *const c_void,
    info: *mut hsa_amd_pointer_info_t,
    allocate: Option<unsafe extern "C" fn(bytes: usize) -> *mut c_void>,
    agent_count: *mut u32,
    agents: *mut *mut hsa_agent_t,
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
