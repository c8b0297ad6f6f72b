//! The members of the job: pairs of a process and a GPU that it used.

use rtl_schema::{AgentId, ProcessId};
use rustc_hash::FxHashMap;

use crate::plan::Plan;
use crate::read::Input;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// `rank 3`, with the GPU if the process uses several; the trace if the rank is unknown.
    pub(crate) name: String,
    /// The number of the process in the job.
    pub(crate) rank: Option<u32>,
    /// The number of the GPU in the merged trace.
    pub(crate) gpu: Option<i64>,
}

/// All members, by rank, then by trace, process and GPU. Parts of a process in several traces are one member.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members {
    pub(crate) all: Vec<Member>,
    by_place: FxHashMap<Place, usize>,
}

/// A trace, one of its processes and one of its agents.
type Place = (usize, ProcessId, AgentId);

/// The number of a GPU in the merged trace; the agent of the trace for other agents.
type Agent = Result<i64, (usize, AgentId)>;

impl Members {
    pub(crate) fn new(inputs: &[Input], plan: &Plan) -> Self {
        let mut places: Vec<(Option<u32>, Place, i64, Agent)> = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            for own in &input.totals {
                let rank = input.processes.get(own.process.index()).and_then(|process| process.rank);
                let part = &plan.parts[at];
                let pid = part.pids.get(own.process.index()).copied().unwrap_or(-1);
                let number = part.gpus.get(own.agent.index()).copied().flatten();
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
            members.by_place.insert(place, member);
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

    /// The position in [`Self::all`] of a process and an agent of a trace.
    pub(crate) fn position(&self, input: usize, process: ProcessId, agent: AgentId) -> Option<usize> {
        self.by_place.get(&(input, process, agent)).copied()
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.all.iter().map(|member| member.name.as_str()).collect()
    }
}
