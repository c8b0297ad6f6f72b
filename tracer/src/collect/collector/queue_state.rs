//! The dispatches in flight on one queue, in the order of their submission.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::base::counters::{Counters, Lost};
use crate::collect::batch_channel::Sender;
use crate::collect::dispatch::{Dispatch, InFlight, KernelId, QueueOrdinal};
use crate::collect::names::Resolve;
use crate::collect::queue_channel::Arrivals;
use crate::collect::shared::Shared;
use crate::collect::signal_tracker::Completion;
use crate::collect::signals::Ticks;
use crate::collect::slot::{CompletionSource, Slot};

/// Number of dispatches to look at beyond the oldest one that still runs.
const AHEAD: usize = 64;

/// Distance in dispatches at which signals are prefetched.
const FETCHED: usize = 4;

pub(super) struct QueueState {
    pub(super) arrivals: Arrivals,
    /// Slots in flight, the oldest first.
    pub(super) running: VecDeque<Box<Slot>>,
    /// Slots in flight whose application signal waits for the collector, in the order of their submission.
    pub(super) forwards: VecDeque<Box<Slot>>,
    /// Indices of completed slots in `forwards`, the latest first; empty between uses, kept for its capacity.
    pub(super) completed: Vec<usize>,
    /// True if any have completed since the last look for the oldest one.
    pub(super) has_completed: bool,
    /// The oldest dispatch at the last look.
    pub(super) oldest: Option<Oldest>,
    /// Number of consecutive passes that found nothing in flight.
    pub(super) quiet: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Oldest {
    correlation: u64,
    /// Time in ns of CLOCK_BOOTTIME at which it was first seen as the oldest.
    since: i64,
}

impl QueueState {
    pub(super) fn new(arrivals: Arrivals) -> Self {
        Self {
            arrivals,
            running: VecDeque::new(),
            forwards: VecDeque::new(),
            completed: Vec::new(),
            has_completed: false,
            oldest: None,
            quiet: 0,
        }
    }

    pub(super) fn shrink(&mut self, keep: usize) {
        self.arrivals.shrink(keep);
        self.running.shrink_to(keep);
        self.forwards.shrink_to(0);
        self.completed.shrink_to(0);
    }

    pub(super) fn in_flight(&self) -> usize {
        self.running.len() + self.forwards.len()
    }

    pub(super) fn accept(&mut self) {
        while let Some(slot) = self.arrivals.submitted.pop() {
            match slot.source {
                CompletionSource::Forward(_) | CompletionSource::Relay(_) => self.forwards.push_back(slot),
                _ => self.running.push_back(slot),
            }
        }
    }

    /// Forwards every completion that an application's signal waits for, in the order of submission.
    pub(super) fn forward<R: Resolve>(&mut self, shared: &Shared<R>) {
        // The latest is looked at first: everything that it waited for is then seen as completed too, and is forwarded before it.
        let slots = self.forwards.iter().enumerate().rev();
        self.completed.extend(slots.filter(|(_, slot)| slot.own.value() < 1).map(|(at, _)| at));
        for gone in 0..self.completed.len() {
            let Some(mut slot) = self.completed.pop().and_then(|at| self.forwards.remove(at - gone)) else {
                break;
            };
            let ticks = slot.own.ticks();
            if let CompletionSource::Forward(signal) | CompletionSource::Relay(signal) = slot.source {
                shared.signal_tracker.set_ticks(signal, ticks, &*shared.runtime);
                shared.runtime.decrement(signal);
                shared.forwards.fetch_sub(1, Ordering::Release);
            }
            if slot.source.is_recorded() {
                slot.source = CompletionSource::Done(ticks);
                self.running.push_back(slot);
            } else {
                self.arrivals.free(slot, shared);
            }
        }
    }

