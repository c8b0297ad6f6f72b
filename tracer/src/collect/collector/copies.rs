//! The collector's part for copies.

use super::pass::Pass;
use crate::base::counters::Lost;
use crate::collect::copies::{Arrivals, CompletionSource, InFlightCopy};
use crate::collect::names::Resolve;
use crate::collect::shared::Shared;
use crate::collect::signal_tracker::Completion;

/// Copies in flight. They have no order, because the engines that copy keep none.
pub(super) struct Copies {
    arrivals: Arrivals,
    running: Vec<InFlightCopy>,
}

impl Copies {
    pub(super) fn new(arrivals: Arrivals) -> Self {
        Self { arrivals, running: Vec::new() }
    }

    pub(super) fn is_behind(&self) -> bool {
        !self.arrivals.submitted.is_empty()
    }

    pub(super) fn pass<R: Resolve>(&mut self, shared: &Shared<R>) -> Pass {
        self.accept();
        self.forward(shared);
        let before = self.running.len();
        self.running.retain_mut(|copy_in_flight| match poll(copy_in_flight, shared) {
            Completion::Pending => true,
            completion => {
                hand_on(copy_in_flight, completion, shared);
                false
            }
        });
        let completed = before - self.running.len();
        self.arrivals.retire(completed);
        Pass { completed, in_flight: self.running.len(), forwards: self.forwards(), ..Pass::default() }
    }

    /// Forwards only the completions that the application waits for.
    pub(super) fn forward_only<R: Resolve>(&mut self, shared: &Shared<R>) -> Pass {
        self.accept();
        self.forward(shared);
        let others = self
            .running
            .extract_if(.., |copy_in_flight| !matches!(copy_in_flight.source, CompletionSource::Forward(..)));
        let gone = others.map(|copy_in_flight| leave(copy_in_flight, Lost::Failure, shared)).count();
        self.arrivals.retire(gone);
        Pass { in_flight: self.running.len(), forwards: self.forwards(), ..Pass::default() }
    }

    /// Ends the recording: copies that have not completed are lost.
    pub(super) fn end<R: Resolve>(&mut self, shared: &Shared<R>) {
        self.accept();
        for copy_in_flight in self.running.drain(..) {
            leave(copy_in_flight, Lost::Unfinished, shared);
        }
    }

    fn accept(&mut self) {
        while let Some(copy_in_flight) = self.arrivals.submitted.pop() {
            self.running.push(copy_in_flight);
        }
    }

    fn forwards(&self) -> usize {
        self.running
            .iter()
            .filter(|copy_in_flight| matches!(copy_in_flight.source, CompletionSource::Forward(..)))
            .count()
    }

    fn forward<R: Resolve>(&mut self, shared: &Shared<R>) {
        for copy_in_flight in &mut self.running {
            let CompletionSource::Forward(slot, signal) = &copy_in_flight.source else { continue };
            if slot.own.value() >= 1 {
                continue;
            }
            let (own, signal) = (slot.own, *signal);
            let times = own.copy_ticks().are_known().then(|| shared.runtime.copy_times(own)).flatten();
            if let Some(times) = times {
                shared.copies.keep(signal.handle(), times);
            }
            shared.runtime.decrement(signal);
            shared.copies.forwards.fetch_sub(1, std::sync::atomic::Ordering::Release);
            if let CompletionSource::Forward(slot, _) =
                std::mem::replace(&mut copy_in_flight.source, CompletionSource::Done(times))
            {
                shared.pool.give_back(slot);
            }
        }
    }
}

/// The state of a copy.
fn poll<R: Resolve>(copy_in_flight: &InFlightCopy, shared: &Shared<R>) -> Completion {
    match copy_in_flight.source {
        CompletionSource::Watched(signal) => {
            shared.signal_tracker.poll(signal, copy_in_flight.correlation, &*shared.runtime)
        }
        CompletionSource::Forward(..) => Completion::Pending,
        CompletionSource::Done(times) => Completion::Copied(times),
    }
}

/// Hands a completed copy over, or counts the reason why that is impossible.
fn hand_on<R: Resolve>(copy_in_flight: &InFlightCopy, completion: Completion, shared: &Shared<R>) {
    let lost = match completion {
        Completion::Copied(Some((start, end))) if start > 0 && end >= start => {
            (!shared.known.copies_and_barriers.put(copy_in_flight.completed((start, end))))
                .then_some(Lost::Behind)
        }
        Completion::Copied(_) => Some(Lost::Times),
        Completion::Done(_) | Completion::Missed | Completion::Pending => Some(Lost::Reused),
    };
    if let Some(why) = lost {
        shared.known.copies.lose(why, 1);
    }
}

/// Gives up a copy that may still run.
fn leave<R: Resolve>(copy_in_flight: InFlightCopy, why: Lost, shared: &Shared<R>) {
    shared.known.copies.lose(why, 1);
    if let CompletionSource::Watched(signal) = copy_in_flight.source {
        shared.signal_tracker.forget(signal, copy_in_flight.correlation);
    }
    // The copy may complete later and write to the slot's signal, so the slot is leaked.
    std::mem::forget(copy_in_flight);
}
