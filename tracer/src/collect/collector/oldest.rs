//! Looks now and then for the oldest dispatch of each queue: one that stays may hang.

use std::time::Duration;

use super::{AHEAD, Collector, QueueState};
use crate::base::clock;
use crate::base::try_lock::lock;
use crate::collect::dispatch::{Dispatch, InFlight, KernelId};
use crate::collect::names::Resolve;
use crate::collect::shared::Shared;
use crate::collect::slot::{CompletionSource, Slot};

/// How often the queues are looked at: as often as the recorder publishes.
const PERIOD: Duration = Duration::from_millis(25);

/// The most that the recorder is given: those that are the oldest of their queues for the longest time.
pub const MOST: usize = 16;

/// The oldest dispatch of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Oldest {
    /// Its number.
    correlation: u64,
    /// When it was first seen as the oldest, in ns of CLOCK_BOOTTIME.
    since: i64,
}

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

impl QueueState {
    /// The oldest dispatch, if it was that the last time too, or at the `end`.
    fn oldest_since(&mut self, now: i64, end: bool) -> Option<InFlight> {
        let last = self.oldest.take();
        // Where others complete, the oldest is among those that passes look at.
        let looked_at = if std::mem::take(&mut self.has_completed) { 2 * AHEAD } else { usize::MAX };
        let slots = self.running.iter().take(looked_at).chain(self.forwards.iter().take(looked_at));
        let slot = slots.filter(|slot| is_in_flight(slot)).min_by_key(|slot| slot.submission.correlation)?;
        let correlation = slot.submission.correlation;
        let known = last.filter(|oldest| oldest.correlation == correlation);
        let dispatch: Dispatch = slot.completed((0, 0), self.arrivals.queue, self.arrivals.gpu);
        let since = known.map_or(now, |oldest| oldest.since);
        self.oldest = Some(Oldest { correlation, since });
        (known.is_some() || end).then_some(InFlight { dispatch, since })
    }
}

/// Whether it is a kernel that has not completed. A signal of the application is not looked at: it may be gone.
fn is_in_flight(slot: &Slot) -> bool {
    let is_kernel = slot.source.is_recorded() && slot.submission.kernel != KernelId::BARRIER;
    is_kernel
        && match slot.source {
            CompletionSource::Watched(_) => true,
            CompletionSource::Done(_) => false,
            CompletionSource::Own | CompletionSource::Forward(_) | CompletionSource::Relay(_) => {
                slot.own.value() >= 1
            }
        }
}
