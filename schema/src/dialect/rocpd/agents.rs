use crate::AgentId;
use crate::table::{Agent, AgentKind};

/// The gpuId of an op that names no agent.
pub(crate) const NO_GPU: i64 = i64::MIN;

/// The gpuId of each agent of the tables, by position.
#[derive(Debug, Default)]
pub(crate) struct Agents(pub(super) Vec<i64>);

impl Agents {
    /// The agent behind a gpuId.
    pub(super) fn find(&self, gpu: i64) -> Option<AgentId> {
        self.0.iter().position(|&known| known == gpu).map(|at| AgentId(at as u32))
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
                self.0.push(gpu);
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
