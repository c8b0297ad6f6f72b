//! Perfetto tracks: a group for each GPU and each process, with a track for each queue or thread.

use clap::ValueEnum;
use rtl_schema::table::{AgentKind, Process, Thread};
use rtl_schema::{AgentId, ProcessId, Tables, TrackId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::Kind;
use crate::lanes::Stacking;

/// The owner of a track. GPUs come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrackGroup {
    Agent(AgentId),
    Process(ProcessId),
}

/// The tracks of GPU ops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum GroupBy {
    /// HSA queues, with copies on a track of their own
    #[default]
    Queue,
    /// HIP streams, with their copies; ops without a stream by queue
    Stream,
}

/// The content of a track, in the order of the tracks of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrackKind {
    GpuRanges(i64),
    Stream(i64),
    Queue(i64),
    Copies,
    Barriers(i64),
    Idle,
    Ranges,
    Thread(i64),
    Unknown,
    Profiler,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PerfettoTrack {
    pub group: TrackGroup,
    pub kind: TrackKind,
    /// The process of its events, which owns the stream or queue.
    pub process: ProcessId,
}

impl PerfettoTrack {
    /// Only valid tids are shown.
    pub fn tid(&self) -> Option<u64> {
        let TrackKind::Thread(tid) = self.kind else { return None };
        i32::try_from(tid).ok().and_then(|tid| u64::try_from(tid).ok()).filter(|&tid| tid > 0)
    }

    /// 0 where the track has neither a stream nor a queue.
    pub fn stream(&self) -> i64 {
        match self.kind {
            TrackKind::Stream(number) | TrackKind::Queue(number) | TrackKind::Barriers(number) => number,
            TrackKind::GpuRanges(number) => number,
            TrackKind::Copies | TrackKind::Idle | TrackKind::Ranges | TrackKind::Thread(_) => 0,
            TrackKind::Unknown | TrackKind::Profiler => 0,
        }
    }

    pub fn stacking(&self) -> Stacking {
        match (self.group, self.kind) {
            (TrackGroup::Agent(_), TrackKind::GpuRanges(_)) => Stacking::Nested,
            (TrackGroup::Agent(_), _) => Stacking::Apart,
            (TrackGroup::Process(_), _) => Stacking::Nested,
        }
    }
}

/// The tracks of a trace, numbered by first use.
#[derive(Debug, Default)]
pub struct PerfettoTracks {
    group_by: GroupBy,
    /// In the order of their numbers.
    pub rows: Vec<PerfettoTrack>,
    index: FxHashMap<PerfettoTrack, u32>,
    /// By kind of op (kernels, copies, barriers) and queue track.
    of_queue_tracks: [Vec<Option<u32>>; 3],
}

impl PerfettoTracks {
    pub fn new(group_by: GroupBy) -> Self {
        Self { group_by, ..Self::default() }
    }

    pub fn intern(&mut self, track: PerfettoTrack) -> u32 {
        let next = self.rows.len() as u32;
        let number = *self.index.entry(track).or_insert(next);
        if number == next {
            self.rows.push(track);
        }
        number
    }

    #[inline]
    pub fn of_op(&mut self, kind: Kind, queue_track: TrackId, tables: &Tables) -> u32 {
        if let Some(Some(number)) = self.of_queue_tracks[kind as usize].get(queue_track.index()) {
            return *number;
        }
        let at = tables.tracks.get(queue_track);
        let stream = at.stream.filter(|_| self.group_by == GroupBy::Stream);
        let track_kind = match (kind, stream) {
            (Kind::Barrier, _) => TrackKind::Barriers(at.queue),
            (_, Some(stream)) => TrackKind::Stream(stream),
            (Kind::Copy, None) => TrackKind::Copies,
            _ => TrackKind::Queue(at.queue),
        };
        let group = TrackGroup::Agent(at.agent);
        let number = self.intern(PerfettoTrack { group, kind: track_kind, process: at.process });
        let known = &mut self.of_queue_tracks[kind as usize];
        known.resize(known.len().max(queue_track.index() + 1), None);
        known[queue_track.index()] = Some(number);
        number
    }
}

/// The distinct groups: GPUs by node and number, then processes.
pub fn groups(groups: impl Iterator<Item = TrackGroup>, tables: &Tables) -> Vec<TrackGroup> {
    let mut groups: Vec<TrackGroup> = groups.collect();
    groups.sort_unstable_by_key(|group| {
        let by_number = match group {
            TrackGroup::Agent(agent) => (tables.agent(*agent).node, tables.agent(*agent).number),
            TrackGroup::Process(process) => (tables.process(*process).node, 0),
        };
        (matches!(group, TrackGroup::Process(_)), by_number, *group)
    });
    groups.dedup();
    groups
}

