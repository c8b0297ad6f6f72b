//! How long each rank waited in collectives for other ranks while nothing else ran on its GPU.
//!
//! Waiting is what a member stays in a collective beyond the shortest stay of all members (see [`crate::align`]), at the
//! start of its own stay. No clocks are compared.

use rtl_schema::Tables;

use super::collectives::GroupInstances;
use super::members::Members;
use crate::kernel_names::KernelNames;
use crate::ops::{self, Order};
use crate::uncovered::Uncovered;

/// Waiting with nothing beside it, in ns, by member.
pub(super) fn waiting_ns(
    tables: &Tables,
    order: &Order,
    members: &Members,
    names: &KernelNames,
    instances: &[GroupInstances],
) -> Vec<i64> {
    let mut waits: Vec<Vec<(i64, i64)>> = vec![Vec::new(); members.all.len()];
    for collective in instances.iter().flat_map(|group| &group.all) {
        let stay = |start: i64, end: i64| end.saturating_sub(start);
        let shortest = collective.iter().map(|&(_, start, end)| stay(start, end)).min().unwrap_or(0);
        for &(member, start, end) in collective {
            let wait = stay(start, end) - shortest;
            if wait > 0 {
                waits[member].push((start, start.saturating_add(wait)));
            }
        }
    }
    let by_agent = members.by_agent(order);
    let alone = by_agent.divide(waits.into_iter().map(Uncovered::of).collect());
    let bases = order.agents.iter().map(|ops| ops.base(tables));
    let mut gpus: Vec<(i64, Vec<Uncovered>)> = bases.zip(alone).collect();
    ops::in_order_on_threads(tables, order, &mut gpus, |(base, alone), same| {
        let start = base.saturating_add_unsigned(same.start);
        for op in same.ops() {
            let is_own = op.copy || !names.is_collective(tables.dispatches.name[op.row as usize]);
            if let Some(member) = members.of_track(op.track(tables)).filter(|_| is_own) {
                let end = start.saturating_add_unsigned(op.length(tables));
                alone[by_agent.place(member)].add(start, end);
            }
        }
    });
    let alone = by_agent.join(gpus.into_iter().map(|(_, alone)| alone).collect());
    alone.into_iter().map(Uncovered::finish).collect()
}