    /// Hands over what has completed, as far as there is room; returns the number.
    pub(super) fn collect<R: Resolve>(
        &mut self,
        thorough: bool,
        sender: &mut Sender<Dispatch>,
        shared: &Shared<R>,
    ) -> usize {
        let mut completed = 0;
        let mut at = 0;
        let mut beyond = 0;
        while let Some(slot) = self.running.get(at) {
            if !sender.has_room() || (beyond > AHEAD && !thorough) {
                break;
            }
            if let Some(later) = self.running.get(at + FETCHED) {
                later.own.prefetch();
            }
            let completion = poll(slot, shared);
            if completion == Completion::Pending {
                at += 1;
                beyond += 1;
                continue;
            }
            // The oldest running one moves here: the order does not matter, but nothing should move far.
            if let Some(slot) = self.running.swap_remove_front(at) {
                hand_on(&slot, completion, (self.arrivals.queue, self.arrivals.gpu), sender, shared);
                self.arrivals.free(slot, shared);
                completed += 1;
            }
        }
        self.has_completed |= completed > 0;
        completed
    }

    /// The oldest dispatch, if it was also that at the last look, or at the `end`.
    pub(super) fn oldest_since(&mut self, now: i64, end: bool) -> Option<InFlight> {
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

/// Gives up a packet that may still be in flight, and counts it as lost.
pub(super) fn leave<R: Resolve>(slot: &Slot, why: Lost, shared: &Shared<R>) {
    if slot.source.is_recorded() {
        shared.counters_of(&slot.submission).lose(why, 1);
    }
    if let CompletionSource::Watched(signal) = slot.source {
        shared.signal_tracker.forget(signal, slot.submission.correlation);
    }
}

/// The state of a dispatch.
fn poll<R: Resolve>(slot: &Slot, shared: &Shared<R>) -> Completion {
    match slot.source {
        CompletionSource::Own | CompletionSource::Forward(_) | CompletionSource::Relay(_)
            if slot.own.value() >= 1 =>
        {
            Completion::Pending
        }
        CompletionSource::Own | CompletionSource::Forward(_) | CompletionSource::Relay(_) => {
            Completion::Done(slot.own.ticks())
        }
        CompletionSource::Watched(signal) => {
            shared.signal_tracker.poll(signal, slot.submission.correlation, &*shared.runtime)
        }
        CompletionSource::Done(ticks) => Completion::Done(ticks),
    }
}

/// Hands a completed dispatch over, or counts the reason why that is impossible.
fn hand_on<R: Resolve>(
    slot: &Slot,
    completion: Completion,
    (queue, gpu): (QueueOrdinal, u16),
    sender: &mut Sender<Dispatch>,
    shared: &Shared<R>,
) {
    let counters = shared.counters_of(&slot.submission);
    let is_barrier = slot.submission.kernel == KernelId::BARRIER;
    let failure = Failure(counters);
    let lost = match completion {
        Completion::Missed | Completion::Pending | Completion::Copied(_) => Some(Lost::Reused),
        Completion::Done(ticks) => match times(ticks, |tick| shared.runtime.translate(gpu, tick)) {
            None => Some(Lost::Times),
            Some(times) if is_barrier => {
                (!shared.known.copies_and_barriers.put(slot.passed(times, queue, gpu)))
                    .then_some(Lost::Behind)
            }
            Some(times) => sender.send(slot.completed(times, queue, gpu)).is_err().then_some(Lost::Behind),
        },
    };
    std::mem::forget(failure);
    if let Some(why) = lost {
        counters.lose(why, 1);
    }
}

/// Counts a dispatch as lost when a panic keeps it from being handed over.
struct Failure<'a>(&'a Counters);

impl Drop for Failure<'_> {
    fn drop(&mut self) {
        self.0.lose(Lost::Failure, 1);
    }
}

/// Start and end in ns, if the hardware wrote both and they make sense.
fn times(ticks: Ticks, translate: impl Fn(u64) -> Option<i64>) -> Option<(i64, i64)> {
    if !ticks.are_known() || ticks.end < ticks.start {
        return None;
    }
    // The end comes first, as in the runtime (GpuAgent::TranslateTime): a tick that makes it synchronise the clocks then affects
    // both.
    let end = translate(ticks.end)?;
    let start = translate(ticks.start)?;
    (start > 0 && end >= start).then_some((start, end))
}

/// True for a kernel that has not completed. A signal of the application is not read, because it may be destroyed.
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
