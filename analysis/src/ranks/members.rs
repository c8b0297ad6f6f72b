//! The members of a job: each is a GPU that a process ran ops on.

use rtl_schema::{AgentId, ProcessId, Tables, TrackId};
use rustc_hash::FxHashMap;

use crate::kernel_names::KernelNames;
use crate::labels;
use crate::ops::Order;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its unique name.
    pub name: String,
    /// The number of the process in the job.
    pub rank: Option<u32>,
    /// The number of the GPU.
    pub gpu: i64,
    /// The process.
    pub process: ProcessId,
    /// The GPU.
    pub agent: AgentId,
}

/// All of them, by rank, then by process and GPU.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// Each.
    pub all: Vec<Member>,
    of_track: Vec<Option<usize>>,
    of_place: FxHashMap<(ProcessId, AgentId), usize>,
}

impl Members {
    /// Those that ran an op with a known duration.
    pub(super) fn of(tables: &Tables, order: &Order) -> Self {
        let mut used = vec![false; tables.tracks.rows().len()];
        for ops in &order.agents {
            ops.dispatches.iter().for_each(|&row| used[tables.dispatches.track[row as usize].index()] = true);
            ops.copies.iter().for_each(|&row| used[tables.copies[row as usize].track.index()] = true);
        }
        Self::of_tracks(tables, &used)
    }

    /// Those whose tracks are `used`.
    pub(crate) fn of_tracks(tables: &Tables, used: &[bool]) -> Self {
        let mut places: Vec<(Option<u32>, ProcessId, i64, AgentId)> = tables
            .tracks
            .rows()
            .iter()
            .zip(used)
            .filter(|(_, used)| **used)
            .map(|(track, _)| {
                let rank = tables.processes.get(track.process.index()).and_then(|process| process.rank);
                let gpu = tables.agents.get(track.agent.index()).map_or(-1, |agent| agent.number);
                (rank, track.process, gpu, track.agent)
            })
            .collect();
        // Those without a rank come last.
        places
            .sort_unstable_by_key(|&(rank, process, gpu, agent)| (rank.is_none(), rank, process, gpu, agent));
        places.dedup();
        let names = names(tables, &places);
        let all: Vec<Member> = places
            .into_iter()
            .zip(names)
            .map(|((rank, process, gpu, agent), name)| Member { name, rank, gpu, process, agent })
            .collect();
        let of_place: FxHashMap<(ProcessId, AgentId), usize> =
            all.iter().enumerate().map(|(at, member)| ((member.process, member.agent), at)).collect();
        let member = |track: &rtl_schema::table::Track| of_place.get(&(track.process, track.agent)).copied();
        let of_track = tables.tracks.rows().iter().map(member).collect();
        Self { all, of_track, of_place }
    }

    /// The member whose ops are on a track.
    #[inline]
    pub(super) fn of_track(&self, track: TrackId) -> Option<usize> {
        self.of_track.get(track.index()).copied().flatten()
    }

    /// The dispatches that are no collectives: row, member and duration in ns.
    pub(super) fn own_work<'a>(
        &'a self,
        tables: &'a Tables,
        names: &'a KernelNames,
    ) -> impl Iterator<Item = (usize, usize, i64)> + 'a {
        let dispatches = &tables.dispatches;
        let own = (0..dispatches.len()).filter(|&row| !names.is_collective(dispatches.name[row]));
        own.filter_map(|row| {
            Some((row, self.of_track(dispatches.track[row])?, dispatches.duration.valid(row)?))
        })
    }

    /// The member of a process on a GPU.
    pub(crate) fn of_place(&self, process: ProcessId, agent: AgentId) -> Option<usize> {
        self.of_place.get(&(process, agent)).copied()
    }
}

/// `rank 3`, more of the process where that is not enough, and the GPU where a process has several; only the GPU where
/// there is but one process, of no rank.
fn names(tables: &Tables, places: &[(Option<u32>, ProcessId, i64, AgentId)]) -> Vec<String> {
    let mut processes_of_rank: FxHashMap<u32, Vec<ProcessId>> = FxHashMap::default();
    let mut places_of_process: FxHashMap<ProcessId, usize> = FxHashMap::default();
    for &(rank, process, ..) in places {
        *places_of_process.entry(process).or_default() += 1;
        if let Some(known) = rank.map(|rank| processes_of_rank.entry(rank).or_default())
            && known.last() != Some(&process)
        {
            known.push(process);
        }
    }
    let mut taken: FxHashMap<String, usize> = FxHashMap::default();
    let name = |&(rank, process, _, agent): &(Option<u32>, ProcessId, i64, AgentId)| {
        let mut name = match rank {
            Some(rank) if processes_of_rank[&rank].len() == 1 => format!("rank {rank}"),
            _ => labels::process(tables, process),
        };
        if rank.is_none() && places_of_process.len() == 1 {
            name = labels::agent(tables, agent);
        } else if places_of_process[&process] > 1 {
            name = format!("{name} {}", labels::agent(tables, agent));
        }
        let times = taken.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{name} ~{times}") } else { name }
    };
    places.iter().map(name).collect()
}
