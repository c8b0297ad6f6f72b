//! Looks now and then for the oldest dispatch of each queue: one that stays may hang.

use std::time::Duration;

use super::Collector;
use crate::base::clock;
use crate::base::try_lock::lock;
use crate::collect::dispatch::InFlight;
use crate::collect::names::Resolve;
use crate::collect::shared::Shared;

/// How often the queues are looked at: as often as the recorder publishes.
const PERIOD: Duration = Duration::from_millis(25);

/// The most that the recorder is given: those that are the oldest of their queues for the longest time.
pub const MOST: usize = 16;

impl Collector {
    /// Tells the recorder which dispatches are in flight for long, where it is time for that.
    pub fn watch_oldest<R: Resolve>(&mut self, shared: &Shared<R>) {
        let now = clock::now();
        if now - self.watched >= PERIOD.as_nanos() as i64 {
            self.watched = now;
            shared.known.cost.note_collector();
            shared.ask_for_sample();
            self.show_oldest(now, false, shared);
        }
    }

    /// Tells the recorder of those that were the oldest the last time too; of all that are at the `end`.
    pub(super) fn show_oldest<R: Resolve>(&mut self, now: i64, end: bool, shared: &Shared<R>) {
        // Nothing is in flight on idle queues that passes know of.
        let looked_at = if end { self.queues.len() } else { self.active };
        let queues = self.queues[..looked_at].iter_mut();
        let mut open: Vec<InFlight> = queues.filter_map(|queue| queue.oldest_since(now, end)).collect();
        open.sort_by_key(|open| (open.since, open.dispatch.correlation));
        open.truncate(MOST);
        *lock(&shared.known.in_flight) = open;
    }
}
