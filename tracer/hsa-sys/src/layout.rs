//! Pins the layout of the types that a tracer relies on: the runtime and the hardware write these fields, so their places hold
//! for every ROCm version, and bindings made anew from another header must not move them.

use core::mem::{align_of, offset_of, size_of};

use crate::bindings::*;
use crate::function::{ComputeQueue, CopyOperation, QueueDescriptor};

macro_rules! pinned {
    ($($type:ty: $size:literal { $($field:ident: $offset:literal),* $(,)? })+) => {
        $(const _: () = {
            assert!(size_of::<$type>() == $size);
            $(assert!(offset_of!($type, $field) == $offset);)*
        };)+
    };
}

pinned! {
    ApiTableVersion: 16 { major_id: 0, minor_id: 4, step_id: 8, reserved: 12 }
    HsaApiTable: 48 { version: 0, core_: 16, amd_ext_: 24, finalizer_ext_: 32, image_ext_: 40 }
    CoreApiTable: 1016 {
        version: 0, hsa_init_fn: 16, hsa_shut_down_fn: 24, hsa_queue_create_fn: 72, hsa_queue_destroy_fn: 88,
        hsa_signal_create_fn: 312, hsa_signal_destroy_fn: 320, hsa_executable_freeze_fn: 704,
        hsa_executable_iterate_symbols_fn: 768, hsa_executable_iterate_program_symbols_fn: 1008,
    }
    hsa_queue_t: 40 { type_: 0, features: 4, base_address: 8, doorbell_signal: 16, size: 24, id: 32 }
    hsa_kernel_dispatch_packet_t: 64 {
        header: 0, setup: 2, workgroup_size_x: 4, workgroup_size_y: 6, workgroup_size_z: 8, grid_size_x: 12,
        grid_size_y: 16, grid_size_z: 20, private_segment_size: 24, group_segment_size: 28, kernel_object: 32,
        kernarg_address: 40, completion_signal: 56,
    }
    hsa_barrier_and_packet_t: 64 { header: 0, dep_signal: 8, completion_signal: 56 }
    hsa_barrier_or_packet_t: 64 { header: 0, dep_signal: 8, completion_signal: 56 }
    hsa_agent_dispatch_packet_t: 64 { header: 0, type_: 2, completion_signal: 56 }
    hsa_amd_barrier_value_packet_t: 64 {
        header: 0, signal: 8, value: 16, mask: 24, cond: 32, completion_signal: 56,
    }
    amd_queue_t: 256 {
        hsa_queue: 0, write_dispatch_id: 56, read_dispatch_id: 128,
        read_dispatch_id_field_base_byte_offset: 136, queue_properties: 180, queue_inactive_signal: 192,
    }
    amd_signal_t: 64 {
        kind: 0, __bindgen_anon_1: 8, event_mailbox_ptr: 16, event_id: 24, start_ts: 32, end_ts: 40,
        __bindgen_anon_2: 48,
    }
    QueueDescriptor: 96 {
        version: 0, flags: 2, engine: 4, size: 8, priority: 12, callback: 16, callback_data: 24, queue: 32, compute: 40,
        traffic_class: 72,
    }
    ComputeQueue: 32 { cu_mask: 0, kind: 8, private_segment_size: 12, cu_mask_count: 16 }
    CopyOperation: 128 {
        version: 0, kind: 2, entries: 4, completion: 8, source: 16, source_agent: 24, destination_agent: 32,
        destination: 40, size: 48, wait: 64, signal: 96, reserved: 120,
    }
    hsa_amd_profiling_dispatch_time_t: 16 { start: 0, end: 8 }
    hsa_amd_profiling_async_copy_time_t: 16 { start: 0, end: 8 }
}

const _: () = {
    assert!(align_of::<amd_signal_t>() == 64 && align_of::<amd_queue_t>() == 64);
    assert!(size_of::<hsa_agent_t>() == 8 && size_of::<hsa_signal_t>() == 8);
};
