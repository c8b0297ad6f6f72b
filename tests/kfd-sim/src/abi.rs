//! Arguments of the driver's calls, as linux/kfd_ioctl.h lays them out. The names of fields are free; their order and sizes are
//! the interface.

/// A structure of which any bytes are a value.
///
/// # Safety
/// Only for `repr(C)` structures of integers without padding.
pub(crate) unsafe trait Plain: Copy + Default {}

macro_rules! plain {
    ($($(#[$meta:meta])* $name:ident: $size:literal { $($field:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, Default)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }
        const _: () = assert!(
            size_of::<$name>() == $size && 0 $(+ size_of::<$type>())* == $size,
            "the size of the interface, without padding"
        );
        // SAFETY: the structure is repr(C), and the sizes of its integers add up to its own.
        unsafe impl Plain for $name {}
    )*};
}

plain! {
    GetVersion: 8 { major: u32, minor: u32 }

    CreateQueue: 88 {
        ring: u64, write_pointer: u64, read_pointer: u64, doorbell_offset: u64,
        ring_size: u32, gpu_id: u32, kind: u32, percentage: u32, priority: u32, queue_id: u32,
        end_of_pipe: u64, end_of_pipe_size: u64, save_area: u64, save_area_size: u32, control_stack_size: u32,
    }

    DestroyQueue: 8 { queue_id: u32, pad: u32 }

    UpdateQueue: 24 { ring: u64, queue_id: u32, ring_size: u32, percentage: u32, priority: u32 }

    /// The words at `mask` have `bits` bits.
    SetMask: 16 { queue_id: u32, bits: u32, mask: u64 }

    GetClockCounters: 40 { gpu: u64, cpu: u64, system: u64, system_frequency: u64, gpu_id: u32, pad: u32 }

    /// Address ranges of a GPU.
    Aperture: 56 {
        lds_base: u64, lds_limit: u64, scratch_base: u64, scratch_limit: u64, gpuvm_base: u64, gpuvm_limit: u64,
        gpu_id: u32, pad: u32,
    }

    GetApertures: 16 { apertures: u64, count: u32, pad: u32 }

    CreateEvent: 32 {
        page_offset: u64, trigger_data: u32, kind: u32, auto_reset: u32, node: u32, event_id: u32, slot: u32,
    }

    /// Destroys, sets or resets an event.
    OneEvent: 8 { event_id: u32, pad: u32 }

    /// One event of a wait; the first word is the event's age, in and out.
    EventData: 48 { age: u64, unused: [u64; 3], extension: u64, event_id: u32, pad: u32 }

    WaitEvents: 24 { events: u64, count: u32, all: u32, timeout: u32, result: u32 }

    GetTileConfig: 40 {
        tiles: u64, macro_tiles: u64, tile_count: u32, macro_tile_count: u32,
        gpu_id: u32, address_config: u32, banks: u32, ranks: u32,
    }

    AllocateMemory: 40 { address: u64, size: u64, handle: u64, offset: u64, gpu_id: u32, flags: u32 }

    FreeMemory: 8 { handle: u64 }

    /// Maps or unmaps an allocation.
    MapMemory: 24 { handle: u64, gpu_ids: u64, count: u32, done: u32 }

    AllocateGws: 16 { queue_id: u32, count: u32, first: u32, pad: u32 }

    XnackMode: 4 { enabled: i32 }

    AvailableMemory: 16 { bytes: u64, gpu_id: u32, pad: u32 }
}
