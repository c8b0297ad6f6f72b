//! From the host to the GPU: launch latency, queue depth, and whether an
//! idle GPU had queued ops.
//!
//! When an op was enqueued is known from the trace, or bounded by the call that launched it. Ops are dispatches and
//! copies with a known, non-negative duration, as in [`crate::gpu_time::sweep`]. `docs/reference/launches.md` has the definitions.

mod depth;
mod enqueue_times;
mod latency;

use rtl_schema::Tables;

pub use self::depth::{DEPTHS, Depth, Idle, Queues};
pub(crate) use self::enqueue_times::EnqueueTimes;
pub use self::enqueue_times::{Sources, queued_since};
pub use self::latency::{KernelLatency, Latency, OpLatencies};
use crate::base::ops::Order;
use crate::names::kernel_names::KernelNames;

/// Launch figures of a trace; `None` if it links no op to the host.
pub(crate) fn launches(
    tables: &Tables,
    order: &Order,
    times: &EnqueueTimes<'_>,
    names: &KernelNames,
) -> Option<(Latency, Queues)> {
    let latency = latency::latency(tables, order, times, names);
    (latency.sources.known() > 0).then(|| (latency, depth::queues(tables, order, times)))
}

/// Returns whether any op may be tied to the host: a look at a few columns, for traces that know nothing of launches.
pub(crate) fn has_launch_data(tables: &Tables) -> bool {
    let dispatches = &tables.dispatches;
    let stored = !dispatches.is_empty() && dispatches.details.enqueued.uniform() != Some(None);
    let called = !tables.api_calls.is_empty() && tables.api_calls.correlation.uniform() != Some(0);
    stored || called || tables.copies.iter().any(|copy| copy.details.enqueued.is_some())
}
