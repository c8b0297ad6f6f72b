//! How busy each GPU was, which classes of ops overlapped, and where it was idle.
//!
//! Ops are those of [`crate::base::ops`]. Barriers wait rather than work and are left out. A copy counts for the GPU that its
//! track names.

mod busy_over_time;
mod gaps;
mod gpu;
mod queues;
mod types;
mod utilization;

use std::cmp::Reverse;

use rtl_schema::Tables;

pub(crate) use self::gaps::LongGap;
use self::gpu::GpuSweep;
use self::queues::Queues;
pub use self::types::{BUCKETS, Bucket, Example, Gap, Gpu, GpuGaps, PARTS, SuspiciousRows, Sweep};
pub(crate) use self::utilization::{Class, Utilization};
use crate::base::ops::{self, Order};
use crate::names::kernel_names::KernelNames;
use crate::names::labels::Labels;

/// A sweep with what is known of each GPU beside it.
#[derive(Debug)]
pub struct Swept {
    /// Figures of all GPUs.
    pub sweep: Sweep,
    /// The longest gaps of each GPU, in the order of [`Sweep::gpus`]: longest first, then by start.
    pub(crate) longest: Vec<Vec<LongGap>>,
}

/// Sweeps all GPUs and keeps the `longest` longest gaps of each, and of all.
pub fn sweep(tables: &Tables, order: &Order, names: &KernelNames, longest: usize) -> Swept {
    let queues = Queues::of(tables);
    let time = time(tables, order);
    let gpus = order.agents.iter().map(|ops| GpuSweep::new(tables, ops, names, &queues, time, longest));
    let mut gpus: Vec<GpuSweep<'_>> = gpus.collect();
    ops::in_order_on_threads(tables, order, &mut gpus, GpuSweep::add);
    let labels = Labels::new(tables);
    let mut parts: Vec<_> = gpus.into_iter().map(|gpu| gpu.finish(&labels)).collect();
    parts.sort_by(|one, other| (one.gpu.gpu, &one.gpu.label).cmp(&(other.gpu.gpu, &other.gpu.label)));
    let mut sweep = Sweep::default();
    let mut longest_of_gpus = Vec::with_capacity(parts.len());
    for part in parts {
        sweep.longest.extend(part.longest.iter().map(|gap| gap.of_gpu(tables, &part.gpu)));
        sweep.gpus.push(part.gpu);
        sweep.gaps.push(part.gaps);
        sweep.busy_over_time.push(part.busy_over_time);
        longest_of_gpus.push(part.longest);
        sweep.overlap_ns = sweep.overlap_ns.saturating_add(part.overlap_ns);
        for (all, found) in [(&mut sweep.overlaps, part.overlaps), (&mut sweep.duplicates, part.duplicates)] {
            all.count += found.count;
            all.examples.extend(found.examples);
        }
    }
    sweep.longest.sort_by_key(|gap| (Reverse(gap.duration_ns), gap.start_ns, gap.gpu));
    sweep.longest.truncate(longest);
    Swept { sweep, longest: longest_of_gpus }
}

/// The first start and the last end of the ops of all GPUs, in ns.
fn time(tables: &Tables, order: &Order) -> (i64, i64) {
    let of_gpus = order.agents.iter().map(|ops| (ops.base(tables), ops.end));
    of_gpus.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default()
}
