//! How busy each GPU was, which classes of ops overlapped, and where it was idle.
//!
//! Ops are those of [`crate::ops`]. Barriers wait rather than work and are left out. A copy counts for the GPU that its
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
use crate::few;
use crate::kernel_names::KernelNames;
use crate::ops::Order;
use crate::time_slices::{self, Slice};

/// A sweep with what is known of each GPU beside it.
#[derive(Debug)]
pub struct Swept {
    /// The sweep.
    pub sweep: Sweep,
    /// The longest gaps of each GPU, in the order of [`Sweep::gpus`]: longest first, then by start.
    pub(crate) longest: Vec<Vec<LongGap>>,
}

/// Sweeps all GPUs and keeps the `longest` longest gaps of each, and of all.
pub fn sweep(tables: &Tables, order: &Order, names: &KernelNames, longest: usize) -> Swept {
    in_slices(tables, order, &time_slices::slices(tables, order), names, longest)
}

fn in_slices(tables: &Tables, order: &Order, slices: &[Slice], names: &KernelNames, longest: usize) -> Swept {
    let queues = Queues::of(tables);
    let time = time(tables, order);
    let gpu = |ops| GpuSweep::new(tables, ops, names, &queues, time, longest);
    let gpus = time_slices::add_up(tables, order, slices, gpu);
    let mut parts: Vec<_> = gpus.into_iter().map(GpuSweep::finish).collect();
    few::sort_by(&mut parts, |one, other| {
        (one.gpu.gpu, &one.gpu.label).cmp(&(other.gpu.gpu, &other.gpu.label))
    });
    let mut sweep = Sweep::default();
    let mut longest_of_gpus = Vec::with_capacity(parts.len());
    for part in parts {
        sweep.longest.extend(part.longest.iter().map(|gap| gap.of_gpu(tables, &part.gpu)));
        sweep.gpus.push(part.gpu);
        sweep.gaps.push(part.gaps);
        sweep.busy_over_time.push(part.busy_over_time);
        longest_of_gpus.push(part.longest);
        for (all, found) in [(&mut sweep.overlaps, part.overlaps), (&mut sweep.duplicates, part.duplicates)] {
            all.count += found.count;
            all.examples.extend(found.examples);
        }
    }
    few::sort_by_key(&mut sweep.longest, |gap| (Reverse(gap.duration_ns), gap.start_ns, gap.gpu));
    sweep.longest.truncate(longest);
    Swept { sweep, longest: longest_of_gpus }
}

/// The first start and the last end of the ops of all GPUs, in ns.
fn time(tables: &Tables, order: &Order) -> (i64, i64) {
    let of_gpus = order.agents.iter().map(|ops| (ops.base(tables), ops.end));
    of_gpus.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rtl_schema::AgentId;
    use rtl_schema::table::{Agent, AgentKind, Copy, Dispatch, Track};

    use super::*;
    use crate::Categories;

    /// GPU, queue, start, duration and kernel of a dispatch; of a copy there is no kernel.
    type Row = (u32, i64, i64, i64, Option<usize>);

    fn row() -> impl Strategy<Value = Row> {
        let duration = prop_oneof![0_i64..3, 0_i64..60, 0_i64..2_000];
        (0_u32..3, 0_i64..2, 0_i64..1_000, duration, prop::option::weighted(0.8, 0_usize..3))
    }

    fn tables(rows: Vec<Row>) -> Tables {
        let mut tables = Tables::default();
        let names = ["gemm", "softmax", "ncclAllReduce"].map(|name| tables.strings.intern(name));
        for number in 0..3 {
            tables.agents.push(Agent { number, kind: AgentKind::Gpu, ..Agent::default() });
        }
        for (agent, queue, start, duration, kernel) in rows {
            let agent = AgentId(agent);
            let track = tables.tracks.intern(Track { agent, queue, ..Track::default() });
            let duration = Some(duration);
            match kernel.map(|kernel| names[kernel]) {
                None => tables.copies.push(Copy { track, start, duration, ..Copy::default() }),
                Some(name) => {
                    tables.dispatches.push(Dispatch { track, name, start, duration, ..Dispatch::default() });
                }
            }
        }
        tables
    }

    proptest! {
        #[test]
        fn slices_of_the_time_add_up_to_one_sweep(
            mut rows in prop::collection::vec(row(), 0..80),
            is_sorted: bool,
            length in 1_usize..30,
        ) {
            if is_sorted {
                rows.sort_by_key(|row| row.2);
            }
            let tables = tables(rows);
            let (order, names) = (Order::of(&tables), KernelNames::of(&tables, &Categories::default()));
            let sweep = |rows: usize| {
                in_slices(&tables, &order, &time_slices::cut(&tables, &order, rows), &names, 4)
            };
            let (sliced, whole) = (sweep(length), sweep(100));
            prop_assert_eq!(sliced.sweep, whole.sweep);
            let described = |swept: &[Vec<LongGap>]| format!("{swept:?}");
            prop_assert_eq!(described(&sliced.longest), described(&whole.longest));
        }
    }
}
