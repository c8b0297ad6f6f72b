use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::table::{Agent, AgentKind};
use crate::{AgentId, Tables};

/// The machines and devices met so far in one trace: every process lists all agents of its machine, the
/// same device is one [`Agent`] all the same.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    machines: Vec<String>,
    known: FxHashMap<(u32, i64), AgentId>,
    unknown: Option<AgentId>,
}

impl Devices {
    /// The number of a machine, in order of first appearance.
    pub(crate) fn machine(&mut self, identity: &str) -> u32 {
        let found = self.machines.iter().position(|machine| machine == identity);
        found.unwrap_or_else(|| {
            self.machines.push(identity.to_owned());
            self.machines.len() - 1
        }) as u32
    }

    /// The device that `agent` describes, added when its machine does not have it yet. Without an absolute
    /// index nothing identifies it beyond its own listing.
    pub(crate) fn listed(&mut self, agents: &mut Vec<Agent>, agent: Agent) -> AgentId {
        let next = AgentId(agents.len() as u32);
        let id = match (agent.node, agent.absolute_index) {
            (Some(node), Some(index)) => *self.known.entry((node, index)).or_insert(next),
            _ => next,
        };
        if id == next {
            agents.push(agent);
        }
        id
    }

    /// The agent of ops that name none.
    pub(crate) fn unknown(&mut self, agents: &mut Vec<Agent>) -> AgentId {
        *self.unknown.get_or_insert_with(|| {
            agents.push(Agent { kind: AgentKind::Unknown, source_id: -1, ..Agent::default() });
            AgentId(agents.len() as u32 - 1)
        })
    }

    /// Numbers the agents and forgets the machine where there is only one. GPUs keep their index among the
    /// GPUs of their process if it is unique, else they are numbered in machine order.
    pub(crate) fn finish(self, tables: &mut Tables) {
        for kind in [AgentKind::Gpu, AgentKind::Cpu, AgentKind::Other, AgentKind::Unknown] {
            number(&mut tables.agents, kind);
        }
        if self.machines.len() < 2 {
            tables.agents.iter_mut().for_each(|agent| agent.node = None);
            tables.processes.iter_mut().for_each(|process| process.node = None);
        }
    }
}

fn number(agents: &mut [Agent], kind: AgentKind) {
    let mut places: Vec<usize> = (0..agents.len()).filter(|&place| agents[place].kind == kind).collect();
    places.sort_by_key(|&place| {
        let agent = &agents[place];
        (agent.node, agent.absolute_index.unwrap_or(i64::MAX), agent.source_id)
    });
    let mut indices: Vec<i64> = places.iter().filter_map(|&place| agents[place].type_index).collect();
    indices.sort_unstable();
    let distinct = indices.windows(2).all(|pair| pair[0] != pair[1]);
    if !distinct {
        indices.clear();
    }
    // After the last index, and from 0 where no number is after it.
    let first = indices.last().map_or(Some(0), |last| last.checked_add(1)).unwrap_or(0);
    let numbers = (first..=i64::MAX).chain(0..first);
    let mut free = numbers.filter(|number| indices.binary_search(number).is_err());
    for place in places {
        let agent = &mut agents[place];
        agent.number = agent.type_index.filter(|_| distinct).or_else(|| free.next()).unwrap_or(-1);
    }
}

/// The id of a device as rocprofiler-sdk stores it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Uuid {
    bytes: FxHashMap<String, u8>,
}

impl Uuid {
    /// As HSA spells it, from the first eight bytes; zero is unknown.
    pub(crate) fn text(&self) -> Option<String> {
        let byte = |at| self.bytes.get(&format!("value{at}")).copied().unwrap_or(0);
        let id = u64::from_le_bytes(std::array::from_fn(byte));
        (id != 0).then(|| format!("GPU-{id:016x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_beyond_the_largest_index() {
        let agent = |type_index| Agent { kind: AgentKind::Gpu, type_index, ..Agent::default() };
        let mut agents = [agent(Some(i64::MAX)), agent(None), agent(None), agent(Some(1))];
        number(&mut agents, AgentKind::Gpu);
        let mut numbers = agents.map(|agent| agent.number);
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, i64::MAX]);
    }
}
