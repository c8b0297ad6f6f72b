use rustc_hash::FxHashMap;

use crate::{AgentId, LaneId, ProcessId};

/// Where an op ran. Few distinct ones exist, so each op stores only the number of its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lane {
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

/// The distinct places of a trace.
#[derive(Debug, Clone, Default)]
pub struct Lanes {
    rows: Vec<Lane>,
    index: FxHashMap<Lane, LaneId>,
    recent: [Option<LaneId>; 32],
}

impl Lanes {
    /// The id of `lane`, which is added when it is new.
    #[inline]
    pub fn intern(&mut self, lane: Lane) -> LaneId {
        let slot =
            (lane.agent.0 as usize).wrapping_mul(7).wrapping_add(lane.queue as usize) % self.recent.len();
        if let Some(id) = self.recent[slot]
            && self.rows[id.index()] == lane
        {
            return id;
        }
        let next = LaneId(self.rows.len() as u32);
        let id = *self.index.entry(lane).or_insert(next);
        if id == next {
            self.rows.push(lane);
        }
        self.recent[slot] = Some(id);
        id
    }

    /// The place behind `id`.
    #[inline]
    pub fn get(&self, id: LaneId) -> Lane {
        self.rows[id.index()]
    }

    /// All places, in the order of first appearance; [`LaneId`] is the position.
    pub fn rows(&self) -> &[Lane] {
        &self.rows
    }

    /// Adds the places of `other`; the result maps its ids to ours.
    pub fn append(&mut self, other: &Self) -> Vec<LaneId> {
        other.rows.iter().map(|&lane| self.intern(lane)).collect()
    }
}

impl PartialEq for Lanes {
    fn eq(&self, other: &Self) -> bool {
        self.rows == other.rows
    }
}
