//! The numbers of Perfetto's fields, one module for each message of `perfetto_trace.proto` that is written.

/// The only packet sequence of a file, so that each text is interned once.
pub const SEQUENCE: u64 = 1;

pub mod trace {
    pub const PACKET: u32 = 1;
}

pub mod packet {
    pub const CLOCK_SNAPSHOT: u32 = 6;
    pub const TIMESTAMP: u32 = 8;
    pub const TRUSTED_PACKET_SEQUENCE_ID: u32 = 10;
    pub const TRACK_EVENT: u32 = 11;
    pub const INTERNED_DATA: u32 = 12;
    pub const SEQUENCE_FLAGS: u32 = 13;
    pub const GPU_RENDER_STAGE_EVENT: u32 = 53;
    pub const TIMESTAMP_CLOCK_ID: u32 = 58;
    pub const TRACE_PACKET_DEFAULTS: u32 = 59;
    pub const TRACK_DESCRIPTOR: u32 = 60;
    pub const FIRST_PACKET_ON_SEQUENCE: u32 = 87;
}

/// Bits of [`packet::SEQUENCE_FLAGS`].
pub mod sequence_flags {
    pub const INCREMENTAL_STATE_CLEARED: u64 = 1;
    pub const NEEDS_INCREMENTAL_STATE: u64 = 2;
}

pub mod clock_snapshot {
    pub const CLOCKS: u32 = 1;
}

pub mod clock {
    pub const CLOCK_ID: u32 = 1;
    pub const TIMESTAMP: u32 = 2;
    pub const IS_INCREMENTAL: u32 = 3;
}

pub mod packet_defaults {
    pub const TIMESTAMP_CLOCK_ID: u32 = 58;
}

pub mod interned_data {
    pub const EVENT_CATEGORIES: u32 = 1;
    pub const EVENT_NAMES: u32 = 2;
    pub const DEBUG_ANNOTATION_NAMES: u32 = 3;
    pub const GRAPHICS_CONTEXTS: u32 = 23;
    pub const GPU_SPECIFICATIONS: u32 = 24;
    pub const DEBUG_ANNOTATION_STRING_VALUES: u32 = 29;
}

/// Everything that is interned has a number and a text.
pub mod interned {
    pub const IID: u32 = 1;
    pub const TEXT: u32 = 2;
}

pub mod track_descriptor {
    pub const UUID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const PROCESS: u32 = 3;
    pub const THREAD: u32 = 4;
    pub const PARENT_UUID: u32 = 5;
    pub const COUNTER: u32 = 8;
    pub const CHILD_ORDERING: u32 = 11;
    pub const SIBLING_ORDER_RANK: u32 = 12;
    pub const SIBLING_MERGE_BEHAVIOR: u32 = 15;
    pub const SIBLING_MERGE_KEY_INT: u32 = 17;

    pub const EXPLICIT: u64 = 3;
    pub const BY_SIBLING_MERGE_KEY: u64 = 3;
}

pub mod process_descriptor {
    pub const PID: u32 = 1;
    pub const LEGACY_SORT_INDEX: u32 = 3;
    pub const PROCESS_NAME: u32 = 6;
}

pub mod thread_descriptor {
    pub const PID: u32 = 1;
    pub const TID: u32 = 2;
    pub const LEGACY_SORT_INDEX: u32 = 3;
    pub const THREAD_NAME: u32 = 5;
}

pub mod counter_descriptor {
    pub const UNIT: u32 = 3;
    pub const UNIT_NAME: u32 = 6;

    pub const SIZE_BYTES: u64 = 3;
}

pub mod track_event {
    pub const CATEGORY_IIDS: u32 = 3;
    pub const DEBUG_ANNOTATIONS: u32 = 4;
    pub const TYPE: u32 = 9;
    pub const NAME_IID: u32 = 10;
    pub const TRACK_UUID: u32 = 11;
    pub const DOUBLE_COUNTER_VALUE: u32 = 44;
    pub const FLOW_IDS: u32 = 47;
    pub const TERMINATING_FLOW_IDS: u32 = 48;

    pub const SLICE_BEGIN: u64 = 1;
    pub const SLICE_END: u64 = 2;
    pub const INSTANT: u64 = 3;
    pub const COUNTER_VALUE: u64 = 4;
}

pub mod debug_annotation {
    pub const NAME_IID: u32 = 1;
    pub const UINT_VALUE: u32 = 3;
    pub const INT_VALUE: u32 = 4;
    pub const ARRAY_VALUES: u32 = 12;
    pub const STRING_VALUE_IID: u32 = 17;
}

pub mod render_stage {
    pub const EVENT_ID: u32 = 1;
    pub const DURATION: u32 = 2;
    pub const CONTEXT: u32 = 5;
    pub const GPU_ID: u32 = 11;
    pub const HW_QUEUE_IID: u32 = 13;
    pub const STAGE_IID: u32 = 14;
    pub const LAUNCH: u32 = 21;
}

pub mod launch {
    pub const GRID_SIZE: u32 = 1;
    pub const WORKGROUP_SIZE: u32 = 2;
}

pub mod graphics_context {
    pub const IID: u32 = 1;
    pub const PID: u32 = 2;
    pub const API: u32 = 3;

    pub const HIP: u64 = 5;
}

pub mod gpu_specification {
    pub const IID: u32 = 1;
    pub const NAME: u32 = 2;
    pub const CATEGORY: u32 = 4;

    pub const COMPUTE: u64 = 2;
}
