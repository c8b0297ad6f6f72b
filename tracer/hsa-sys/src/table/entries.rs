//! The functions of AMD's extension table that a tracer calls or replaces, and where they are.

use core::mem::{offset_of, size_of};

use super::generations::generation;
use super::{AmdTable, Entry, Generation, Place};
use crate::bindings::AmdExtTable;
use crate::function::*;

const fn since(since: u32, offset: usize) -> Place {
    Place { since, offset }
}

/// Declares entries. Those with `in header` are compared, type and offset, with the header of ROCr 5.2.3.
macro_rules! entries {
    ($(
        $(#[$about:meta])*
        $entry:ident: $function:ty = $name:ident $(in header $field:ident)?, $places:expr;
    )+) => {
        $(
            $(#[$about])*
            pub const $entry: Entry<$function> = Entry::new(stringify!($name), $places);
            $( const _: () = {
                const fn same(table: &AmdExtTable) -> &Option<$function> {
                    &table.$field
                }
                let _ = same;
                let here = AmdTable(&HEADER).offset(&$entry);
                assert!(matches!(here, Some(offset) if offset == offset_of!(AmdExtTable, $field)));
            }; )?
        )+

        /// The name and places of every entry, for tests and listings.
        pub const ENTRIES: &[(&str, &[Place])] = &[$((stringify!($name), $entry.places)),+];
    };
}

/// The generation that the bindings were made from.
const HEADER: Generation = generation(1, size_of::<AmdExtTable>() as u32, "ROCr 5.2.3");

entries! {
    /// Start and end times for the packets of a queue.
    SET_PROFILER_ENABLED: SetProfilerEnabled = hsa_amd_profiling_set_profiler_enabled
        in header hsa_amd_profiling_set_profiler_enabled_fn, &[since(312, 32)];
    /// Start and end times for copies.
    ASYNC_COPY_ENABLE: AsyncCopyEnable = hsa_amd_profiling_async_copy_enable
        in header hsa_amd_profiling_async_copy_enable_fn, &[since(312, 40)];
    /// Times of a packet.
    GET_DISPATCH_TIME: GetDispatchTime = hsa_amd_profiling_get_dispatch_time
        in header hsa_amd_profiling_get_dispatch_time_fn, &[since(312, 48)];
    /// Times of a copy.
    GET_ASYNC_COPY_TIME: GetAsyncCopyTime = hsa_amd_profiling_get_async_copy_time
        in header hsa_amd_profiling_get_async_copy_time_fn, &[since(312, 56)];
    /// From an agent's clock to the system's.
    CONVERT_TICK: ConvertTick = hsa_amd_profiling_convert_tick_to_system_domain
        in header hsa_amd_profiling_convert_tick_to_system_domain_fn, &[since(312, 64)];
    /// A call when a signal changes.
    SIGNAL_ASYNC_HANDLER: SignalAsyncHandler = hsa_amd_signal_async_handler
        in header hsa_amd_signal_async_handler_fn, &[since(312, 72)];
    /// Wait for any of several signals.
    SIGNAL_WAIT_ANY: SignalWaitAny = hsa_amd_signal_wait_any
        in header hsa_amd_signal_wait_any_fn, &[since(312, 88)];
    /// Restrict a queue to compute units.
    QUEUE_SET_CU_MASK: QueueSetCuMask = hsa_amd_queue_cu_set_mask
        in header hsa_amd_queue_cu_set_mask_fn, &[since(312, 96)];
    /// A copy.
    MEMORY_ASYNC_COPY: MemoryAsyncCopy = hsa_amd_memory_async_copy
        in header hsa_amd_memory_async_copy_fn, &[since(312, 136)];
    /// A copy on a given engine.
    MEMORY_ASYNC_COPY_ON_ENGINE: MemoryAsyncCopyOnEngine = hsa_amd_memory_async_copy_on_engine,
        &[since(440, 144)];
    /// A fill.
    MEMORY_FILL: MemoryFill = hsa_amd_memory_fill
        in header hsa_amd_memory_fill_fn, &[since(312, 192), since(432, 200), since(440, 208)];
    /// Whose memory an address is.
    POINTER_INFO: PointerInfo = hsa_amd_pointer_info
        in header hsa_amd_pointer_info_fn, &[since(312, 224), since(432, 232), since(440, 240)];
    /// A signal with attributes.
    SIGNAL_CREATE: SignalCreate = hsa_amd_signal_create
        in header hsa_amd_signal_create_fn, &[since(312, 264), since(432, 272), since(440, 280)];
    /// A queue that can be intercepted.
    QUEUE_INTERCEPT_CREATE: QueueInterceptCreate = hsa_amd_queue_intercept_create
        in header hsa_amd_queue_intercept_create_fn, &[since(312, 296), since(432, 304), since(440, 312)];
    /// A handler on such a queue.
    QUEUE_INTERCEPT_REGISTER: QueueInterceptRegister = hsa_amd_queue_intercept_register
        in header hsa_amd_queue_intercept_register_fn, &[since(312, 304), since(432, 312), since(440, 320)];
    /// Priority of a queue.
    QUEUE_SET_PRIORITY: QueueSetPriority = hsa_amd_queue_set_priority
        in header hsa_amd_queue_set_priority_fn, &[since(320, 312), since(432, 320), since(440, 328)];
    /// A copy of a box.
    MEMORY_ASYNC_COPY_RECT: MemoryAsyncCopyRect = hsa_amd_memory_async_copy_rect
        in header hsa_amd_memory_async_copy_rect_fn, &[since(328, 320), since(432, 328), since(440, 336)];
    /// Be told of the runtime's own queues.
    RUNTIME_QUEUE_CREATE_REGISTER: RuntimeQueueCreateRegister = hsa_amd_runtime_queue_create_register
        in header hsa_amd_runtime_queue_create_register_fn,
        &[since(336, 328), since(432, 336), since(440, 344)];
    /// Which compute units a queue may use.
    QUEUE_GET_CU_MASK: QueueGetCuMask = hsa_amd_queue_cu_get_mask
        in header hsa_amd_queue_cu_get_mask_fn,
        &[since(400, 392), since(424, 416), since(432, 424), since(440, 432)];
    /// A shared queue.
    COUNTED_QUEUE_ACQUIRE: CountedQueueAcquire = hsa_amd_counted_queue_acquire, &[since(672, 624)];
    /// Its end.
    COUNTED_QUEUE_RELEASE: CountedQueueRelease = hsa_amd_counted_queue_release, &[since(672, 632)];
    /// Several copies.
    MEMORY_ASYNC_BATCH_COPY: MemoryAsyncBatchCopy = hsa_amd_memory_async_batch_copy, &[since(672, 640)];
}
