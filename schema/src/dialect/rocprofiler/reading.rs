use super::devices::Devices;
use super::events::{Events, Timed};
use super::references::References;
use super::set::Set;
use crate::sqlite::Row;
use crate::table::AgentKind;
use crate::{AgentId, Id, ProblemKind, Select, Tables};

/// One set while its rows are read.
pub(super) struct Reading<'a> {
    pub(super) set: Set<'a>,
    pub(super) select: &'a Select,
    pub(super) references: References,
    pub(super) events: Events,
    pub(super) devices: &'a mut Devices,
    pub(super) tables: &'a mut Tables,
}

impl Reading<'_> {
    /// The values of a row that has a time, if it has: see [`Events::timed`].
    pub(super) fn timed(&mut self, table: &str, row: &Row<'_>, at: [usize; 6]) -> Option<Timed> {
        self.events.timed(&self.references, &mut self.tables.problems, table, row, at, true)
    }

    /// The agent `id` of a row; one that no row describes is added (and counted).
    pub(super) fn agent(&mut self, table: &str, column: &str, row: Id, id: Id) -> AgentId {
        self.references.agents.get(&id).copied().unwrap_or_else(|| {
            self.tables.problems.add_in(ProblemKind::DanglingReference, table, column, row);
            self.references.add_agent(id, AgentKind::Unknown, self.devices, self.tables)
        })
    }
}
