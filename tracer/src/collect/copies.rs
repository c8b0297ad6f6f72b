//! Copies, from the application's call until they have completed.
//!
//! The application's signal stays with its copy where it can be watched ([`crate::collect::signal_tracker`]). Otherwise the copy
//! gets a signal of ours, and the collector decrements the application's when the copy completes.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::base::counters::{Lost, Skipped};
use crate::base::memory;
use crate::base::spsc::{self, Consumer, Producer};
use crate::base::try_lock::lock;
use crate::collect::copy_or_barrier::{COPIES, Copy, CopyOrBarrier, CopyOrBarrierKind};
use crate::collect::names::Resolve;
use crate::collect::queue_channel::is_paused;
use crate::collect::shared::Shared;
use crate::collect::signals::{Signal, Ticks};
use crate::collect::slot::Slot;
use crate::events::thread::{self, Submitter};

/// Limit on the copies in flight.
const BOUND: usize = 1 << 14;

/// Copies in a block of the queue to the collector.
const PLACES: usize = 64;

/// The way in which the completion of a copy is noticed.
#[derive(Debug)]
pub enum CompletionSource {
    /// The copy carries the application's signal with this handle.
    Watched(u64),
    /// The copy carries the slot's signal; at its completion the application's is decremented.
    Forward(Box<Slot>, Signal),
    /// The copy has completed, at these times in ns if the runtime had them.
    Done(Option<(i64, i64)>),
}

#[derive(Debug)]
pub struct InFlightCopy {
    pub source: CompletionSource,
    /// [`CopyOrBarrier::correlation`].
    pub correlation: u64,
    /// [`CopyOrBarrier::enqueued`].
    enqueued: i64,
    from: Submitter,
    copy: Copy,
}

impl InFlightCopy {
    /// Adds the times in ns.
    #[must_use]
    pub fn completed(&self, (start, end): (i64, i64)) -> CopyOrBarrier {
        let Self { enqueued, from, copy, .. } = *self;
        let (correlation, Submitter { tid, range, .. }) = (from.link(self.correlation), from);
        CopyOrBarrier { start, end, correlation, enqueued, range, tid, what: CopyOrBarrierKind::Copy(copy) }
    }
}

/// A copy that is about to be submitted.
pub enum StartedCopy {
    /// It is recorded.
    Recorded(InFlightCopy, FormerTimes),
    /// It is submitted unchanged, and counted as lost.
    Lost(Lost),
    /// It is submitted unchanged, because recording is paused.
    Paused,
}

/// The times that a signal held before it was watched.
pub type FormerTimes = Option<(Ticks, Ticks)>;

/// The half of the threads that copy.
pub struct Copies {
    numbers: AtomicU64,
    /// A mutex suffices, because the runtime takes a lock for each copy, too.
    submitted: Mutex<Producer<InFlightCopy, PLACES>>,
    in_flight: Arc<AtomicUsize>,
    arrivals: Mutex<Option<Arrivals>>,
}

pub struct Arrivals {
    /// Copies that were submitted and not looked at yet.
    pub submitted: Consumer<InFlightCopy, PLACES>,
    in_flight: Arc<AtomicUsize>,
}

impl Arrivals {
    /// Called when `count` copies are no longer in flight.
    pub fn retire(&self, count: usize) {
        self.in_flight.fetch_sub(count, Ordering::Relaxed);
    }
}

impl Default for Copies {
    fn default() -> Self {
        let (producer, consumer) = spsc::unbounded();
        let in_flight = Arc::default();
        let arrivals = Arrivals { submitted: consumer, in_flight: Arc::clone(&in_flight) };
        Self {
            numbers: AtomicU64::new(COPIES),
            submitted: Mutex::new(producer),
            in_flight,
            arrivals: Mutex::new(Some(arrivals)),
        }
    }
}

impl Copies {
    /// Returns the collector's half, once.
    pub fn arrivals(&self) -> Option<Arrivals> {
        lock(&self.arrivals).take()
    }

