//! Looks now and then for the oldest dispatch of each queue: if it stays, it may hang.

use std::time::Duration;

use super::Collector;
use crate::base::clock;
use crate::base::try_lock::lock;
use crate::collect::dispatch::InFlight;
use crate::collect::names::Resolve;
use crate::collect::shared::Shared;

/// Time between two looks, equal to that between two publications of the recorder.
const PERIOD: Duration = Duration::from_millis(25);

/// Limit on the dispatches that the recorder is shown: those that have been the oldest of their queues for the longest time.
pub const MOST: usize = 16;

impl Collector {
    /// Shows the recorder the dispatches that are in flight for long, if it is time for that.
    pub fn watch_oldest<R: Resolve>(&mut self, shared: &Shared<R>) {
        let now = clock::now();
        if now - self.watched >= PERIOD.as_nanos() as i64 {
            self.watched = now;
            shared.known.cost.note_collector();
            shared.request_sample();
            self.show_oldest(now, false, shared);
        }
    }

    /// Shows the recorder the dispatches that were also the oldest at the last look; at the `end`, the oldest of all queues.
    pub(super) fn show_oldest<R: Resolve>(&mut self, now: i64, end: bool, shared: &Shared<R>) {
        // Idle queues known to the passes have nothing in flight.
        let looked_at = if end { self.queues.len() } else { self.active };
        let queues = self.queues[..looked_at].iter_mut();
        let mut open: Vec<InFlight> = queues.filter_map(|queue| queue.oldest_since(now, end)).collect();
        open.sort_by_key(|open| (open.since, open.dispatch.correlation));
        open.truncate(MOST);
        *lock(&shared.known.in_flight) = open;
    }
}
