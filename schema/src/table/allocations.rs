use super::row;
use crate::{AgentId, Id, ProcessId};

/// The action of an allocation event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AllocationKind {
    /// Memory was allocated.
    #[default]
    Allocate,
    /// Memory was freed.
    Free,
    /// Memory was reallocated.
    Reallocate,
    /// The runtime reclaimed memory (scratch).
    Reclaim,
}

/// The kind of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum AllocationLevel {
    /// Device or host memory.
    #[default]
    Real,
    /// Address space (VMEM).
    Virtual,
    /// Scratch of kernels.
    Scratch,
}

/// The names of each variant in rtl's files and in rocprofv3's databases.
macro_rules! named {
    ($type:ident: $($variant:ident, $label:literal, $rocprofv3:literal;)+) => {
        impl $type {
            /// The name in rtl's files.
            pub fn label(self) -> &'static str {
                match self {
                    $(Self::$variant => $label,)+
                }
            }

            /// The name in rocprofv3's databases.
            pub fn rocprofv3(self) -> &'static str {
                match self {
                    $(Self::$variant => $rocprofv3,)+
                }
            }

            /// The variant of either name.
            pub(crate) fn parse(name: &str) -> Option<Self> {
                match name {
                    $($label | $rocprofv3 => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
named! {
    AllocationKind:
    Allocate, "allocate", "ALLOC";
    Free, "free", "FREE";
    Reallocate, "reallocate", "REALLOC";
    Reclaim, "reclaim", "RECLAIM";
}
named! {
    AllocationLevel:
    Real, "real", "REAL";
    Virtual, "virtual", "VIRTUAL";
    Scratch, "scratch", "SCRATCH";
}

impl AllocationKind {
    /// The action of a record's operation by rocprofv3's name, e.g. `MEMORY_ALLOCATION_VMEM_FREE`.
    pub(crate) fn of_operation(name: &str) -> Self {
        match name {
            _ if name.contains("RECLAIM") => Self::Reclaim,
            _ if name.contains("REALLOC") => Self::Reallocate,
            _ if name.contains("FREE") => Self::Free,
            _ => Self::Allocate,
        }
    }
}

row! {
    /// One allocation, release or scratch event.
    #[derive(Debug, Clone, Copy, Default, PartialEq)]
    pub struct Allocation {
        /// The id of the source.
        pub id: Id,
        /// The process that asked for or released the memory.
        pub process: ProcessId,
        /// The thread that did, if known.
        pub tid: Option<i64>,
        /// The agent whose memory it is; releases often have none.
        pub agent: Option<AgentId>,
        /// The queue (scratch events).
        pub queue: Option<i64>,
        /// The HIP stream of an asynchronous allocation, if stated.
        pub stream: Option<i64>,
        /// Memory was allocated, freed or reallocated.
        pub kind: AllocationKind,
        /// The kind of memory.
        pub level: AllocationLevel,
        /// Start in ns.
        pub start: i64,
        /// End minus start in ns.
        pub duration: Option<i64>,
        /// The first address of the memory, if known.
        pub address: Option<u64>,
        /// Size in bytes; 0 where the source states none.
        pub bytes: u64,
        /// The source's flags (scratch events).
        pub flags: Option<i64>,
        /// The correlation id; 0 is unknown.
        pub correlation: Id,
    }
}

/// All allocation events of a trace, in the order of the source.
pub type Allocations = Vec<Allocation>;
