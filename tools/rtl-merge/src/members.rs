//! What has a rank in the merged trace: a GPU that a process ran something on.

use rtl_schema::{AgentId, ProcessId};
use rustc_hash::FxHashMap;

use crate::gpus::Devices;
use crate::plan::Plan;
use crate::survey::Survey;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// `rank 3`, with the GPU where the process uses several; its trace where its rank is unknown.
    pub name: String,
    /// The number of the process in the job.
    pub rank: Option<u32>,
    /// The number of the GPU in the merged trace.
    pub gpu: Option<i64>,
}

/// All of them, by rank, then by trace, process and GPU. A process of which several traces hold parts is one.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// Each.
    pub all: Vec<Member>,
    of_place: FxHashMap<Place, usize>,
}

/// A trace, a process of it and an agent of it.
type Place = (usize, ProcessId, AgentId);

/// The GPU's number in the merged trace; the trace's own agent where it is none.
type Agent = Result<i64, (usize, AgentId)>;

impl Members {
    /// Those of all inputs.
    #[must_use]
    pub fn of(inputs: &[Survey], plan: &Plan, devices: &Devices) -> Self {
        let mut places: Vec<(Option<u32>, Place, i64, Agent)> = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            for own in &input.own {
                let rank = input.processes.get(own.process.index()).and_then(|process| process.rank);
                let pid = plan.parts[at].pids.get(own.process.index()).copied().unwrap_or(-1);
                let number = devices.numbers[at].get(own.agent.index()).copied().flatten();
                let agent = number.ok_or((at, own.agent));
                places.push((rank, (at, own.process, own.agent), pid, agent));
            }
        }
        places.sort_by_key(|&(rank, (at, process, _), _, agent)| (rank.is_none(), rank, at, process, agent));
        let mut members = Self::default();
        let mut known: FxHashMap<(i64, Agent), usize> = FxHashMap::default();
        let mut gpus: FxHashMap<i64, usize> = FxHashMap::default();
        let mut firsts: Vec<(usize, ProcessId, i64)> = Vec::new();
        for (rank, place, pid, agent) in places {
            let next = members.all.len();
            let member = *known.entry((pid, agent)).or_insert(next);
            if member == next {
                *gpus.entry(pid).or_default() += 1;
                firsts.push((place.0, place.1, pid));
                members.all.push(Member { name: String::new(), rank, gpu: agent.ok() });
            }
            members.of_place.insert(place, member);
        }
        let mut taken: FxHashMap<String, usize> = FxHashMap::default();
        for (member, (at, process, pid)) in members.all.iter_mut().zip(firsts) {
            let input = &inputs[at];
            let mut name = match member.rank {
                Some(rank) => format!("rank {rank}"),
                None if input.processes.len() == 1 => input.name(),
                None => format!("{} process {}", input.name(), process.index()),
            };
            if let Some(gpu) = member.gpu.filter(|_| gpus[&pid] > 1) {
                name = format!("{name} GPU {gpu}");
            }
            let times = taken.entry(name.clone()).or_default();
            *times += 1;
            member.name = if *times > 1 { format!("{name} ~{times}") } else { name };
        }
        members
    }

    /// The position in [`Self::all`] of what ran on an agent of a trace for a process of it.
    #[must_use]
    pub fn position(&self, input: usize, process: ProcessId, agent: AgentId) -> Option<usize> {
        self.of_place.get(&(input, process, agent)).copied()
    }

    /// What they are called.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.all.iter().map(|member| member.name.as_str()).collect()
    }
}
