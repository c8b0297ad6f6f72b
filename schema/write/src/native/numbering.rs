//! New numbers in the file: of processes, agents and queues, whose own may collide, and of rows.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::mapping::TraceMapping;
use rtl_schema::table::{AgentKind, Track};
use rtl_schema::{AgentId, Id, ProcessId, Tables, TrackId};

/// The numbers of processes, agents and queues in the file. Each is numbered when a piece first has it, and keeps its number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// The values of pid columns for each process: nothing for one that was alone when it was first seen, else its pid, or a
    /// negative number where another one has that or it is unknown.
    pids: Vec<Option<i64>>,
    /// The values of gpuId columns for each agent: a GPU's number, a number below -1 for another one.
    pub(crate) gpus: Vec<Option<i64>>,
    /// The values of queueId columns for each track.
    queues: Vec<i64>,
}

impl Places {
    /// Takes the numbers of a mapping, which is known before the first piece.
    pub(crate) fn from_mapping(mapping: &TraceMapping) -> Self {
        let pids = mapping.pids.iter().copied().map(Some).collect();
        Self { pids, gpus: mapping.gpus.clone(), queues: Vec::new() }
    }

    /// True where a piece has nothing to number.
    pub(crate) fn has(&self, tables: &Tables) -> bool {
        self.pids.len() >= tables.processes.len()
            && self.gpus.len() >= tables.agents.len()
            && self.queues.len() == tables.tracks.rows().len()
    }

    pub(crate) fn extend(&mut self, tables: &Tables, queues: &mut Queues) {
        let alone = tables.processes.len() == 1;
        for process in self.pids.len()..tables.processes.len() {
            self.pids.push((!alone).then(|| explicit(process, tables)));
        }
        for (at, agent) in tables.agents.iter().enumerate().skip(self.gpus.len()) {
            self.gpus.push(match agent.kind {
                AgentKind::Gpu => Some(agent.number),
                AgentKind::Unknown => None,
                AgentKind::Cpu | AgentKind::Other => Some(-2 - at as i64),
            });
        }
        let tracks = &tables.tracks.rows()[self.queues.len()..];
        queues.make_room(tracks);
        for track in tracks {
            let number = queues.number(track, self.pid(track.process), self.gpu(track.agent));
            self.queues.push(number);
        }
    }

    #[inline]
    pub(crate) fn pid(&self, process: ProcessId) -> Option<i64> {
        self.pids.get(process.index()).copied().flatten()
    }

    #[inline]
    pub(crate) fn gpu(&self, agent: AgentId) -> Option<i64> {
        self.gpus.get(agent.index()).copied().flatten()
    }

    #[inline]
    pub(crate) fn queue(&self, track: TrackId) -> i64 {
        self.queues[track.index()]
    }

    /// The pid of a process in metadata rows: that of pid columns, also where a single process leaves those empty.
    pub(crate) fn process(&self, process: ProcessId, tables: &Tables) -> Option<i64> {
        self.pid(process).or_else(|| match tables.processes.len() {
            0 | 1 => tables.processes.get(process.index())?.pid,
            _ => Some(explicit(process.index(), tables)),
        })
    }
}

/// The pid of a process, or a number of its own.
fn explicit(process: usize, tables: &Tables) -> i64 {
    let pid = |process: usize| tables.processes[process].pid;
    let taken = (0..process).any(|earlier| pid(earlier) == pid(process));
    pid(process).filter(|_| !taken).unwrap_or(-1 - process as i64)
}

/// Queues beyond this are addresses; they get small numbers and a metadata row each.
const LARGEST_QUEUE: i64 = i16::MAX as i64;

/// The values of queueId columns: a queue's own number where that is small, no other queue got it and there is nothing else
/// to say of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Queues {
    #[serde(with = "pairs")]
    given: FxHashMap<Queue, i64>,
    taken: FxHashSet<i64>,
    next: i64,
}

/// A queue: what the file calls its process and its agent, its own number and its address.
type Queue = (Option<i64>, Option<i64>, i64, Option<u64>);

impl Queues {
    /// Gives no number away that one of these tracks keeps.
    fn make_room(&mut self, tracks: &[Track]) {
        let kept = tracks.iter().filter(|track| self.keeps_number(track)).map(|track| track.queue + 1).max();
        self.next = self.next.max(kept.unwrap_or_default());
    }

    fn number(&mut self, track: &Track, pid: Option<i64>, gpu: Option<i64>) -> i64 {
        if self.keeps_number(track) {
            return track.queue;
        }
        let number = *self.given.entry((pid, gpu, track.queue, track.hardware_queue)).or_insert(self.next);
        if number == self.next {
            self.taken.insert(number);
            self.next += 1;
        }
        number
    }

    fn keeps_number(&self, track: &Track) -> bool {
        track.hardware_queue.is_none()
            && (0..=LARGEST_QUEUE).contains(&track.queue)
            && !self.taken.contains(&track.queue)
    }
}

/// Maps of keys that are no texts, as lists of pairs.
pub(super) mod pairs {
    use std::hash::Hash;

    use rustc_hash::FxHashMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &FxHashMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(crate) fn deserialize<
        'de,
        K: Deserialize<'de> + Eq + Hash,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    >(
        deserializer: D,
    ) -> Result<FxHashMap<K, V>, D::Error> {
        Vec::deserialize(deserializer).map(|pairs: Vec<(K, V)>| pairs.into_iter().collect())
    }
}

