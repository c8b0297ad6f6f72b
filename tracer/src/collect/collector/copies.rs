//! The copies in flight.

use super::Pass;
use crate::base::counters::Lost;
use crate::collect::names::Resolve;
use crate::collect::shared::Shared;
use crate::collect::watch::Sight;
use crate::intercept::copies::{Arrivals, Flying, Way};

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
        self.running.retain_mut(|flying| match look(flying, shared) {
            Sight::Running => true,
            sight => {
                hand_on(flying, sight, shared);
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
        let others = self.running.extract_if(.., |flying| !matches!(flying.way, Way::Forward(..)));
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
        self.running.iter().filter(|flying| matches!(flying.way, Way::Forward(..))).count()
    }

    fn forward<R: Resolve>(&mut self, shared: &Shared<R>) {
        for flying in &mut self.running {
            let Way::Forward(slot, signal) = &flying.way else { continue };
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
            if let Way::Forward(slot, _) = std::mem::replace(&mut flying.way, Way::Done(times)) {
                shared.pool.give_back(slot);
            }
        }
    }
}

/// How far a copy is.
fn look<R: Resolve>(flying: &Flying, shared: &Shared<R>) -> Sight {
    match flying.way {
        Way::Watched(signal) => shared.watches.look(signal, flying.correlation, &*shared.runtime),
        Way::Forward(..) => Sight::Running,
        Way::Done(times) => Sight::Copied(times),
    }
}

/// Hands a completed copy on, or counts why that cannot be.
fn hand_on<R: Resolve>(flying: &Flying, sight: Sight, shared: &Shared<R>) {
    let lost = match sight {
        Sight::Copied(Some((start, end))) if start > 0 && end >= start => {
            (!shared.known.others.put(flying.completed((start, end)))).then_some(Lost::Behind)
        }
        Sight::Copied(_) => Some(Lost::Times),
        Sight::Done(_) | Sight::Missed | Sight::Running => Some(Lost::Reused),
    };
    if let Some(why) = lost {
        shared.known.copies.lose(why, 1);
    }
}

/// Gives a copy up that may still run.
fn leave<R: Resolve>(flying: Flying, why: Lost, shared: &Shared<R>) {
    shared.known.copies.lose(why, 1);
    if let Way::Watched(signal) = flying.way {
        shared.watches.forget(signal, flying.correlation);
    }
    // Its copy may complete later and write to its signal, which therefore stays.
    std::mem::forget(flying);
}
