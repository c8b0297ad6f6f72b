//! From the host to the GPU: how long after its launch an op started, how much was queued at each moment, and whether an
//! idle GPU had been given anything to do.
//!
//! When an op was enqueued is known from the trace, or bounded by the call that launched it. Ops are dispatches and
//! copies with a known, non-negative duration, as in [`crate::sweep`]. `docs/reference/launches.md` has the definitions.

mod depth;
mod latency;
mod moments;

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

pub use self::depth::{DEPTHS, Depth, Idle, Queues};
pub use self::latency::{KernelLatency, Latency};
use self::moments::Moments;
pub use self::moments::queued_since;
use crate::Categories;
use crate::names::Names;
use crate::order::Order;

/// How it is known when ops were enqueued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sources {
    /// Ops with a recorded moment.
    pub enqueued: u64,
    /// Ops without one, tied to the call that launched them.
    pub called: u64,
    /// Ops with neither.
    pub unknown: u64,
}

impl Sources {
    /// How many ops are tied to the host.
    pub fn known(&self) -> u64 {
        self.enqueued + self.called
    }

    fn add(&mut self, other: Self) {
        self.enqueued += other.enqueued;
        self.called += other.called;
        self.unknown += other.unknown;
    }
}

/// Launch figures of a trace; `None` if it links no op to the host.
pub fn launches(tables: &Tables, order: &Order, categories: &Categories) -> Option<(Latency, Queues)> {
    of_named(tables, order, &Names::of(tables, categories))
}

/// [`launches()`] for names that are known already.
pub(crate) fn of_named(tables: &Tables, order: &Order, names: &Names<'_>) -> Option<(Latency, Queues)> {
    if !may_be_known(tables) {
        return None;
    }
    let moments = Moments::of(tables, order);
    let latency = latency::latency(tables, order, &moments, names);
    (latency.sources.known() > 0).then(|| (latency, depth::queues(tables, order, &moments)))
}

/// Whether any op may be tied to the host: a look at a few columns, for traces that know nothing of launches.
pub(crate) fn may_be_known(tables: &Tables) -> bool {
    let dispatches = &tables.dispatches;
    let stored = !dispatches.is_empty() && dispatches.enqueued.uniform() != Some(None);
    let called = !tables.api_calls.is_empty() && tables.api_calls.correlation.uniform() != Some(0);
    stored || called || tables.copies.iter().any(|copy| copy.enqueued.is_some())
}