/// True where the queue of a track, with this number in the file, needs a metadata row: else its own number or its address is
/// lost.
pub(crate) fn is_renamed(track: &Track, number: i64) -> bool {
    track.hardware_queue.is_some() || number != track.queue
}

/// New ids of rows by their old ones. Rows keep their order, so this is as long as there are breaks in it.
#[derive(Debug, Default)]
pub(crate) struct Renumbered {
    runs: Vec<Run>,
    /// True if a run was pushed that belongs before another one.
    is_unsorted: bool,
}

/// New ids of ops. Some sources number dispatches and other ops apart.
#[derive(Debug, Default)]
pub(crate) struct RenumberedOps {
    pub(crate) dispatches: Renumbered,
    pub(crate) others: Renumbered,
}

impl RenumberedOps {
    pub(crate) fn append(&mut self, later: Self) {
        self.dispatches.append(later.dispatches);
        self.others.append(later.others);
    }

    pub(crate) fn sort(&mut self) {
        self.dispatches.sort();
        self.others.sort();
    }

    /// The new id of an op that a link names.
    pub(crate) fn get(&self, space: u32, old: Id) -> Option<i64> {
        self.dispatches.get(space, old).or_else(|| self.others.get(space, old))
    }
}

#[derive(Debug, Clone, Copy)]
struct Run {
    space: u32,
    old: Id,
    new: i64,
    length: i64,
}

impl Run {
    #[inline]
    fn end(&self) -> (u32, Id, i64) {
        (self.space, self.old.wrapping_add(self.length), self.new + self.length)
    }
}

impl Renumbered {
    #[inline]
    pub(crate) fn push(&mut self, space: u32, old: Id, new: i64) {
        self.push_run(Run { space, old, new, length: 1 });
    }

    pub(crate) fn append(&mut self, later: Self) {
        later.runs.into_iter().for_each(|run| self.push_run(run));
    }

    #[inline]
    fn push_run(&mut self, run: Run) {
        match self.runs.last_mut() {
            Some(last) if last.end() == (run.space, run.old, run.new) => last.length += run.length,
            last => {
                self.is_unsorted |= last.is_some_and(|last| (run.space, run.old) < (last.space, last.old));
                self.runs.push(run);
            }
        }
    }

    /// Makes [`Self::get`] find what was pushed.
    pub(crate) fn sort(&mut self) {
        if std::mem::take(&mut self.is_unsorted) {
            self.runs.sort_by_key(|run| (run.space, run.old));
        }
    }

    pub(crate) fn get(&self, space: u32, old: Id) -> Option<i64> {
        let after = self.runs.partition_point(|run| (run.space, run.old) <= (space, old));
        let run = self.runs[..after].last().filter(|run| run.space == space)?;
        let behind = old.checked_sub(run.old).filter(|behind| *behind < run.length)?;
        Some(run.new + behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rtl_schema::table::{Agent, Process};

    fn track(queue: i64, hardware_queue: Option<u64>) -> Track {
        Track { queue, hardware_queue, ..Track::default() }
    }

    fn numbers(queues: &mut Queues, tracks: &[Track]) -> Vec<i64> {
        queues.make_room(tracks);
        tracks.iter().map(|track| queues.number(track, None, Some(0))).collect()
    }

    #[test]
    fn a_queue_whose_number_was_given_away_gets_another_one() {
        let mut queues = Queues::default();
        let first = numbers(&mut queues, &[track(2, None), track(1 << 40, None)]);
        let then = numbers(&mut queues, &[track(3, None), track(4, None)]);
        assert_eq!((first, then), (vec![2, 3], vec![5, 4]));
        assert!(is_renamed(&track(3, None), 5) && !is_renamed(&track(4, None), 4));
    }

    #[test]
    fn one_address_is_one_queue() {
        let mut queues = Queues::default();
        let stream = Track { stream: Some(7), ..track(0, Some(0x1000)) };
        let tracks = [track(0, Some(0x1000)), stream, track(0, Some(0x2000))];
        assert_eq!(numbers(&mut queues, &tracks), [0, 0, 1]);
    }

    #[test]
    fn a_process_that_was_alone_keeps_empty_columns() {
        let mut tables = Tables::default();
        let mut places = Places::default();
        tables.processes.push(Process { pid: Some(7), ..Process::default() });
        tables.agents.push(Agent { number: 5, ..Agent::default() });
        places.extend(&tables, &mut Queues::default());
        tables.processes.push(Process { pid: Some(7), ..Process::default() });
        places.extend(&tables, &mut Queues::default());
        assert_eq!([0, 1].map(|at| places.pid(ProcessId(at))), [None, Some(-2)]);
        assert_eq!([0, 1].map(|at| places.process(ProcessId(at), &tables)), [Some(7), Some(-2)]);
        assert_eq!(places.gpu(AgentId(0)), Some(5));
    }

    #[test]
    fn ids_are_found_in_whatever_order_their_rows_came() {
        let mut ids = Renumbered::default();
        for (space, old, new) in [(0, 10, 1), (0, 11, 2), (1, 10, 3), (0, 5, 4), (0, 12, 5)] {
            ids.push(space, old, new);
        }
        ids.sort();
        assert_eq!(ids.runs.len(), 4);
        let found = [(0, 10), (0, 11), (0, 12), (0, 5), (1, 10), (1, 11), (0, 6), (0, 4)];
        let expected = [Some(1), Some(2), Some(5), Some(4), Some(3), None, None, None];
        assert_eq!(found.map(|(space, old)| ids.get(space, old)), expected);
    }
}
