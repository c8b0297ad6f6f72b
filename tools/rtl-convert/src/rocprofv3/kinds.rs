//! rocprofiler-sdk's kinds and operations, and the lists of their records.

use rtl_schema::table::{Allocation, AllocationKind, AllocationLevel, Direction, Range, RangeKind};
use rtl_schema::{NameId, Strings};
use rustc_hash::FxHashMap;

use crate::labelled_enum::labelled_enum;

/// The kinds of buffered records by number, as of ROCm 7 (`strings.buffer_records` of a real file); the last one, for
/// calls of libraries that rocprofv3 does not trace, is our own. Numbers differ between versions, so readers use names.
pub const KINDS: [&str; 34] = [
    "NONE",
    "HSA_CORE_API",
    "HSA_AMD_EXT_API",
    "HSA_IMAGE_EXT_API",
    "HSA_FINALIZE_EXT_API",
    "HIP_RUNTIME_API",
    "HIP_COMPILER_API",
    "MARKER_CORE_API",
    "MARKER_CONTROL_API",
    "MARKER_NAME_API",
    "MEMORY_COPY",
    "KERNEL_DISPATCH",
    "SCRATCH_MEMORY",
    "CORRELATION_ID_RETIREMENT",
    "RCCL_API",
    "OMPT",
    "MEMORY_ALLOCATION",
    "RUNTIME_INITIALIZATION",
    "ROCDECODE_API",
    "ROCJPEG_API",
    "HIP_STREAM",
    "HIP_RUNTIME_API_EXT",
    "HIP_COMPILER_API_EXT",
    "ROCDECODE_API_EXT",
    "KFD_EVENT_PAGE_MIGRATE",
    "KFD_EVENT_PAGE_FAULT",
    "KFD_EVENT_QUEUE",
    "KFD_EVENT_UNMAP_FROM_GPU",
    "KFD_EVENT_DROPPED_EVENTS",
    "KFD_PAGE_MIGRATE",
    "KFD_PAGE_FAULT",
    "KFD_QUEUE",
    "MARKER_CORE_RANGE_API",
    "OTHER_API",
];

/// A position in [`KINDS`].
pub type Kind = u8;

pub const MEMORY_COPY: Kind = 10;
pub const KERNEL_DISPATCH: Kind = 11;
pub const SCRATCH_MEMORY: Kind = 12;
pub const MEMORY_ALLOCATION: Kind = 16;
pub const MARKER_RANGE: Kind = 32;
const HIP_RUNTIME: Kind = 21;
const HIP_COMPILER: Kind = 22;
const OTHER: Kind = 33;

pub const DISPATCH_COMPLETE: usize = 2;

/// The operations of kinds with fixed numbers; those of API calls are numbered by first use. rocprofv3 does not record
/// fills: their operation is our own.
const OPERATIONS: [(Kind, &[&str]); 5] = [
    (
        MEMORY_COPY,
        &[
            "MEMORY_COPY_NONE",
            "MEMORY_COPY_HOST_TO_HOST",
            "MEMORY_COPY_HOST_TO_DEVICE",
            "MEMORY_COPY_DEVICE_TO_HOST",
            "MEMORY_COPY_DEVICE_TO_DEVICE",
            "MEMORY_COPY_FILL_BUFFER",
        ],
    ),
    (KERNEL_DISPATCH, &["KERNEL_DISPATCH_NONE", "KERNEL_DISPATCH_ENQUEUE", "KERNEL_DISPATCH_COMPLETE"]),
    (
        SCRATCH_MEMORY,
        &[
            "SCRATCH_MEMORY_NONE",
            "SCRATCH_MEMORY_ALLOC",
            "SCRATCH_MEMORY_FREE",
            "SCRATCH_MEMORY_ASYNC_RECLAIM",
        ],
    ),
    (
        MEMORY_ALLOCATION,
        &[
            "MEMORY_ALLOCATION_NONE",
            "MEMORY_ALLOCATION_ALLOCATE",
            "MEMORY_ALLOCATION_VMEM_ALLOCATE",
            "MEMORY_ALLOCATION_FREE",
            "MEMORY_ALLOCATION_VMEM_FREE",
        ],
    ),
    (MARKER_RANGE, &["roctxMarkA", "roctxThreadRangeA", "roctxProcessRangeA", "roctxGetThreadId"]),
];

pub fn operations(kind: Kind) -> &'static [&'static str] {
    OPERATIONS.iter().find(|(of, _)| *of == kind).map_or(&[], |(_, operations)| operations)
}

pub fn copy_operation(direction: Direction) -> usize {
    match direction {
        Direction::Unknown => 0,
        Direction::HostToHost => 1,
        Direction::HostToDevice => 2,
        Direction::DeviceToHost => 3,
        Direction::DeviceToDevice => 4,
        Direction::Fill => 5,
    }
}

/// A range of unknown kind with a thread counts as a thread range.
pub fn range_operation(range: &Range) -> usize {
    match range.kind {
        _ if range.is_marker() => 0,
        RangeKind::Process => 2,
        RangeKind::Unknown if range.tid.is_none() => 2,
        _ => 1,
    }
}

/// rocprofv3 treats a reallocation as an allocation.
pub fn allocation_operation(allocation: &Allocation) -> (Kind, usize) {
    use AllocationKind::{Free, Reclaim};
    use AllocationLevel::{Scratch, Virtual};
    match (allocation.level, allocation.kind) {
        (Scratch, Free) => (SCRATCH_MEMORY, 2),
        (Scratch, Reclaim) => (SCRATCH_MEMORY, 3),
        (Scratch, _) => (SCRATCH_MEMORY, 1),
        (Virtual, Free | Reclaim) => (MEMORY_ALLOCATION, 4),
        (Virtual, _) => (MEMORY_ALLOCATION, 2),
        (_, Free | Reclaim) => (MEMORY_ALLOCATION, 3),
        _ => (MEMORY_ALLOCATION, 1),
    }
}

