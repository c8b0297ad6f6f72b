//! The copies that the application asks the runtime for, from the call until they have completed.
//!
//! The application's signal stays with its copy where that can be watched ([`crate::collect::signal_tracker`]). Else the copy gets a signal of
//! ours, and the collector decrements the application's at its completion.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::base::counters::{Lost, Skipped};
use crate::base::memory;
use crate::base::spsc::{self, Consumer, Producer};
use crate::base::try_lock::lock;
use crate::collect::copy_or_barrier::{COPIES, Copy, CopyOrBarrier, What};
use crate::collect::names::Resolve;
use crate::collect::queue_channel::is_paused;
use crate::collect::shared::Shared;
use crate::collect::signals::{Signal, Ticks};
use crate::collect::slot::Slot;
use crate::events::thread::{self, Submitter};

/// Copies in flight at most.
const BOUND: usize = 1 << 14;

/// Copies of a block of the queue to the collector.
const PLACES: usize = 64;

/// How the completion of a copy is noticed.
#[derive(Debug)]
pub enum CompletionSource {
    /// By the application's signal with this handle, which the copy carries.
    Watched(u64),
    /// By the slot's signal, which the copy carries; then the application's is decremented.
    Forward(Box<Slot>, Signal),
    /// It is known already when it ran, if the runtime said so.
    Done(Option<(i64, i64)>),
}

/// A copy that was submitted.
#[derive(Debug)]
pub struct Flying {
    /// How its completion is noticed.
    pub source: CompletionSource,
    /// [`CopyOrBarrier::correlation`].
    pub correlation: u64,
    /// [`CopyOrBarrier::enqueued`].
    enqueued: i64,
    from: Submitter,
    copy: Copy,
}

impl Flying {
    /// The copy with its times.
    #[must_use]
    pub fn completed(&self, (start, end): (i64, i64)) -> CopyOrBarrier {
        let Self { enqueued, from, copy, .. } = *self;
        let (correlation, Submitter { tid, range, .. }) = (from.link(self.correlation), from);
        CopyOrBarrier { start, end, correlation, enqueued, range, tid, what: What::Copy(copy) }
    }
}

/// A copy that is about to be submitted.
pub enum Begun {
    /// It is recorded.
    Recorded(Flying, Before),
    /// It goes through as it is, and is lost.
    Lost(Lost),
    /// It goes through as it is, because recording is paused.
    Paused,
}

/// The times that a signal held before it was watched.
pub type Before = Option<(Ticks, Ticks)>;

/// The half of the threads that copy.
pub struct Copies {
    numbers: AtomicU64,
    /// A copy costs the runtime a lock too.
    submitted: Mutex<Producer<Flying, PLACES>>,
    in_flight: Arc<AtomicUsize>,
    arrivals: Mutex<Option<Arrivals>>,
}

pub struct Arrivals {
    /// Copies that were submitted and not looked at yet.
    pub submitted: Consumer<Flying, PLACES>,
    in_flight: Arc<AtomicUsize>,
}

impl Arrivals {
    /// `count` copies are not in flight any more.
    pub fn landed(&self, count: usize) {
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

    /// Prepares a copy that is about to be submitted with `signal`, the application's, which
    /// [tells of copies](Signal::tells_of_copies).
    pub fn begin<R: Resolve>(&self, copy: Copy, signal: Signal, shared: &Shared<R>) -> Begun {
        if is_paused() {
            shared.release(signal.handle());
            return Begun::Paused;
        }
        if memory::is_short() {
            shared.release(signal.handle());
            return Begun::Lost(Lost::Memory);
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
        let flying = |source| Flying { source, correlation, enqueued, from: thread::current(), copy };
        if let Some(before) = shared.signal_tracker.watch_copy(signal, correlation, &*shared.runtime) {
            shared.copies.forget(signal.handle());
            return Begun::Recorded(flying(CompletionSource::Watched(signal.handle())), Some(before));
        }
        let gpu = copy.source.or(copy.destination).unwrap_or_default();
        let slot = match shared.pool.one(&*shared.runtime, gpu) {
            Ok(slot) => slot,
            Err(why) => return self.give_up(signal, why, shared),
        };
        if !slot.own.tells_of_copies() {
            shared.pool.give_back(slot);
            return self.give_up(signal, Lost::Times, shared);
        }
        slot.own.set_copy_ticks(Ticks::default());
        shared.copies.forwards.fetch_add(1, Ordering::Relaxed);
        Begun::Recorded(flying(CompletionSource::Forward(slot, signal)), None)
    }

    fn give_up<R: Resolve>(&self, signal: Signal, why: Lost, shared: &Shared<R>) -> Begun {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        shared.release(signal.handle());
        Begun::Lost(why)
    }

    /// The runtime has accepted the copy.
    pub fn submitted<R: Resolve>(&self, begun: Begun, shared: &Shared<R>) {
        shared.known.copies.see(1);
        let flying = match begun {
            Begun::Recorded(flying, _) => flying,
            Begun::Lost(why) => return shared.known.copies.lose(why, 1),
            Begun::Paused => return shared.known.copies.skip(Skipped::Paused, 1),
        };
        let forwards = matches!(flying.source, CompletionSource::Forward(..));
        // Places were reserved for all copies in flight, so there is one.
        if let Err(flying) = lock(&self.submitted).push(flying) {
            shared.known.copies.lose(Lost::Failure, 1);
            // The copy carries the slot's signal: it must not be used again.
            std::mem::forget(flying);
        }
        if forwards {
            shared.parker.notify_at_once();
        } else {
            shared.parker.notify();
        }
    }

    /// The runtime has refused the copy: nothing has happened.
    pub fn refused<R: Resolve>(&self, begun: Begun, signal: Signal, shared: &Shared<R>) {
        let Begun::Recorded(flying, before) = begun else { return };
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        if let Some(before) = before {
            shared.signal_tracker.never_mind(signal, flying.correlation, before);
        }
        if let CompletionSource::Forward(slot, _) = flying.source {
            shared.copies.forwards.fetch_sub(1, Ordering::Release);
            shared.pool.give_back(slot);
        }
    }
}

impl Begun {
    /// The handle of the signal that the copy is to carry, where it is not the application's.
    #[must_use]
    pub fn own(&self) -> Option<u64> {
        match self {
            Self::Recorded(Flying { source: CompletionSource::Forward(slot, _), .. }, _) => {
                Some(slot.own.handle())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
