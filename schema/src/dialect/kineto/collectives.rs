//! Collectives: events state them in the arguments of `record_param_comms`, which kernels repeat or only refer to.

use std::mem::take;

use super::event::Event;
use super::resolve::unambiguous;
use super::rows::{Open, Rows};
use super::scalar::{bare, unsigned, whole};
use super::sources::StatedCollectives;
use crate::CollectiveId;
use crate::table::Collective;

impl Rows {
    /// `None` where an event states no collective.
    pub(super) fn collective(&mut self, event: &Event<'_>) -> Option<CollectiveId> {
        let arguments = event.arguments;
        if arguments.collective.is_empty() || !self.select.any_collective() {
            return None;
        }
        let collective = Collective {
            operation: self.name(arguments.collective),
            communicator: self.name(arguments.group),
            ranks: self.verbatim(bare(arguments.group_ranks), true),
            size: unsigned(arguments.group_size),
            data_type: self.name(arguments.data_type),
            sent: unsigned::<i64>(arguments.sent).map(i64::unsigned_abs),
            received: unsigned::<i64>(arguments.received).map(i64::unsigned_abs),
            sequence: unsigned(arguments.collective_sequence),
        };
        Some(self.tables.collectives.intern(collective))
    }

    /// Takes down what an operator states for the kernel that it launches.
    pub(super) fn state_collective(&mut self, event: &Event<'_>) {
        if let Some(collective) = self.collective(event)
            && let Some(external) = whole(event.arguments.external)
        {
            self.open.collectives.stated.push((external, collective));
        }
    }

    /// Takes down the kernel of the next row, which states nothing, if it may execute a collective.
    pub(super) fn open_collective(&mut self, event: &Event<'_>) {
        if self.select.any_collective()
            && event.name.windows(4).any(|part| part.eq_ignore_ascii_case(b"nccl"))
            && let Some(external) = whole(event.arguments.external)
        {
            self.open.collectives.kernels.push((external, self.tables.dispatches.len() as u32));
        }
    }

    /// Gives kernels what only the operator that launched them states of a collective.
    pub(super) fn finish_collectives(&mut self, open: &mut Open) {
        let StatedCollectives { stated, kernels } = take(&mut open.collectives);
        let stated = unambiguous(stated);
        for (external, row) in kernels {
            if let Some(&collective) = stated.get(&external) {
                self.tables.dispatches.collective.set(row as usize, Some(collective));
            }
        }
    }
}
