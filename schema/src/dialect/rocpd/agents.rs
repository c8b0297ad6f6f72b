//! GPUs by the gpuId that ops carry. Ops name agents that the metadata lacks, so these are added after the scan.

use rustc_hash::FxHashMap;

use crate::AgentId;
use crate::table::{Agent, AgentKind};

/// The gpuId of an op that names no agent.
pub(crate) const NO_GPU: i64 = i64::MIN;

/// The agents of the tables by their gpuIds.
#[derive(Debug, Default)]
pub(crate) struct Agents {
    ids: FxHashMap<i64, AgentId>,
    count: u32,
}

impl Agents {
    /// Takes the gpuIds of the agents in the order of the tables.
    pub(super) fn of(gpus: Vec<i64>) -> Self {
        let mut agents = Self::default();
        gpus.into_iter().for_each(|gpu| agents.push(gpu));
        agents
    }

    /// Adds an agent. Where several have one gpuId, ops mean the first.
    pub(super) fn push(&mut self, gpu: i64) {
        self.ids.entry(gpu).or_insert(AgentId(self.count));
        self.count += 1;
    }

    /// The agent behind a gpuId.
    pub(super) fn find(&self, gpu: i64) -> Option<AgentId> {
        self.ids.get(&gpu).copied()
    }

    /// Adds the agents that ops name and the metadata lacks, GPUs in the order of their numbers;
    /// `stride` separates the machines in packed numbers.
    pub(super) fn add(&mut self, mut gpus: Vec<i64>, stride: Option<i64>, agents: &mut Vec<Agent>) {
        gpus.sort_unstable();
        gpus.dedup();
        let stride = stride.filter(|stride| gpus.last().is_some_and(|largest| largest >= stride));
        let (real, absent): (Vec<i64>, Vec<i64>) = gpus.into_iter().partition(|&gpu| gpu >= 0);
        for gpu in real.into_iter().chain(absent) {
            if self.find(gpu).is_none() {
                self.push(gpu);
                agents.push(agent(gpu, stride));
            }
        }
    }
}

fn agent(gpu: i64, stride: Option<i64>) -> Agent {
    let number = if gpu == NO_GPU { -1 } else { gpu };
    let agent = Agent { number, source_id: number, ..Agent::default() };
    match stride {
        _ if gpu < 0 => Agent { kind: AgentKind::Unknown, ..agent },
        Some(stride) => {
            Agent { node: u32::try_from(gpu / stride).ok(), type_index: Some(gpu % stride), ..agent }
        }
        None => Agent { type_index: Some(gpu), ..agent },
    }
}
