//! The functions of AMD's extension table that a tracer calls or replaces, with their types.

use core::mem::{offset_of, size_of};

use super::generations::generation;
use super::{AmdTable, Entry, Generation};
use crate::bindings::AmdExtTable;
use crate::function::*;

/// Declares entries. The compiler checks type and offset of those with `in header` against the header of ROCr 5.2.3.
macro_rules! entries {
    ($(
        $(#[$about:meta])*
        $entry:ident: $function:ty = $name:ident $(in header $field:ident)?;
    )+) => {$(
        $(#[$about])*
        pub const $entry: Entry<$function> = Entry::new(super::Number::$name);
        $( const _: () = {
            const fn same(table: &AmdExtTable) -> &Option<$function> {
                &table.$field
            }
            let _ = same;
            let here = AmdTable(&HEADER).offset(&$entry);
            assert!(matches!(here, Some(offset) if offset == offset_of!(AmdExtTable, $field)));
        }; )?
    )+};
}

/// The header that the bindings were made from.
const HEADER: Generation = generation(1, size_of::<AmdExtTable>() as u32, "ROCr 5.2.3");

entries! {
    SET_PROFILER_ENABLED: SetProfilerEnabled = hsa_amd_profiling_set_profiler_enabled
        in header hsa_amd_profiling_set_profiler_enabled_fn;
    ASYNC_COPY_ENABLE: AsyncCopyEnable = hsa_amd_profiling_async_copy_enable
        in header hsa_amd_profiling_async_copy_enable_fn;
    GET_ASYNC_COPY_TIME: GetAsyncCopyTime = hsa_amd_profiling_get_async_copy_time
        in header hsa_amd_profiling_get_async_copy_time_fn;
    CONVERT_TICK: ConvertTick = hsa_amd_profiling_convert_tick_to_system_domain
        in header hsa_amd_profiling_convert_tick_to_system_domain_fn;
    MEMORY_ASYNC_COPY: MemoryAsyncCopy = hsa_amd_memory_async_copy in header hsa_amd_memory_async_copy_fn;
    MEMORY_ASYNC_COPY_ON_ENGINE: MemoryAsyncCopyOnEngine = hsa_amd_memory_async_copy_on_engine;
    MEMORY_ASYNC_COPY_RECT: MemoryAsyncCopyRect = hsa_amd_memory_async_copy_rect
        in header hsa_amd_memory_async_copy_rect_fn;
    MEMORY_ASYNC_BATCH_COPY: MemoryAsyncBatchCopy = hsa_amd_memory_async_batch_copy;
    COUNTED_QUEUE_ACQUIRE: CountedQueueAcquire = hsa_amd_counted_queue_acquire;
    COUNTED_QUEUE_RELEASE: CountedQueueRelease = hsa_amd_counted_queue_release;
    POINTER_INFO: PointerInfo = hsa_amd_pointer_info in header hsa_amd_pointer_info_fn;
    QUEUE_CREATE: QueueCreate = hsa_amd_queue_create;
    QUEUE_GET_INFO: QueueGetInfo = hsa_amd_queue_get_info;
    QUEUE_SET_PRIORITY: QueueSetPriority = hsa_amd_queue_set_priority in header hsa_amd_queue_set_priority_fn;
    QUEUE_CU_SET_MASK: QueueCuSetMask = hsa_amd_queue_cu_set_mask in header hsa_amd_queue_cu_set_mask_fn;
    QUEUE_INTERCEPT_CREATE: QueueInterceptCreate = hsa_amd_queue_intercept_create
        in header hsa_amd_queue_intercept_create_fn;
    QUEUE_INTERCEPT_REGISTER: QueueInterceptRegister = hsa_amd_queue_intercept_register
        in header hsa_amd_queue_intercept_register_fn;
}
