//! The members of a job: each is a GPU that a process ran ops on.

use rtl_schema::{AgentId, ProcessId, Tables, TrackId};
use rustc_hash::FxHashMap;

use crate::base::ops::Order;
use crate::names::kernel_names::KernelNames;
use crate::names::labels::{self, Labels};

/// A GPU that a process used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Unique name of the member.
    pub name: String,
    /// The number of the process in the job.
    pub rank: Option<u32>,
    /// The number of the GPU.
    pub gpu: i64,
    /// The process of the rank.
    pub process: ProcessId,
    /// The GPU that it used.
    pub agent: AgentId,
}

/// All of them, by rank, then by process and GPU.
#[derive(Debug, Clone, Default)]
pub struct Members {
    /// All members, by rank.
    pub all: Vec<Member>,
    of_track: Vec<Option<usize>>,
    of_place: FxHashMap<(ProcessId, AgentId), usize>,
}

/// Members by GPU: threads that walk different GPUs change different members.
#[derive(Debug, Clone)]
pub(super) struct ByAgent {
    /// In the order of [`Order`], the members of each GPU.
    members: Vec<Vec<usize>>,
    /// Indexed by member: its position among those of its GPU.
    places: Vec<usize>,
}

impl ByAgent {
    /// The position of a member among those of its GPU.
    #[inline]
    pub(super) fn place(&self, member: usize) -> usize {
        self.places[member]
    }

    /// Returns for each track the position of the member whose ops are on it; beyond all positions where there is none.
    pub(super) fn places_of_tracks(&self, members: &Members) -> Vec<usize> {
        let place = |member: &Option<usize>| member.map_or(usize::MAX, |member| self.places[member]);
        members.of_track.iter().map(place).collect()
    }

    /// A value of each member, by GPU.
    pub(super) fn divide<T: Default>(&self, mut values: Vec<T>) -> Vec<Vec<T>> {
        let mut take = |&member: &usize| std::mem::take(&mut values[member]);
        self.members.iter().map(|members| members.iter().map(&mut take).collect()).collect()
    }

    /// The values by member again.
    pub(super) fn join<T: Default>(&self, divided: Vec<Vec<T>>) -> Vec<T> {
        let mut values = Vec::new();
        values.resize_with(self.places.len(), T::default);
        for (members, divided) in self.members.iter().zip(divided) {
            members.iter().zip(divided).for_each(|(&member, value)| values[member] = value);
        }
        values
    }
}

impl Members {
    /// Members that ran an op with a known duration.
    pub(super) fn new(tables: &Tables, order: &Order) -> Self {
        Self::of_tracks(tables, &order.used_tracks)
    }

    /// Members whose tracks are `used`.
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

    /// The dispatches of some rows that are no collectives: row, member and duration in ns.
    pub(super) fn own_work<'a>(
        &'a self,
        tables: &'a Tables,
        names: &'a KernelNames,
        rows: impl Iterator<Item = usize> + 'a,
    ) -> impl Iterator<Item = (usize, usize, i64)> + 'a {
        let dispatches = &tables.dispatches;
        let own = rows.filter(|&row| !names.is_collective(dispatches.name[row]));
        own.filter_map(|row| {
            Some((row, self.of_track(dispatches.track[row])?, dispatches.duration.valid(row)?))
        })
    }

    /// The members on each GPU of `order`.
    pub(super) fn by_agent(&self, order: &Order) -> ByAgent {
        let mut of_agent: FxHashMap<AgentId, Vec<usize>> = FxHashMap::default();
        let place = |(at, member): (usize, &Member)| {
            let members = of_agent.entry(member.agent).or_default();
            members.push(at);
            members.len() - 1
        };
        let places = self.all.iter().enumerate().map(place).collect();
        let members =
            order.agents.iter().map(|ops| of_agent.remove(&ops.agent).unwrap_or_default()).collect();
        ByAgent { members, places }
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
    let words = Labels::new(tables);
    let mut taken: FxHashMap<String, usize> = FxHashMap::default();
    let name = |&(rank, process, _, agent): &(Option<u32>, ProcessId, i64, AgentId)| {
        let mut name = match rank {
            Some(rank) if processes_of_rank[&rank].len() == 1 => format!("rank {rank}"),
            _ => words.process(process),
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
