//! rocprofv3's summary table (`-S`): calls and time per name, over every kind of record a trace has.
//!
//! Names that two domains share are one row, of the domain that comes first in [`Domain`]. Host calls, ranges
//! and device work are summed side by side, so shares refer to that sum and not to elapsed time. The
//! standard deviation is the sample's (n-1) from exact integer sums: rocprofv3's own overflows on long calls.

use std::hash::Hash;

use rtl_schema::table::{Allocation, AllocationKind, AllocationLevel, Copy, Direction};
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use crate::base::stats::Moments;

/// The domain of a row, in rocprofv3's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// Calls of the HSA runtime.
    Hsa,
    /// HIP calls; calls of an unnamed library too.
    Hip,
    /// Ranges and markers of roctx.
    Marker,
    /// Dispatches of kernels.
    KernelDispatch,
    /// Memory copies and fills.
    MemoryCopy,
    /// Events of scratch memory.
    ScratchMemory,
    /// Calls of RCCL.
    Rccl,
    /// Allocations and releases of memory.
    MemoryAllocation,
    /// Calls of rocDecode.
    RocDecode,
    /// Calls of rocJPEG.
    RocJpeg,
}

impl Domain {
    /// The word of the table: `KERNEL_DISPATCH`.
    pub fn label(self) -> &'static str {
        match self {
            Self::Hsa => "HSA_API",
            Self::Hip => "HIP_API",
            Self::Marker => "MARKER_API",
            Self::KernelDispatch => "KERNEL_DISPATCH",
            Self::MemoryCopy => "MEMORY_COPY",
            Self::ScratchMemory => "SCRATCH_MEMORY",
            Self::Rccl => "RCCL_API",
            Self::MemoryAllocation => "MEMORY_ALLOCATION",
            Self::RocDecode => "ROCDECODE_API",
            Self::RocJpeg => "ROCJPEG_API",
        }
    }

    /// The domain of a call by the library that the source names (`HIP_RUNTIME_API_EXT`, `hip`), else by the
    /// function's prefix.
    fn of_call(library: Option<&str>, function: &str) -> Self {
        let prefixes = [
            ("hip", Self::Hip),
            ("hsa", Self::Hsa),
            ("marker", Self::Marker),
            ("roctx", Self::Marker),
            ("rccl", Self::Rccl),
            ("nccl", Self::Rccl),
            ("rocdec", Self::RocDecode),
            ("rocjpeg", Self::RocJpeg),
        ];
        let find = |text: &str| {
            prefixes
                .iter()
                .find(|(prefix, _)| {
                    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
                })
                .map(|&(_, domain)| domain)
        };
        library.and_then(find).or_else(|| find(function)).unwrap_or(Self::Hip)
    }
}

/// The table of rocprofv3's `-S`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Longest time first; equal ones by name.
    pub rows: Vec<Row>,
    /// Sum of all rows in ns.
    pub total: i64,
    /// Records left out because their end is unknown or before their start.
    pub left_out: usize,
}

/// All records of one name.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name as stored.
    pub name: String,
    /// The domain that the records belong to.
    pub domain: Domain,
    /// Count, sum and spread of the durations.
    pub times: Moments,
}

