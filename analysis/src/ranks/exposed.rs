//! How long each rank waited in collectives for other ranks while nothing else ran on its GPU.
//!
//! Waiting is what a member stays in a collective beyond the shortest stay of all members (see [`crate::ranks::align`]), at the
//! start of its own stay. No clocks are compared.

use super::collectives::GroupInstances;
use super::members::Members;
use crate::base::uncovered::Uncovered;

/// When each member waited, before any op covers that.
pub(super) fn waits(members: &Members, instances: &[GroupInstances]) -> Vec<Uncovered> {
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
    threads::map(waits, Uncovered::of)
}
