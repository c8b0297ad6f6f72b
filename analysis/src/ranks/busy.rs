//! How long each rank was busy, and how long with its own work: anything but collectives.

use rtl_schema::Tables;

use super::members::Members;
use crate::base::ops::{self, Order};
use crate::base::uncovered::Uncovered;
use crate::base::union_length::{UnionLength, to_ns};
use crate::names::kernel_names::KernelNames;

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

#[derive(Debug, Default)]
struct Own {
    busy: Busy,
    waits: Uncovered,
}

/// Returns for each member how long it was busy, and what nothing but collectives covers of its waits, in ns. Two processes
/// that share a GPU have unions of their own.
pub(super) fn busy(
    tables: &Tables,
    order: &Order,
    members: &Members,
    names: &KernelNames,
    waits: Vec<Uncovered>,
) -> Vec<(Busy, i64)> {
    let by_agent = members.by_agent(order);
    let own = waits.into_iter().map(|waits| Own { busy: Busy::default(), waits }).collect();
    let bases = order.agents.iter().map(|ops| ops.base(tables));
    let mut gpus: Vec<(i64, Vec<Own>)> = bases.zip(by_agent.divide(own)).collect();
    let place_of_track = by_agent.places_of_tracks(members);
    let any_collective = names.any_collective();
    ops::in_order_on_threads(tables, order, &mut gpus, |(base, members), same| {
        same.ops().for_each(|op| {
            let place = place_of_track[op.track(tables).index()];
            let Some(Own { busy, waits }) = members.get_mut(place) else { return };
            let is_collective =
                any_collective && !op.copy && names.is_collective(tables.dispatches.name[op.row as usize]);
            let length = op.length(tables);
            busy.add(same.start, length, is_collective);
            if !is_collective {
                let start = base.saturating_add_unsigned(same.start);
                waits.add(start, start.saturating_add_unsigned(length));
            }
        });
    });
    let own = by_agent.join(gpus.into_iter().map(|(_, members)| members).collect());
    own.into_iter().map(|Own { busy, waits }| (busy, waits.finish())).collect()
}