/// Computes the table over all records of `tables`.
pub fn summary(tables: &Tables) -> Summary {
    let mut stored = Sums::new();
    let strings = &tables.strings;
    for row in 0..tables.dispatches.len() {
        let key = (Domain::KernelDispatch, tables.dispatches.name[row]);
        stored.add(key, tables.dispatches.duration.get(row));
    }
    let calls = &tables.api_calls;
    let mut domains: FxHashMap<(NameId, NameId), Domain> = FxHashMap::default();
    for row in 0..calls.len() {
        let (library, name) = (calls.domain.get(row), calls.name[row]);
        let domain = *domains.entry((library, name)).or_insert_with(|| {
            Domain::of_call(library.is_some().then(|| strings.get(library)), strings.get(name))
        });
        stored.add((domain, name), calls.duration.get(row));
    }
    for range in &tables.ranges {
        stored.add((Domain::Marker, range.name), range.duration);
    }
    let mut sums = Sums::new();
    for copy in &tables.copies {
        sums.add((Domain::MemoryCopy, copy_name(tables, copy)), copy.duration);
    }
    for allocation in &tables.allocations {
        sums.add(allocation_name(allocation), allocation.duration);
    }
    for ((domain, name), times) in &stored.rows {
        sums.rows.entry((*domain, strings.get(*name))).or_default().append(times);
    }
    sums.left_out += stored.left_out;
    sums.merged()
}

fn copy_name<'a>(tables: &'a Tables, copy: &Copy) -> &'a str {
    match copy.direction {
        Direction::HostToDevice => "MEMORY_COPY_HOST_TO_DEVICE",
        Direction::DeviceToHost => "MEMORY_COPY_DEVICE_TO_HOST",
        Direction::DeviceToDevice => "MEMORY_COPY_DEVICE_TO_DEVICE",
        Direction::HostToHost => "MEMORY_COPY_HOST_TO_HOST",
        Direction::Fill | Direction::Unknown => tables.strings.get(copy.name),
    }
}

fn allocation_name(allocation: &Allocation) -> (Domain, &'static str) {
    let name = match (allocation.level, allocation.kind) {
        (AllocationLevel::Scratch, AllocationKind::Free) => "SCRATCH_MEMORY_FREE",
        (AllocationLevel::Scratch, AllocationKind::Reclaim) => "SCRATCH_MEMORY_ASYNC_RECLAIM",
        (AllocationLevel::Scratch, _) => "SCRATCH_MEMORY_ALLOC",
        (AllocationLevel::Virtual, AllocationKind::Free) => "MEMORY_ALLOCATION_VMEM_FREE",
        (AllocationLevel::Virtual, _) => "MEMORY_ALLOCATION_VMEM_ALLOCATE",
        (AllocationLevel::Real, AllocationKind::Free) => "MEMORY_ALLOCATION_FREE",
        (AllocationLevel::Real, _) => "MEMORY_ALLOCATION_ALLOCATE",
    };
    match allocation.level {
        AllocationLevel::Scratch => (Domain::ScratchMemory, name),
        AllocationLevel::Virtual | AllocationLevel::Real => (Domain::MemoryAllocation, name),
    }
}

/// Durations by domain and name; records without a valid one are left out.
struct Sums<N> {
    rows: FxHashMap<(Domain, N), Moments>,
    left_out: usize,
}

impl<N: Eq + Hash> Sums<N> {
    fn new() -> Self {
        Self { rows: FxHashMap::default(), left_out: 0 }
    }

    fn add(&mut self, key: (Domain, N), duration: Option<i64>) {
        match duration.filter(|&duration| duration >= 0) {
            Some(duration) => self.rows.entry(key).or_default().add(duration),
            None => self.left_out += 1,
        }
    }
}

impl Sums<&str> {
    /// One row per name, whatever its domains.
    fn merged(self) -> Summary {
        let mut parts: Vec<_> = self.rows.into_iter().collect();
        parts.sort_unstable_by_key(|((domain, name), _)| (*name, *domain));
        let mut rows: Vec<Row> = Vec::with_capacity(parts.len());
        for ((domain, name), times) in parts {
            match rows.last_mut() {
                Some(row) if row.name == name => row.times.append(&times),
                _ => rows.push(Row { name: name.to_owned(), domain, times }),
            }
        }
        rows.sort_by_key(|row| std::cmp::Reverse(row.times.total_ns()));
        let total = rows.iter().fold(0_i64, |total, row| total.saturating_add(row.times.total_ns()));
        Summary { rows, total, left_out: self.left_out }
    }
}
