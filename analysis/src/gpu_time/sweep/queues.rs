//! Dispatches that overlap on one queue, and duplicate dispatches.

use rtl_schema::table::Track;
use rtl_schema::{AgentId, Tables};
use rustc_hash::FxHashMap;

use super::types::{Example, SuspiciousRows};
use crate::base::first_use::distinct;
use crate::base::ops::length;
use crate::base::union_length::to_ns;
use crate::names::labels::Labels;

const EXAMPLES: usize = 3;

/// Which tracks are one queue: the same agent, process and queue number, whatever the stream. The queues of each agent
/// count from 0.
#[derive(Debug)]
pub(super) struct Queues {
    queue_of_track: Vec<usize>,
    of_agent: FxHashMap<AgentId, usize>,
}

impl Queues {
    pub(super) fn of(tables: &Tables) -> Self {
        let tracks = tables.tracks.rows().iter();
        let (queues, queue_of_track) =
            distinct(tracks.map(|track| (track.agent, track.process, track.queue)));
        let mut of_agent: FxHashMap<AgentId, usize> = FxHashMap::default();
        let mut number = |agent| {
            let count = of_agent.entry(agent).or_default();
            *count += 1;
            *count - 1
        };
        let numbers: Vec<usize> = queues.into_iter().map(|(agent, _, _)| number(agent)).collect();
        Self { queue_of_track: queue_of_track.into_iter().map(|queue| numbers[queue]).collect(), of_agent }
    }
}

/// Checks the dispatches of one GPU in order of start. Rows of equal start come together, so that the findings do not
/// depend on their order; a dispatch of length zero overlaps nothing.
#[derive(Debug)]
pub(super) struct QueueChecks<'a> {
    queues: &'a Queues,
    /// The last end on each queue of the GPU.
    ends: Vec<u64>,
    overlaps: u64,
    /// How long dispatches ran beside others of their queue, in ns.
    overlap: u64,
    overlapping: Vec<u32>,
    duplicates: u64,
    duplicated: Vec<u32>,
}

impl<'a> QueueChecks<'a> {
    pub(super) fn new(queues: &'a Queues, agent: AgentId) -> Self {
        let ends = vec![0; queues.of_agent.get(&agent).copied().unwrap_or(0)];
        Self {
            queues,
            ends,
            overlaps: 0,
            overlap: 0,
            overlapping: Vec::new(),
            duplicates: 0,
            duplicated: Vec::new(),
        }
    }

    #[inline]
    fn end_of(&mut self, tables: &Tables, row: u32) -> &mut u64 {
        &mut self.ends[self.queues.queue_of_track[tables.dispatches.track[row as usize].index()]]
    }

    pub(super) fn add_simultaneous(&mut self, tables: &Tables, rows: &[u32], start: u64) {
        let dispatches = &tables.dispatches;
        let key = |row: u32| {
            let track: Track = tables.tracks.get(dispatches.track[row as usize]);
            let name = tables.strings.get(dispatches.name[row as usize]);
            (track, name, length(&dispatches.duration, row))
        };
        let mut rows = rows.to_vec();
        rows.sort_unstable_by(|&one, &other| key(one).cmp(&key(other)));
        for pair in rows.windows(2) {
            if key(pair[0]) == key(pair[1]) {
                self.duplicates += 1;
                if self.duplicated.len() < EXAMPLES {
                    self.duplicated.push(pair[1]);
                }
            }
        }
        for row in rows {
            self.add(tables, row, start, length(&dispatches.duration, row));
        }
    }

    /// Adds a dispatch that takes `length` ns, and that no other one starts together with.
    #[inline]
    pub(super) fn add(&mut self, tables: &Tables, row: u32, start: u64, length: u64) {
        if length == 0 {
            return;
        }
        let own_end = start.saturating_add(length);
        let end = self.end_of(tables, row);
        let before = *end;
        *end = before.max(own_end);
        if start < before {
            self.overlaps += 1;
            self.overlap = self.overlap.saturating_add(before.min(own_end) - start);
            if self.overlapping.len() < EXAMPLES {
                self.overlapping.push(row);
            }
        }
    }

    /// How long dispatches ran beside others of their queue, in ns.
    pub(super) fn overlap_ns(&self) -> i64 {
        to_ns(self.overlap)
    }

    pub(super) fn finish(self, tables: &Tables, labels: &Labels<'_>) -> (SuspiciousRows, SuspiciousRows) {
        let examples = |rows: Vec<u32>| {
            rows.into_iter()
                .map(|row| {
                    let dispatch = tables.dispatches.get(row as usize);
                    Example {
                        place: labels.queue(tables.tracks.get(dispatch.track)),
                        name: rtl_schema::identity(tables.strings.get(dispatch.name)).to_owned(),
                        start_ns: dispatch.start,
                    }
                })
                .collect()
        };
        (
            SuspiciousRows { count: self.overlaps, examples: examples(self.overlapping) },
            SuspiciousRows { count: self.duplicates, examples: examples(self.duplicated) },
        )
    }
}
