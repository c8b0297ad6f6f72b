//! The copies in flight.

use super::pass::Pass;
use crate::base::counters::Lost;
use crate::collect::copies::{Arrivals, CompletionSource, Flying};
use crate::collect::names::Resolve;
use crate::collect::shared::Shared;
use crate::collect::signal_tracker::Completion;

/// The copies in flight, in whatever order: the engines that copy keep none.
pub(super) struct Copies {
    arrivals: Arrivals,
    running: Vec<Flying>,
}

impl Copies {
    pub(super) fn new(arrivals: Arrivals) -> Self {
        Self { arrivals, running: Vec::new() }
    }

    pub(super) fn is_behind(&self) -> bool {
        !self.arrivals.submitted.is_empty()
    }

    /// Looks at all of them.
    pub(super) fn pass<R: Resolve>(&mut self, shared: &Shared<R>) -> Pass {
        self.accept();
        self.forward(shared);
        let before = self.running.len();
        self.running.retain_mut(|flying| match poll(flying, shared) {
            Completion::Pending => true,
            completion => {
                hand_on(flying, completion, shared);
                false
            }
        });
        let completed = before - self.running.len();
        self.arrivals.landed(completed);
        Pass { completed, in_flight: self.running.len(), forwards: self.forwards(), ..Pass::default() }
    }

    /// Only what the application waits for.
    pub(super) fn forward_only<R: Resolve>(&mut self, shared: &Shared<R>) -> Pass {
        self.accept();
        self.forward(shared);
        let others =
            self.running.extract_if(.., |flying| !matches!(flying.source, CompletionSource::Forward(..)));
        let gone = others.map(|flying| leave(flying, Lost::Failure, shared)).count();
        self.arrivals.landed(gone);
        Pass { in_flight: self.running.len(), forwards: self.forwards(), ..Pass::default() }
    }

    /// The recording ends: what has not completed is lost.
    pub(super) fn end<R: Resolve>(&mut self, shared: &Shared<R>) {
        self.accept();
        for flying in self.running.drain(..) {
            leave(flying, Lost::Unfinished, shared);
        }
    }

    fn accept(&mut self) {
        while let Some(flying) = self.arrivals.submitted.pop() {
            self.running.push(flying);
        }
    }

    fn forwards(&self) -> usize {
        self.running.iter().filter(|flying| matches!(flying.source, CompletionSource::Forward(..))).count()
    }

    fn forward<R: Resolve>(&mut self, shared: &Shared<R>) {
        for flying in &mut self.running {
            let CompletionSource::Forward(slot, signal) = &flying.source else { continue };
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
                std::mem::replace(&mut flying.source, CompletionSource::Done(times))
            {
                shared.pool.give_back(slot);
            }
        }
    }
}

/// How far a copy is.
fn poll<R: Resolve>(flying: &Flying, shared: &Shared<R>) -> Completion {
    match flying.source {
        CompletionSource::Watched(signal) => {
            shared.signal_tracker.poll(signal, flying.correlation, &*shared.runtime)
        }
        CompletionSource::Forward(..) => Completion::Pending,
        CompletionSource::Done(times) => Completion::Copied(times),
    }
}

/// Hands a completed copy on, or counts why that cannot be.
fn hand_on<R: Resolve>(flying: &Flying, completion: Completion, shared: &Shared<R>) {
    let lost = match completion {
        Completion::Copied(Some((start, end))) if start > 0 && end >= start => {
            (!shared.known.copies_and_barriers.put(flying.completed((start, end)))).then_some(Lost::Behind)
        }
        Completion::Copied(_) => Some(Lost::Times),
        Completion::Done(_) | Completion::Missed | Completion::Pending => Some(Lost::Reused),
    };
    if let Some(why) = lost {
        shared.known.copies.lose(why, 1);
    }
}

/// Gives a copy up that may still run.
fn leave<R: Resolve>(flying: Flying, why: Lost, shared: &Shared<R>) {
    shared.known.copies.lose(why, 1);
    if let CompletionSource::Watched(signal) = flying.source {
        shared.signal_tracker.forget(signal, flying.correlation);
    }
    // Its copy may complete later and write to its signal, which therefore stays.
    std::mem::forget(flying);
}
