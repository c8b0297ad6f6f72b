//! Why each GPU was idle: every gap is split into causes, which add up to the idle time of [`crate::gpu_time::sweep`].
//!
//! A gap ends with an op. The thread that launched it decides: what it did until the op was enqueued is the cause of that
//! part of the gap, and the rest is `queued`. `docs/reference/idle.md` has the definitions.

mod blocked;
mod cause;
mod first_times;
mod gap_split;
mod gpu;
mod losses;
mod own_code;
mod paths;
mod pieces;
mod queue_starts;
mod tally;
mod threads;
mod types;
pub(crate) mod unknown;

use rtl_schema::Tables;

pub use self::cause::Cause;
pub(crate) use self::cause::of_function as cause_of_function;
use self::gpu::GpuSweep;
pub(crate) use self::losses::{Loss, LossKind, Losses, LostPart, Site};
pub(crate) use self::own_code::{is_of_model, says_where};
pub(crate) use self::paths::{PathId, Paths, SpanKind, innermost_of_most};
pub(crate) use self::tally::LONGEST_OF_CAUSE;
use self::threads::Threads;
pub use self::types::{AfterBlocking, CauseIdle, GapPart, GpuIdle, IdleGap, IdlePiece, Place, PlaceIdle};
use crate::base::ops::{self, Order};
use crate::launches::EnqueueTimes;

/// All pieces of all gaps, those of each GPU in order: 32 bytes for each.
pub fn pieces(tables: &Tables) -> Vec<IdlePiece> {
    let order = Order::of(tables);
    let times = EnqueueTimes::new(tables, &order);
    let threads = Threads::new(tables, &times);
    let mut all = Vec::new();
    for ops in &order.agents {
        let mut gpu = GpuSweep::new(tables, ops, &threads, &times).keeping_pieces();
        ops.in_order(tables).for_each(|same| gpu.add(same));
        all.append(&mut gpu.pieces());
    }
    all
}

/// The idle time of GPUs with at least one op, by number.
pub(crate) fn idle(tables: &Tables, order: &Order, times: &EnqueueTimes<'_>) -> Vec<GpuIdle> {
    let threads = Threads::new(tables, times);
    let gpu = |ops| GpuSweep::new(tables, ops, &threads, times);
    let mut gpus: Vec<GpuSweep<'_>> = order.agents.iter().map(gpu).collect();
    ops::in_order_on_threads(tables, order, &mut gpus, GpuSweep::add);
    let mut gpus: Vec<GpuIdle> = gpus.into_iter().map(GpuSweep::finish).collect();
    gpus.sort_by(|one, other| (one.gpu, &one.label).cmp(&(other.gpu, &other.label)));
    gpus
}
