//! The collectives of one kind on one rank.

use super::rhythm::{Label, Rhythm};

/// The collectives of one kind that one rank launched on one queue, in the order of their ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequence {
    /// The index of the rank.
    pub rank: usize,
    /// The kernel and launch shape, as the caller numbers them: equal on all members.
    pub kind: u64,
    /// The communicator, equal on all members; 0 is unknown.
    pub communicator: u64,
    /// Start and end in ns of the rank's clock.
    pub calls: Vec<(i64, i64)>,
    /// Statements of the trace on each call; empty where it states nothing of any.
    pub labels: Vec<Label>,
    /// The number of the size of each call, as the caller has them; empty where no size is known.
    pub sizes: Vec<u32>,
}

impl Sequence {
    pub(super) fn rhythm(&self) -> Rhythm {
        Rhythm::new(self.calls.iter().map(|&(_, end)| end).collect(), self.labels.clone())
    }
}
