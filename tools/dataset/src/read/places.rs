//! Processes and agents by the numbers that rows have.

use rtl_schema::table::{Agent, AgentKind};
use rtl_schema::{AgentId, ProcessId, Result, Tables};
use rustc_hash::FxHashMap;

use super::rows::{Column, Group};
use crate::damage::damaged;

/// Where rows happened.
pub(super) struct Places {
    /// By rank and id, the first process.
    processes: FxHashMap<(Option<u32>, Option<i64>), ProcessId>,
    gpus: FxHashMap<i64, AgentId>,
    /// In place of all agents that are no GPUs.
    other: Option<AgentId>,
}

impl Places {
    pub(super) fn new(tables: &Tables) -> Self {
        let mut processes = FxHashMap::default();
        for (number, process) in (0..).zip(&tables.processes) {
            processes.entry((process.rank, process.pid)).or_insert(ProcessId(number));
        }
        let agents = || (0..).map(AgentId).zip(&tables.agents);
        let gpus = agents().filter(|(_, agent)| agent.kind == AgentKind::Gpu);
        let gpus = gpus.map(|(id, agent)| (agent.number, id)).collect();
        let unknown = agents().find(|(_, agent)| agent.kind == AgentKind::Unknown);
        let other = unknown.or_else(|| agents().find(|(_, agent)| agent.kind != AgentKind::Gpu));
        Self { processes, gpus, other: other.map(|(id, _)| id) }
    }

    /// `pids` has the ids.
    pub(super) fn process(&self, group: &Group<'_>, pids: &Column<i64>, row: usize) -> Result<ProcessId> {
        let pid = pids.get(row);
        self.processes.get(&(group.rank(row), pid)).copied().ok_or_else(|| {
            let pid = pid.map_or_else(|| "without an id".to_owned(), |pid| pid.to_string());
            damaged(group.path, format!("a row of the process {pid}, which is unknown"))
        })
    }

    pub(super) fn gpu(&self, group: &Group<'_>, gpus: &Column<i64>, row: usize) -> Result<Option<AgentId>> {
        let Some(gpu) = gpus.get(row) else { return Ok(None) };
        let agent = self.gpus.get(&gpu).copied();
        agent.map(Some).ok_or_else(|| damaged(group.path, format!("a row of GPU {gpu}, which is unknown")))
    }

    pub(super) fn agent(
        &mut self,
        group: &Group<'_>,
        (gpus, row): (&Column<i64>, usize),
        agents: &mut Vec<Agent>,
    ) -> Result<AgentId> {
        if let Some(gpu) = self.gpu(group, gpus, row)? {
            return Ok(gpu);
        }
        Ok(*self.other.get_or_insert_with(|| {
            agents.push(Agent { kind: AgentKind::Unknown, ..Agent::default() });
            AgentId(agents.len() as u32 - 1)
        }))
    }
}
