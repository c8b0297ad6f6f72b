//! How busy each GPU was, which classes of ops overlapped, and where it was idle.
//!
//! Ops are those of [`crate::ops`]. Barriers wait rather than work and are left out. A copy counts for the GPU that its
//! track names.

mod gaps;
mod gpu;
mod queues;
mod types;
mod utilization;

use std::cmp::Reverse;

use rtl_schema::Tables;

use self::gpu::GpuSweep;
use self::queues::Queues;
pub use self::types::{BUCKETS, Bucket, Example, Gap, Gpu, GpuGaps, SuspiciousRows, Sweep};
pub(crate) use self::utilization::{Class, Utilization};
use crate::kernel_names::KernelNames;
use crate::ops::{self, Order};

/// Sweeps all GPUs and keeps the `longest` longest gaps.
pub fn sweep(tables: &Tables, order: &Order, names: &KernelNames, longest: usize) -> Sweep {
    let queues = Queues::of(tables);
    let gpu = |ops| GpuSweep::new(tables, ops, names, &queues, longest);
    let mut gpus: Vec<GpuSweep<'_>> = order.agents.iter().map(gpu).collect();
    ops::in_order_on_threads(tables, order, &mut gpus, GpuSweep::add);
    let mut parts: Vec<_> = gpus.into_iter().map(GpuSweep::finish).collect();
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
