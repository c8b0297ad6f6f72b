//! How busy each GPU was, what ran side by side, and where it stood idle.
//!
//! Ops are dispatches and copies with a known, non-negative duration. Barriers are waiting, not work, and are
//! left out. A copy counts for the GPU its track names. CPU agents (host-to-host copies) are left out.

mod gaps;
mod gpu;
mod queues;
mod unions;

use std::cmp::Reverse;

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

use self::gpu::Sweeper;
pub(crate) use self::gpu::described;
use self::queues::Queues;
pub(crate) use self::unions::{Class, Unions};
use crate::Categories;
use crate::names::Names;
use crate::order::Order;

/// One GPU. `busy_ns + idle_ns == wall_ns`; `busy_ns` is a union, never a sum.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Gpu {
    /// Its number in the trace.
    pub gpu: i64,
    /// `GPU 0`.
    pub label: String,
    /// The product's name, if known.
    pub product: Option<String>,
    /// How many ops ran on it.
    pub ops: u64,
    /// Of these, dispatches (collectives among them).
    pub dispatches: u64,
    /// Of these, collective kernels.
    pub collectives: u64,
    /// Of these, copies.
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

/// Lower bounds of the gap buckets in ns, those of RTG's rpt; each holds its lower bound.
pub const BUCKETS: [i64; 8] = [0, 10_000, 20_000, 50_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Gaps of similar length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Bucket {
    /// Shortest gap that falls into it, in ns.
    pub from_ns: i64,
    /// Shortest gap that is too long for it, in ns; `None` for the last.
    pub below_ns: Option<i64>,
    /// How many.
    pub count: u64,
    /// Their sum in ns.
    pub total_ns: i64,
}

/// The gaps of one GPU; their sum is its `idle_ns`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GpuGaps {
    /// The GPU's number.
    pub gpu: i64,
    /// `GPU 0`.
    pub label: String,
    /// All eight buckets of [`BUCKETS`].
    pub buckets: Vec<Bucket>,
}

/// A time in which a GPU stood idle between two ops.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gap {
    /// The GPU's number.
    pub gpu: i64,
    /// `GPU 0`.
    pub label: String,
    /// Start in ns.
    pub start_ns: i64,
    /// Length in ns.
    pub duration_ns: i64,
    /// The name of the op that ended last before it.
    pub before: String,
    /// The name of the op that ended it.
    pub after: String,
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
    /// How many rows.
    pub count: u64,
    /// The first three of each GPU.
    pub examples: Vec<Example>,
}

/// What one pass over the ops of every GPU, in order of start, tells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Sweep {
    /// GPUs with at least one op, by number.
    pub gpus: Vec<Gpu>,
    /// Their gaps, in the same order.
    pub gaps: Vec<GpuGaps>,
    /// The longest gaps of all GPUs: longest first, then by start, then by GPU.
    pub longest: Vec<Gap>,
    /// Dispatches that start on a queue before an earlier one of the same process and queue has ended.
    pub overlaps: SuspiciousRows,
    /// Dispatches that equal another one in track, name, start and duration (all but the first).
    pub duplicates: SuspiciousRows,
}

/// How many rows all GPUs go through before any goes on. The rows of GPUs that ran at the same time lie side by
/// side: so many fit into a core's cache, and are not fetched from memory once for each GPU.
const STRETCH: u32 = 1 << 15;

/// Sweeps all GPUs; `longest` says how many of the longest gaps to keep.
pub fn sweep(tables: &Tables, order: &Order, categories: &Categories, longest: usize) -> Sweep {
    swept(tables, order, &Names::of(tables, categories), longest)
}

/// [`sweep()`] for names that are known already.
pub(crate) fn swept(tables: &Tables, order: &Order, names: &Names<'_>, longest: usize) -> Sweep {
    let queues = Queues::of(tables);
    let mut sweepers: Vec<_> =
        order.agents.iter().map(|ops| Sweeper::new(tables, ops, names, &queues, longest)).collect();
    let rows = u32::try_from(tables.dispatches.len()).unwrap_or(u32::MAX);
    for stretch in (0..rows).step_by(STRETCH as usize) {
        sweepers.iter_mut().for_each(|sweeper| sweeper.advance(stretch.saturating_add(STRETCH)));
    }
    let mut parts: Vec<_> = sweepers.into_iter().map(Sweeper::finish).collect();
    parts.sort_by(|one, other| (one.gpu.gpu, &one.gpu.label).cmp(&(other.gpu.gpu, &other.gpu.label)));
    let mut sweep = Sweep::default();
    for part in parts {
        sweep.gpus.push(part.gpu);
        sweep.gaps.push(part.gaps);
        sweep.longest.extend(part.longest);
        for (all, found) in [(&mut sweep.overlaps, part.overlaps), (&mut sweep.duplicates, part.duplicates)] {
            all.count += found.count;
            all.examples.extend(found.examples);
        }
    }
    sweep.longest.sort_by_key(|gap| (Reverse(gap.duration_ns), gap.start_ns, gap.gpu));
    sweep.longest.truncate(longest);
    sweep
}
