//! The results of a sweep.

use serde::{Deserialize, Serialize};

use crate::idle::GapPart;

/// How many parts the time of a trace has in [`Sweep::busy_over_time`].
pub const PARTS: usize = 24;

/// One GPU. `busy_ns + idle_ns == wall_ns`; `busy_ns` is a union, never a sum.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gpu {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// Label of the GPU, such as `GPU 0`.
    pub label: String,
    /// The product's name, if known.
    pub product: Option<String>,
    /// How many ops ran on it.
    pub ops: u64,
    /// The number of dispatches among them, collectives included.
    pub dispatches: u64,
    /// The number of collective kernels among them.
    pub collectives: u64,
    /// The number of copies among them.
    pub copies: u64,
    /// First start in ns.
    pub start_ns: i64,
    /// Last end in ns.
    pub end_ns: i64,
    /// First start to last end.
    pub wall_ns: i64,
    /// Time with at least one op running.
    pub busy_ns: i64,
    /// Time between first start and last end with nothing running.
    pub idle_ns: i64,
    /// `busy_ns / wall_ns`; 0 where wall is 0.
    pub busy_share: f64,
    /// Time with at least one kernel running that is no collective.
    pub kernel_ns: i64,
    /// Time with at least one collective kernel running.
    pub collective_ns: i64,
    /// Time with at least one copy running.
    pub copy_ns: i64,
    /// Time with at least two of the three classes running.
    pub overlap_ns: i64,
    /// Time with kernels and collectives running.
    pub kernel_collective_ns: i64,
    /// Time with kernels and copies running.
    pub kernel_copy_ns: i64,
    /// Time with collectives and copies running.
    pub collective_copy_ns: i64,
    /// Time with collectives running and no other kernel.
    pub exposed_collective_ns: i64,
}

impl Gpu {
    /// Time with at least one kernel running, collectives included, in ns. In the rest of `busy_ns` copies run alone.
    #[must_use]
    pub fn with_kernels_ns(&self) -> i64 {
        self.kernel_ns.saturating_add(self.collective_ns) - self.kernel_collective_ns
    }
}

/// Lower bounds of the gap buckets in ns, those of RTG's rpt; each holds its lower bound.
pub const BUCKETS: [i64; 8] = [0, 10_000, 20_000, 50_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

impl Gpu {
    /// Time with nothing but copies running, in ns.
    #[must_use]
    pub fn copies_alone_ns(&self) -> i64 {
        self.busy_ns - (self.kernel_ns + self.collective_ns - self.kernel_collective_ns)
    }
}

/// Gaps of similar length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bucket {
    /// Shortest gap that falls into it, in ns.
    pub from_ns: i64,
    /// Shortest gap that is too long for it, in ns; `None` for the last.
    pub below_ns: Option<i64>,
    /// The number of gaps.
    pub count: u64,
    /// Their sum in ns.
    pub total_ns: i64,
}

/// The gaps of one GPU; their sum is its `idle_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GpuGaps {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// Label of the GPU, such as `GPU 0`.
    pub label: String,
    /// All eight buckets of [`BUCKETS`].
    pub buckets: Vec<Bucket>,
}

/// A time in which a GPU stood idle between two ops.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gap {
    /// Number of the GPU in the trace.
    pub gpu: i64,
    /// Label of the GPU, such as `GPU 0`.
    pub label: String,
    /// Start of the gap in ns.
    pub start_ns: i64,
    /// Length of the gap in ns.
    pub duration_ns: i64,
    /// The name of the op that ended last before it.
    pub before: String,
    /// The name of the op that ended it.
    pub after: String,
    /// The cause of most of it, where [`crate::Analysis::longest_gaps`] has looked at the host and found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<GapPart>,
}

/// Two rows that are suspicious together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Example {
    /// `GPU 0 queue 2`.
    pub place: String,
    /// The later op's name.
    pub name: String,
    /// The later op's start in ns.
    pub start_ns: i64,
}

/// Rows that are suspicious beside another one: how many, and the first few by GPU and start.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SuspiciousRows {
    /// The number of suspicious rows.
    pub count: u64,
    /// The first three of each GPU.
    pub examples: Vec<Example>,
}

/// The results of one pass over the ops of every GPU in order of start.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sweep {
    /// GPUs with at least one op, by number.
    pub gpus: Vec<Gpu>,
    /// Their gaps, in the same order.
    pub gaps: Vec<GpuGaps>,
    /// The part of the time that each was busy, 0 to 1, in [`PARTS`] equal parts of the time of all of them, in the same order.
    pub busy_over_time: Vec<[f64; PARTS]>,
    /// The longest gaps of all GPUs: longest first, then by start, then by GPU.
    pub longest: Vec<Gap>,
    /// Dispatches that start on a queue before an earlier one of the same process and queue has ended.
    pub overlaps: SuspiciousRows,
    /// How long they ran beside others of their queue in all, in ns.
    pub overlap_ns: i64,
    /// Dispatches that equal another one in track, name, start and duration (all but the first).
    pub duplicates: SuspiciousRows,
}
