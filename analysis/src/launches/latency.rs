//! How long after its launch an op started.

use std::cmp::Reverse;

use rtl_schema::Tables;
use serde::{Deserialize, Serialize};

use super::enqueue_times::{EnqueueTime, EnqueueTimes, Sources};
use crate::Stats;
use crate::base::ops::Order;
use crate::names::kernel_names::KernelNames;

/// From the host to the start on the GPU: from the moment of enqueueing where that is recorded, else from the start of the
/// launching call. Of several ops of one call (a graph launch) only the first one counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Latency {
    /// Where the times come from.
    #[serde(flatten)]
    pub sources: Sources,
    /// Later ops of a call, which are in no figure.
    pub later: u64,
    /// Ops that start before they were launched, which only clocks that disagree make; they are in no figure.
    pub negative: u64,
    /// Latencies of all kernels.
    pub all: Stats,
    /// Latencies of all copies.
    pub copies: Stats,
    /// Latencies of each kernel, largest total first, then by name.
    pub kernels: Vec<KernelLatency>,
}

/// The launch latency of one kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelLatency {
    /// Name of the kernel.
    pub name: String,
    /// Latencies in ns.
    #[serde(flatten)]
    pub stats: Stats,
}

pub(super) fn latency(
    tables: &Tables,
    order: &Order,
    times: &EnqueueTimes<'_>,
    names: &KernelNames,
) -> Latency {
    let mut latency = Latency::default();
    let mut of_kernels = vec![Vec::new(); names.kernels.len()];
    let mut of_copies = Vec::new();
    for ops in &order.agents {
        for op in ops.ops() {
            let moment = times.get(op, &mut latency.sources);
            let Some(length) = latency.length(moment, op.start(tables)) else { continue };
            match op.copy {
                true => of_copies.push(length),
                false => of_kernels[names.kernel(tables.dispatches.name[op.row as usize])].push(length),
            }
        }
    }
    latency.all = Stats::of_durations(of_kernels.iter().flatten().copied());
    latency.copies = Stats::of_durations(of_copies);
    let kernels = of_kernels.into_iter().enumerate().filter(|(_, lengths)| !lengths.is_empty());
    latency.kernels = kernels
        .map(|(kernel, lengths)| KernelLatency {
            name: names.kernels[kernel].label.to_string(),
            stats: Stats::of_durations(lengths),
        })
        .collect();
    let order = |one: &KernelLatency, other: &KernelLatency| {
        (Reverse(one.stats.total_ns), &one.name).cmp(&(Reverse(other.stats.total_ns), &other.name))
    };
    latency.kernels.sort_by(order);
    latency
}

/// The launch latency in ns of each dispatch and of each copy, by row; `None` of an op that has none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpLatencies {
    /// Latency of each dispatch in ns, where it is known.
    pub dispatches: Vec<Option<i64>>,
    /// Latency of each copy in ns, where it is known.
    pub copies: Vec<Option<i64>>,
}

impl OpLatencies {
    /// The latencies behind [`Latency`], which needs links and API calls.
    pub fn of(tables: &Tables) -> Self {
        let order = Order::of(tables);
        let times = EnqueueTimes::new(tables, &order);
        let mut latency = Latency::default();
        let mut all =
            Self { dispatches: vec![None; tables.dispatches.len()], copies: vec![None; tables.copies.len()] };
        for op in order.agents.iter().flat_map(|ops| ops.ops()) {
            let moment = times.get(op, &mut latency.sources);
            let column = if op.copy { &mut all.copies } else { &mut all.dispatches };
            column[op.row as usize] = latency.length(moment, op.start(tables));
        }
        all
    }
}

impl Latency {
    /// The latency of an op that starts at `start`, or why it has none.
    #[inline]
    fn length(&mut self, moment: EnqueueTime, start: i64) -> Option<i64> {
        let from = match moment {
            EnqueueTime::Enqueued(moment) => moment,
            EnqueueTime::Called { start, first: true, .. } => start,
            EnqueueTime::Called { .. } => {
                self.later += 1;
                return None;
            }
            EnqueueTime::Unknown => return None,
        };
        let length = start.saturating_sub(from);
        if length < 0 {
            self.negative += 1;
            return None;
        }
        Some(length)
    }
}