labelled_enum! {
    /// A list of `buffer_records`, named as the beginning of its CSV files.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum List {
        Hip = "hip_api",
        Hsa = "hsa_api",
        Marker = "marker_api",
        Rccl = "rccl_api",
        Decode = "rocdecode_api",
        Jpeg = "rocjpeg_api",
        Other = "other_api",
    }
}

impl List {
    pub fn of(kind: Kind) -> Self {
        match KINDS[usize::from(kind)] {
            name if name.starts_with("HIP") => Self::Hip,
            name if name.starts_with("HSA") => Self::Hsa,
            name if name.starts_with("MARKER") => Self::Marker,
            name if name.starts_with("RCCL") => Self::Rccl,
            name if name.starts_with("ROCDECODE") => Self::Decode,
            name if name.starts_with("ROCJPEG") => Self::Jpeg,
            _ => Self::Other,
        }
    }
}

/// Prefixes of functions, longer ones first.
const FUNCTIONS: [(&str, Kind); 12] = [
    ("hsa_amd_", 2),
    ("hsa_ext_image_", 3),
    ("hsa_ext_program_", 4),
    ("hsa_", 1),
    ("__hip", HIP_COMPILER),
    ("hip", HIP_RUNTIME),
    ("roctxName", 9),
    ("roctxProfiler", 8),
    ("roctx", 7),
    ("nccl", 14),
    ("rocDec", 18),
    ("rocJpeg", 19),
];

/// By the domain in the trace if rocprofv3 has such a kind, otherwise by the name of the function.
fn kind_of_call(domain: Option<&str>, function: &str) -> Kind {
    let stated = domain.and_then(|domain| KINDS.iter().position(|kind| *kind == domain));
    let stated = stated.filter(|&kind| KINDS[kind].contains("_API") || KINDS[kind] == "OMPT");
    stated.map(|kind| kind as Kind).unwrap_or_else(|| {
        let named = FUNCTIONS.iter().find(|(prefix, _)| function.starts_with(prefix));
        named.map_or(OTHER, |&(_, kind)| kind)
    })
}

/// The kinds of calls and the numbers of their operations, in order of first appearance.
#[derive(Debug, Default)]
pub struct Operations {
    known: FxHashMap<(NameId, NameId), (Kind, usize)>,
    names: FxHashMap<Kind, Vec<NameId>>,
}

impl Operations {
    /// The kind and operation of a call of `function`.
    #[inline]
    pub fn of_call(&mut self, domain: NameId, function: NameId, strings: &Strings) -> (Kind, usize) {
        if let Some(&known) = self.known.get(&(domain, function)) {
            return known;
        }
        let stated = domain.is_some().then(|| strings.get(domain));
        let kind = kind_of_call(stated, strings.get(function));
        let names = self.names.entry(kind).or_default();
        let number = names.iter().position(|known| *known == function).unwrap_or(names.len());
        if number == names.len() {
            names.push(function);
        }
        self.known.insert((domain, function), (kind, number));
        (kind, number)
    }

    pub fn names(&self, kind: Kind) -> &[NameId] {
        self.names.get(&kind).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_of_the_kind_that_its_source_or_its_function_names() {
        let kind = |domain, function| KINDS[usize::from(kind_of_call(domain, function))];
        assert_eq!(kind(Some("HIP_RUNTIME_API"), "anything"), "HIP_RUNTIME_API");
        assert_eq!(kind(Some("hip"), "hipMalloc"), "HIP_RUNTIME_API_EXT");
        assert_eq!(kind(None, "__hipRegisterFatBinary"), "HIP_COMPILER_API_EXT");
        assert_eq!(kind(None, "hsa_amd_memory_pool_allocate"), "HSA_AMD_EXT_API");
        assert_eq!(kind(None, "hsa_init"), "HSA_CORE_API");
        assert_eq!(kind(None, "ncclAllReduce"), "RCCL_API");
        assert_eq!(kind(None, "aten::mm"), "OTHER_API");
        // A kind of other records is ignored.
        assert_eq!(kind(Some("KERNEL_DISPATCH"), "aten::mm"), "OTHER_API");
    }

    #[test]
    fn every_kind_of_calls_has_a_list() {
        assert_eq!(List::of(HIP_COMPILER).label(), "hip_api");
        assert_eq!(List::of(4).label(), "hsa_api");
        assert_eq!(List::of(MARKER_RANGE).label(), "marker_api");
        assert_eq!(List::of(OTHER).label(), "other_api");
        assert_eq!(List::of(15).label(), "other_api");
    }

    #[test]
    fn operations_are_numbered_as_they_come() {
        let mut strings = Strings::default();
        let [hip, malloc, free] = ["hip", "hipMalloc", "hipFree"].map(|text| strings.intern(text));
        let mut operations = Operations::default();
        assert_eq!(operations.of_call(hip, malloc, &strings), (HIP_RUNTIME, 0));
        assert_eq!(operations.of_call(hip, free, &strings), (HIP_RUNTIME, 1));
        assert_eq!(operations.of_call(NameId::NONE, malloc, &strings), (HIP_RUNTIME, 0));
        assert_eq!(operations.names(HIP_RUNTIME), [malloc, free]);
    }
}
