use super::interned::{Distinct, Interned};
use super::row;
use crate::{AgentId, ProcessId, TrackId};

row! {
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
}

impl Distinct for Track {
    #[inline]
    fn slot(&self) -> usize {
        (self.agent.0 as usize).wrapping_mul(7).wrapping_add(self.queue as usize)
    }
}

/// The distinct tracks of a trace.
pub type Tracks = Interned<Track, TrackId>;
