use rustc_hash::FxHashMap;

use crate::{AgentId, ProcessId, TrackId};

/// Where an op ran. Few distinct ones exist, so each op stores only the id of its track.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Track {
    /// The process that launched it.
    pub process: ProcessId,
    /// The agent that executed it.
    pub agent: AgentId,
    /// The HSA queue as the source numbers it.
    pub queue: i64,
    /// The HIP stream, if known.
    pub stream: Option<i64>,
    /// The hardware queue's address, if known (rocm-trace-lite's `hwq=`).
    pub hardware_queue: Option<u64>,
}

/// The distinct tracks of a trace.
#[derive(Debug, Clone, Default)]
pub struct Tracks {
    rows: Vec<Track>,
    index: FxHashMap<Track, TrackId>,
    recent: [Option<TrackId>; 32],
}

impl Tracks {
    /// The id of `track`, which is added when it is new.
    #[inline]
    pub fn intern(&mut self, track: Track) -> TrackId {
        let slot =
            (track.agent.0 as usize).wrapping_mul(7).wrapping_add(track.queue as usize) % self.recent.len();
        if let Some(id) = self.recent[slot]
            && self.rows[id.index()] == track
        {
            return id;
        }
        let next = TrackId(self.rows.len() as u32);
        let id = *self.index.entry(track).or_insert(next);
        if id == next {
            self.rows.push(track);
        }
        self.recent[slot] = Some(id);
        id
    }

    /// The track `id`.
    #[inline]
    pub fn get(&self, id: TrackId) -> Track {
        self.rows[id.index()]
    }

    /// All tracks, in the order of first appearance; [`TrackId`] is the position.
    pub fn rows(&self) -> &[Track] {
        &self.rows
    }

    /// Adds the tracks of `other`; the result maps its ids to those of `self`.
    pub fn append(&mut self, other: &Self) -> Vec<TrackId> {
        other.rows.iter().map(|&track| self.intern(track)).collect()
    }
}

impl PartialEq for Tracks {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}
