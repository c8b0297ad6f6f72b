//! rocprofv3's summary table (`-S`): calls and time per name, over every kind of record a trace has.
//!
//! Names that two domains share are one row, of the domain that comes first in [`Domain`]. Host calls, ranges
//! and device work are summed side by side, so shares refer to that sum and not to elapsed time. The
//! standard deviation is the sample's (n-1) from exact integer sums: rocprofv3's own overflows on long calls.

use std::hash::Hash;

use rtl_schema::table::{Allocation, AllocationKind, AllocationLevel, Copy, Direction};
use rtl_schema::{NameId, Tables};
use rustc_hash::FxHashMap;

use crate::stats::deviation;

/// The domain of a row, in rocprofv3's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Domain {
    /// HSA calls.
    Hsa,
    /// HIP calls; calls of an unnamed library too.
    Hip,
    /// Ranges and markers.
    Marker,
    /// Dispatches.
    KernelDispatch,
    /// Copies and fills.
    MemoryCopy,
    /// Scratch events.
    ScratchMemory,
    /// RCCL calls.
    Rccl,
    /// Allocations and releases.
    MemoryAllocation,
    /// rocDecode calls.
    RocDecode,
    /// rocJPEG calls.
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

/// The whole table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// By time, the longest first; equal ones by name.
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
    /// The domain.
    pub domain: Domain,
    /// How many records.
    pub calls: u64,
    /// Sum of durations in ns.
    pub time: i64,
    /// The shortest in ns.
    pub min: i64,
    /// The longest in ns.
    pub max: i64,
    /// Sample standard deviation in ns, 0 for a single call.
    pub stddev: f64,
}

impl Row {
    /// Mean duration in ns.
    pub fn mean(&self) -> f64 {
        self.time as f64 / self.calls as f64
    }
}

/// Computes the table over all records of `tables`.
pub fn summary(tables: &Tables) -> Summary {
    let mut sums = Sums::default();
    let strings = &tables.strings;
    for row in 0..tables.dispatches.len() {
        sums.add(Domain::KernelDispatch, tables.dispatches.name[row], tables.dispatches.duration.get(row));
    }
    let calls = &tables.api_calls;
    for row in 0..calls.len() {
        let library = calls.domain.get(row);
        let key = (library, calls.name[row]);
        let domain = *sums.domains.entry(key).or_insert_with(|| {
            Domain::of_call(library.is_some().then(|| strings.get(library)), strings.get(key.1))
        });
        sums.add(domain, calls.name[row], calls.duration.get(row));
    }
    for range in &tables.ranges {
        sums.add(Domain::Marker, range.name, range.duration);
    }
    let mut rows = FxHashMap::default();
    for copy in &tables.copies {
        add(&mut rows, &mut sums.left_out, (Domain::MemoryCopy, copy_name(tables, copy)), copy.duration);
    }
    for allocation in &tables.allocations {
        add(&mut rows, &mut sums.left_out, allocation_name(allocation), allocation.duration);
    }
    for ((domain, name), sum) in &sums.rows {
        rows.entry((*domain, strings.get(*name))).or_default().merge(sum);
    }
    merge_domains(rows, sums.left_out)
}

/// One row per name, whatever its domains.
fn merge_domains(parts: FxHashMap<(Domain, &str), Sum>, left_out: usize) -> Summary {
    let mut parts: Vec<_> = parts.into_iter().collect();
    parts.sort_unstable_by_key(|((domain, name), _)| (*name, *domain));
    let mut merged: Vec<(Domain, &str, Sum)> = Vec::with_capacity(parts.len());
    for ((domain, name), sum) in parts {
        match merged.last_mut() {
            Some((_, known, total)) if *known == name => total.merge(&sum),
            _ => merged.push((domain, name, sum)),
        }
    }
    merged.sort_by_key(|(_, _, sum)| std::cmp::Reverse(sum.time));
    let rows: Vec<Row> = merged
        .into_iter()
        .map(|(domain, name, sum)| Row {
            name: name.to_owned(),
            domain,
            calls: sum.calls,
            time: sum.time,
            min: sum.min,
            max: sum.max,
            stddev: sum.stddev(),
        })
        .collect();
    let total = rows.iter().fold(0_i64, |total, row| total.saturating_add(row.time));
    Summary { rows, total, left_out }
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
    let (domain, name) = match (allocation.level, allocation.kind) {
        (AllocationLevel::Scratch, AllocationKind::Free) => (Domain::ScratchMemory, "SCRATCH_MEMORY_FREE"),
        (AllocationLevel::Scratch, AllocationKind::Reclaim) => {
            (Domain::ScratchMemory, "SCRATCH_MEMORY_ASYNC_RECLAIM")
        }
        (AllocationLevel::Scratch, _) => (Domain::ScratchMemory, "SCRATCH_MEMORY_ALLOC"),
        (AllocationLevel::Virtual, AllocationKind::Free) => {
            (Domain::MemoryAllocation, "MEMORY_ALLOCATION_VMEM_FREE")
        }
        (AllocationLevel::Virtual, _) => (Domain::MemoryAllocation, "MEMORY_ALLOCATION_VMEM_ALLOCATE"),
        (AllocationLevel::Real, AllocationKind::Free) => (Domain::MemoryAllocation, "MEMORY_ALLOCATION_FREE"),
        (AllocationLevel::Real, _) => (Domain::MemoryAllocation, "MEMORY_ALLOCATION_ALLOCATE"),
    };
    (domain, name)
}

#[derive(Debug, Default)]
struct Sums {
    rows: FxHashMap<(Domain, NameId), Sum>,
    domains: FxHashMap<(NameId, NameId), Domain>,
    left_out: usize,
}

impl Sums {
    fn add(&mut self, domain: Domain, name: NameId, duration: Option<i64>) {
        add(&mut self.rows, &mut self.left_out, (domain, name), duration);
    }
}

/// Adds a record to the row of its key; one without a valid duration is left out.
fn add<K: Eq + Hash>(rows: &mut FxHashMap<K, Sum>, left_out: &mut usize, key: K, duration: Option<i64>) {
    match duration.filter(|&duration| duration >= 0) {
        Some(duration) => rows.entry(key).or_default().add(duration),
        None => *left_out += 1,
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    calls: u64,
    time: i64,
    squares: u128,
    min: i64,
    max: i64,
}

impl Sum {
    fn add(&mut self, duration: i64) {
        let square = u128::from(duration.unsigned_abs()).pow(2);
        self.merge(&Self { calls: 1, time: duration, squares: square, min: duration, max: duration });
    }

    fn merge(&mut self, other: &Self) {
        self.min = if self.calls == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.calls += other.calls;
        self.time = self.time.saturating_add(other.time);
        self.squares = self.squares.saturating_add(other.squares);
    }

    fn stddev(&self) -> f64 {
        deviation(u128::from(self.calls), u128::from(self.time.unsigned_abs()), self.squares)
    }
}
