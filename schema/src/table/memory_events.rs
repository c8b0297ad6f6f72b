use super::row;
use crate::{AgentId, Id, ProcessId};

row! {
    /// One allocation or release of a framework's allocator, which need not reach the runtime (PyTorch's `[memory]`).
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct MemoryEvent {
        /// Id of the source.
        pub id: Id,
        /// The process of the allocator.
        pub process: ProcessId,
        /// The thread that asked for or released the memory, if known.
        pub tid: Option<i64>,
        /// The GPU whose memory it is; `None` is the host's.
        pub agent: Option<AgentId>,
        /// Time in ns.
        pub time: i64,
        /// Address, if known.
        pub address: Option<u64>,
        /// Size in bytes, negative for a release.
        pub bytes: i64,
        /// Bytes in use on the device after it, if known.
        pub allocated: Option<u64>,
        /// Bytes that the allocator holds on the device after it, if known.
        pub reserved: Option<u64>,
    }
}

/// All memory events of a trace, in the order of the source.
pub type MemoryEvents = Vec<MemoryEvent>;