/// The name of a group: `GPU 3 (AMD Instinct MI300X)`, `python train.py (rank 2)`.
pub fn group_name(group: TrackGroup, tables: &Tables) -> String {
    match group {
        TrackGroup::Agent(id) => {
            let agent = tables.agent(id);
            let word = match agent.kind {
                AgentKind::Gpu => "GPU",
                AgentKind::Cpu => "CPU",
                AgentKind::Other => "Device",
                AgentKind::Unknown => return "Unknown device".to_owned(),
            };
            let node = agent.node.map_or(String::new(), |node| format!("Node {node} "));
            let product = agent.product.as_ref().or(agent.target.as_ref());
            let product = product.map_or(String::new(), |product| format!(" ({product})"));
            format!("{node}{word} {}{product}", agent.number)
        }
        TrackGroup::Process(id) => {
            let process = tables.process(id);
            let rank = process.rank.map_or(String::new(), |rank| format!(" (rank {rank})"));
            match &process.command {
                Some(command) if !command.is_empty() => format!("{command}{rank}"),
                _ => format!("{}{rank}", pid_name(process)),
            }
        }
    }
}

fn pid_name(process: &Process) -> String {
    process.pid.map_or("Process".to_owned(), |pid| format!("Process {pid}"))
}

/// The names of tracks within their groups.
#[derive(Debug)]
pub struct TrackNames<'a> {
    tables: &'a Tables,
    threads: FxHashMap<(ProcessId, i64), Option<&'a str>>,
    /// The ranks of several processes.
    shared_ranks: FxHashSet<u32>,
}

impl<'a> TrackNames<'a> {
    pub fn new(tables: &'a Tables) -> Self {
        let mut threads = FxHashMap::default();
        for Thread { process, tid, name, .. } in &tables.threads {
            threads.entry((*process, *tid)).or_insert(name.as_deref());
        }
        let mut ranks = FxHashSet::default();
        let known = tables.processes.iter().filter_map(|process| process.rank);
        let shared_ranks = known.filter(|&rank| !ranks.insert(rank)).collect();
        Self { tables, threads, shared_ranks }
    }

    /// The name of a track: `Queue 1`, `Thread 4243 (worker)`.
    pub fn track(&self, track: &PerfettoTrack) -> String {
        let owner = match self.tables.processes.len() {
            0 | 1 => String::new(),
            _ => format!(" ({})", self.owner(self.tables.process(track.process))),
        };
        match (track.kind, self.thread(track)) {
            (TrackKind::Thread(tid), Some(name)) => format!("Thread {tid} ({name})"),
            (kind, _) => track_name(kind, &owner),
        }
    }

    /// The name of the thread of a track, if the trace has it.
    pub fn thread(&self, track: &PerfettoTrack) -> Option<&'a str> {
        let (TrackKind::Thread(tid), TrackGroup::Process(process)) = (track.kind, track.group) else {
            return None;
        };
        *self.threads.get(&(process, tid))?
    }

    /// The process of a queue beside those of others: `rank 3`, `Process 42` without a rank, both where a rank has several.
    fn owner(&self, process: &Process) -> String {
        match process.rank {
            None => pid_name(process),
            Some(rank) if self.shared_ranks.contains(&rank) => format!("rank {rank}, {}", pid_name(process)),
            Some(rank) => format!("rank {rank}"),
        }
    }
}

fn track_name(kind: TrackKind, owner: &str) -> String {
    match kind {
        TrackKind::GpuRanges(stream) => format!("Stream {stream} ranges{owner}"),
        TrackKind::Profiler => "Profiler".to_owned(),
        TrackKind::Stream(stream) => format!("Stream {stream}{owner}"),
        TrackKind::Queue(queue) => format!("Queue {queue}{owner}"),
        TrackKind::Copies => format!("Copies{owner}"),
        TrackKind::Barriers(queue) => format!("Queue {queue} barriers{owner}"),
        TrackKind::Idle => "Idle causes".to_owned(),
        TrackKind::Ranges => "Ranges".to_owned(),
        TrackKind::Unknown => "Unknown thread".to_owned(),
        TrackKind::Thread(tid) => format!("Thread {tid}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_several_processes_are_labelled_by_rank() {
        let mut tables = Tables::default();
        let process = |pid, rank| Process { pid: Some(pid), rank, ..Process::default() };
        let name = |tables: &Tables, at| {
            let group = TrackGroup::Agent(AgentId(0));
            let track = PerfettoTrack { group, kind: TrackKind::Queue(1), process: ProcessId(at) };
            TrackNames::new(tables).track(&track)
        };
        tables.processes = vec![process(40, Some(3))];
        assert_eq!(name(&tables, 0), "Queue 1");
        tables.processes = vec![process(40, Some(0)), process(41, Some(3)), process(42, None)];
        let labels = [0, 1, 2].map(|at| name(&tables, at));
        assert_eq!(labels, ["Queue 1 (rank 0)", "Queue 1 (rank 3)", "Queue 1 (Process 42)"]);
        tables.processes[0].rank = Some(3);
        let labels = [0, 1].map(|at| name(&tables, at));
        assert_eq!(labels, ["Queue 1 (rank 3, Process 40)", "Queue 1 (rank 3, Process 41)"]);
    }
}
