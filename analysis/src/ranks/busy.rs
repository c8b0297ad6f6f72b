//! How long each rank did anything, and anything but wait in collectives.

use rtl_schema::Tables;

use super::members::Members;
use crate::names::Names;
use crate::order::Order;

/// Unions of one rank's ops in ns.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Busy {
    pub(super) busy_ns: i64,
    pub(super) compute_ns: i64,
    busy_until: Option<i64>,
    compute_until: Option<i64>,
}

impl Busy {
    /// Adds an op; starts must not decrease.
    #[inline]
    pub(super) fn add(&mut self, start: i64, duration: i64, collective: bool) {
        let end = start.saturating_add(duration);
        let Self { busy_ns, compute_ns, busy_until, compute_until } = self;
        unite(busy_ns, busy_until, start, end);
        if !collective {
            unite(compute_ns, compute_until, start, end);
        }
    }
}

/// By member. Two processes that share a GPU have unions of their own.
pub(super) fn busy(tables: &Tables, order: &Order, members: &Members, names: &Names<'_>) -> Vec<Busy> {
    let mut busy = vec![Busy::default(); members.all.len()];
    let mut add = |track, start: i64, duration: i64, collective: bool| {
        if let Some(at) = members.of_track(track) {
            busy[at].add(start, duration, collective);
        }
    };
    let dispatches = &tables.dispatches;
    for ops in &order.agents {
        let mut copies = ops.copies.iter().map(|&row| &tables.copies[row as usize]).peekable();
        for row in ops.dispatches.iter().map(|&row| row as usize) {
            let start = dispatches.start[row];
            while let Some(copy) = copies.next_if(|copy| copy.start < start) {
                add(copy.track, copy.start, copy.duration.unwrap_or(0), false);
            }
            let duration = dispatches.duration.valid(row).unwrap_or(0);
            add(dispatches.track[row], start, duration, names.is_collective(dispatches.name[row]));
        }
        for copy in copies {
            add(copy.track, copy.start, copy.duration.unwrap_or(0), false);
        }
    }
    busy
}

/// Starts must not decrease.
fn unite(length: &mut i64, until: &mut Option<i64>, start: i64, end: i64) {
    let covered = until.unwrap_or(start).max(start);
    *length = length.saturating_add(end.saturating_sub(covered).max(0));
    *until = Some(end.max(covered));
}