    /// Prepares a copy that is about to be submitted with the application's `signal`, which must [have times of
    /// copies](Signal::has_copy_times).
    pub fn begin<R: Resolve>(&self, copy: Copy, signal: Signal, shared: &Shared<R>) -> StartedCopy {
        if is_paused() {
            shared.release(signal.handle());
            return StartedCopy::Paused;
        }
        if memory::is_short() {
            shared.release(signal.handle());
            return StartedCopy::Lost(Lost::Memory);
        }
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed);
        if in_flight >= BOUND {
            return self.give_up(signal, Lost::Buffer, shared);
        }
        if !lock(&self.submitted).reserve(in_flight + 1) {
            return self.give_up(signal, Lost::Memory, shared);
        }
        let correlation = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let enqueued = shared.moment_of_submission();
        let in_flight_copy =
            |source| InFlightCopy { source, correlation, enqueued, from: thread::current(), copy };
        if let Some(before) = shared.signal_tracker.watch_copy(signal, correlation, &*shared.runtime) {
            shared.copies.forget(signal.handle());
            return StartedCopy::Recorded(
                in_flight_copy(CompletionSource::Watched(signal.handle())),
                Some(before),
            );
        }
        let gpu = copy.source.or(copy.destination).unwrap_or_default();
        let slot = match shared.pool.one(&*shared.runtime, gpu) {
            Ok(slot) => slot,
            Err(why) => return self.give_up(signal, why, shared),
        };
        if !slot.own.has_copy_times() {
            shared.pool.give_back(slot);
            return self.give_up(signal, Lost::Times, shared);
        }
        slot.own.set_copy_ticks(Ticks::default());
        shared.copies.forwards.fetch_add(1, Ordering::Relaxed);
        StartedCopy::Recorded(in_flight_copy(CompletionSource::Forward(slot, signal)), None)
    }

    fn give_up<R: Resolve>(&self, signal: Signal, why: Lost, shared: &Shared<R>) -> StartedCopy {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        shared.release(signal.handle());
        StartedCopy::Lost(why)
    }

    /// Called when the runtime has accepted the copy.
    pub fn submitted<R: Resolve>(&self, begun: StartedCopy, shared: &Shared<R>) {
        shared.known.copies.see(1);
        let in_flight_copy = match begun {
            StartedCopy::Recorded(in_flight_copy, _) => in_flight_copy,
            StartedCopy::Lost(why) => return shared.known.copies.lose(why, 1),
            StartedCopy::Paused => return shared.known.copies.skip(Skipped::Paused, 1),
        };
        let forwards = matches!(in_flight_copy.source, CompletionSource::Forward(..));
        // Places were reserved for all copies in flight, so there is one.
        if let Err(in_flight_copy) = lock(&self.submitted).push(in_flight_copy) {
            shared.known.copies.lose(Lost::Failure, 1);
            // The copy carries the slot's signal, so the slot is leaked.
            std::mem::forget(in_flight_copy);
        }
        if forwards {
            shared.parker.notify_at_once();
        } else {
            shared.parker.notify();
        }
    }

    /// Called when the runtime has refused the copy: undoes [`Copies::begin`].
    pub fn refused<R: Resolve>(&self, begun: StartedCopy, signal: Signal, shared: &Shared<R>) {
        let StartedCopy::Recorded(in_flight_copy, before) = begun else { return };
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        if let Some(before) = before {
            shared.signal_tracker.restore(signal, in_flight_copy.correlation, before);
        }
        if let CompletionSource::Forward(slot, _) = in_flight_copy.source {
            shared.copies.forwards.fetch_sub(1, Ordering::Release);
            shared.pool.give_back(slot);
        }
    }
}

impl StartedCopy {
    /// Handle of the signal that the copy is to carry, if it is not the application's.
    #[must_use]
    pub fn own(&self) -> Option<u64> {
        match self {
            Self::Recorded(InFlightCopy { source: CompletionSource::Forward(slot, _), .. }, _) => {
                Some(slot.own.handle())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
