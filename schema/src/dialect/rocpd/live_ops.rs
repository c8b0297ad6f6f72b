//! Reads the ops of a file that is still written, for views that follow a recording.

use super::calls::Calls;
use super::join::{Join, Seen};
use super::launches::Launches;
use super::links::Links;
use super::op_columns::OpFields;
use super::ops::{Context, OpPart, UNNAMED};
use super::{Agents, IdMap, Names, Processes, References, Variant};
use crate::sqlite::{Database, Row};
use crate::table::Agent;
use crate::{CollectiveId, ProcessId, Result, Select, Tables};

/// Reads ops of a native file as they come, without what ties them to calls.
#[derive(Debug)]
pub(crate) struct LiveOps {
    variant: Variant,
    select: Select,
    fields: OpFields,
    pub(crate) references: References,
    agents: Agents,
    processes: Processes,
    links: Links,
    calls: Calls,
    launches: Launches,
    collectives: IdMap<CollectiveId>,
}

impl LiveOps {
    /// The `tables` of the file have its processes and agents.
    ///
    /// # Errors
    /// The columns of the table cannot be read.
    pub(crate) fn new(database: &Database, mut references: References, tables: &Tables) -> Result<Self> {
        let variant = Variant { typed_ops: true, ..Variant::default() };
        let select = Select { ranges: true, links: true, ..Select::ops() };
        Ok(Self {
            fields: OpFields::new(database, &variant, &select, false)?,
            processes: Processes::of(tables, &references.processes, None),
            agents: Agents::of(std::mem::take(&mut references.agents)),
            variant,
            select,
            references,
            links: Links::default(),
            calls: Calls::default(),
            launches: Launches::default(),
            collectives: IdMap::default(),
        })
    }

    /// The columns to read.
    pub(crate) fn columns(&self) -> &[&'static str] {
        self.fields.plan.columns()
    }

    /// Adds the agents that are new in the metadata.
    pub(crate) fn add_agents(&mut self, found: Vec<(i64, Agent)>, tables: &mut Tables) {
        for (id, agent) in found {
            match self.agents.find(id) {
                Some(known) => tables.agents[known.index()] = agent,
                None => {
                    self.agents.push(id);
                    tables.agents.push(agent);
                }
            }
        }
    }

    /// Adds the ops that `rows` calls its argument with.
    ///
    /// # Errors
    /// `rows` fails.
    pub(crate) fn add(
        &mut self,
        names: &Names,
        tables: &mut Tables,
        rows: impl FnOnce(&mut dyn FnMut(&Row<'_>)) -> Result<bool>,
    ) -> Result<bool> {
        let process = self.references.process;
        let context = Context {
            plain: Context::is_plain(&self.select, &self.variant, &self.fields, &self.links),
            variant: &self.variant,
            select: &self.select,
            fields: &self.fields,
            names,
            strings: &tables.strings,
            links: &self.links,
            calls: &self.calls,
            launches: &self.launches,
            processes: &self.processes,
            symbols: &self.references.symbols,
            collectives: &self.collectives,
            process: process
                .or_else(|| (tables.processes.len() == 1).then_some(ProcessId(0)))
                .unwrap_or(UNNAMED),
        };
        let mut part = OpPart::default();
        let more = rows(&mut |row| part.push(row, &context))?;
        let mut join = Join {
            variant: &self.variant,
            queues: &self.references.queues,
            agents: &mut self.agents,
            processes: &mut self.processes,
            hold_copies: false,
            keeps_rows: false,
            seen: Seen::default(),
        };
        join.join(&mut part, tables);
        Ok(more)
    }
}
