//! The result of one pass of the collector over everything in flight.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Dispatches that were completed and handed over, or lost.
    pub completed: usize,
    pub in_flight: usize,
    /// Dispatches in flight whose application signal waits for the collector.
    pub forwards: usize,
    /// True if the recorder was busy, so that it has not been shown all completed dispatches.
    pub holds_back: bool,
}

impl Pass {
    pub(super) fn add(&mut self, other: Self) {
        self.completed += other.completed;
        self.in_flight += other.in_flight;
        self.forwards += other.forwards;
    }
}
