//! How long each rank was busy, and how long with its own work: anything but collectives.

use rtl_schema::Tables;

use super::members::Members;
use crate::kernel_names::KernelNames;
use crate::ops::{self, Order};
use crate::union_length::{UnionLength, to_ns};

/// Unions of the ops of one rank.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Busy {
    first: Option<u64>,
    all: UnionLength,
    compute: UnionLength,
}

impl Busy {
    /// Adds an op in order of start; times in ns after the first start on its GPU.
    #[inline]
    pub(super) fn add(&mut self, start: u64, length: u64, collective: bool) {
        let end = start.saturating_add(length);
        self.first.get_or_insert(start);
        self.all.add(start, end);
        if !collective {
            self.compute.add(start, end);
        }
    }

    /// First start to last end in ns.
    pub(super) fn wall_ns(&self) -> i64 {
        to_ns(self.all.end().saturating_sub(self.first.unwrap_or(0)))
    }

    /// Busy time and, of that, own work, in ns.
    pub(super) fn busy_and_compute_ns(&self) -> (i64, i64) {
        (self.all.length_ns(), self.compute.length_ns())
    }
}

/// By member. Two processes that share a GPU have unions of their own.
pub(super) fn busy(tables: &Tables, order: &Order, members: &Members, names: &KernelNames) -> Vec<Busy> {
    let by_agent = members.by_agent(order);
    let mut busy = by_agent.divide(vec![Busy::default(); members.all.len()]);
    ops::in_order_on_threads(tables, order, &mut busy, |busy, same| {
        for op in same.ops() {
            if let Some(at) = members.of_track(op.track(tables)) {
                let collective = !op.copy && names.is_collective(tables.dispatches.name[op.row as usize]);
                busy[by_agent.place(at)].add(same.start, op.length(tables), collective);
            }
        }
    });
    by_agent.join(busy)
}
