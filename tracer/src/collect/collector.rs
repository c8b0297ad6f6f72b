//! Notices completed dispatches, on a thread of its own, and hands them over to the recorder.
//!
//! It reads the memory of signals and waits for none: an interrupt for each dispatch would cost more than everything else.
//! Dispatches complete in any order, and one that runs for hours delays no other. Signals of the application that wait to be
//! forwarded are all looked at first, in every pass.
//!
//! When the recorder is behind and has all that RTL_BUFFER allows, completed dispatches stay in their slots until it has room;
//! forwarding goes on. When no slot is left, packets pass unrecorded ([`Lost::Behind`]).
//!
//! Queues without submissions for a while are idle: their slots serve other queues, and where there are many, each pass looks at
//! some of them only.

mod copies;
pub mod oldest;
mod pass;
mod queue_state;
pub mod thread;

use std::sync::atomic::Ordering;

pub use self::pass::Pass;
use self::queue_state::{QueueState, leave};

use crate::base::clock;
use crate::base::counters::Lost;
use crate::collect::batch_channel::Sender;
use crate::collect::copies::Arrivals as CopyArrivals;
use crate::collect::dispatch::{Dispatch, QueueOrdinal};
use crate::collect::names::Resolve;
use crate::collect::queue_channel::{self, AT_ONCE, Arrivals, BLOCK};
use crate::collect::shared::Shared;
use crate::collect::slot::Slot;

/// Every pass of this number looks at all dispatches of a queue.
const THOROUGH: u32 = 16;

/// Passes without anything in flight after which a queue is idle.
const QUIET: u32 = 64;

/// Idle queues that a pass looks at, at least; all of them have their turn in [`TURNS`] passes.
const LOOKED_AT: usize = 256;
const TURNS: usize = 8;

/// Spare slots for queues that become busy.
const STOCK: usize = 2048;

pub struct Collector {
    /// Queues in use first, then the idle ones.
    queues: Vec<QueueState>,
    /// Number of queues in use.
    active: usize,
    /// The idle queue that is looked at next, from the first idle one.
    turn: usize,
    /// Idle queues that have not had their turn since all had theirs.
    left: usize,
    /// Empty between uses, kept for its capacity.
    #[expect(clippy::vec_box, reason = "a slot moves from queue to list and back as it is")]
    slots: Vec<Box<Slot>>,
    copies: Option<copies::Copies>,
    sender: Sender<Dispatch>,
    passes: u32,
    /// Time in ns of CLOCK_BOOTTIME at which the oldest dispatches were looked for.
    watched: i64,
}

impl Collector {
    #[must_use]
    pub fn new(sender: Sender<Dispatch>) -> Self {
        Self {
            queues: Vec::new(),
            active: 0,
            turn: 0,
            left: 0,
            slots: Vec::new(),
            copies: None,
            sender,
            passes: 0,
            watched: 0,
        }
    }

    /// All copies share one queue.
    pub fn add_copies(&mut self, arrivals: CopyArrivals) {
        self.copies = Some(copies::Copies::new(arrivals));
    }

    pub fn add(&mut self, arrivals: Arrivals) {
        self.queues.push(QueueState::new(arrivals));
        self.activate(self.queues.len() - 1);
        self.begin_again();
    }

    /// Looks once at everything in flight; `thorough` includes idle queues and dispatches far behind the oldest.
    pub fn pass<R: Resolve>(&mut self, thorough: bool, shared: &Shared<R>) -> Pass {
        self.passes = self.passes.wrapping_add(1);
        let thorough = thorough || self.passes.is_multiple_of(THOROUGH);
        let mut pass = Pass::default();
        let mut allowance = AT_ONCE;
        let is_tight = shared.known.budget.is_tight();
        let share = if is_tight { 0 } else { queue_channel::share(self.active).max(BLOCK.0) };
        for at in 0..self.active {
            self.pass_over(at, thorough, share, &mut allowance, &mut pass, shared);
        }
        // A waiting signal that no queue in use has is one of an idle queue.
        let are_forwarded = shared.forwards.load(Ordering::Acquire) > pass.forwards;
        let woken = self.wake(thorough || are_forwarded);
        for at in woken..self.active {
            self.pass_over(at, thorough, share, &mut allowance, &mut pass, shared);
        }
        self.retire_idle(shared);
        if let Some(copies) = &mut self.copies {
            pass.add(copies.pass(shared));
        }
        self.sender.flush();
        pass.holds_back = self.sender.holds_back();
        if let Some(queue) = self.queues.first()
            && shared.makes_slots_ahead.load(Ordering::SeqCst)
        {
            shared.pool.stock(STOCK, &mut allowance, &*shared.runtime, queue.arrivals.gpu);
        }
        if self.left == 0 {
            self.left = self.queues.len() - self.active;
            shared.known.passes.fetch_add(1, Ordering::Release);
        }
        pass
    }

    fn pass_over<R: Resolve>(
        &mut self,
        at: usize,
        thorough: bool,
        share: usize,
        allowance: &mut usize,
        pass: &mut Pass,
        shared: &Shared<R>,
    ) {
        let queue = &mut self.queues[at];
        queue.accept();
        let in_flight = queue.in_flight();
        queue.forward(shared);
        queue.arrivals.grow_ahead(in_flight, share, allowance, &mut self.slots, shared);
        pass.completed += queue.collect(thorough, &mut self.sender, shared);
        pass.in_flight += queue.in_flight();
        pass.forwards += queue.forwards.len();
        queue.quiet = if in_flight > 0 { 0 } else { queue.quiet.saturating_add(1) };
    }

    /// Hands over the completed dispatches of this queue; returns the number of those that are still in flight.
    pub fn harvest<R: Resolve>(&mut self, queue: QueueOrdinal, shared: &Shared<R>) -> usize {
        let Some(at) = self.at(queue) else { return 0 };
        let queue = &mut self.queues[at];
        queue.accept();
        queue.forward(shared);
        queue.collect(true, &mut self.sender, shared);
        let in_flight = queue.in_flight();
        if at >= self.active && in_flight > 0 {
            self.activate(at);
            self.begin_again();
        }
        self.sender.flush();
        in_flight
    }

    fn at(&self, queue: QueueOrdinal) -> Option<usize> {
        self.queues.iter().position(|state| state.arrivals.queue == queue)
    }

    /// Called when idle queues have changed their places: each gets a turn anew.
    fn begin_again(&mut self) {
        self.left = self.queues.len() - self.active;
    }

    /// Puts an idle queue into use.
    fn activate(&mut self, at: usize) {
        self.queues[at].quiet = 0;
        self.queues.swap(at, self.active);
        self.active += 1;
    }

    /// Looks at the idle queues whose turn it is, or at all, and puts those with submissions into use. Returns the number of
    /// queues that were in use before.
    fn wake(&mut self, all: bool) -> usize {
        let before = self.active;
        let idle = self.queues.len() - before;
        let count = if all { idle } else { idle.div_ceil(TURNS).max(LOOKED_AT).min(idle) };
        for _ in 0..count {
            self.turn = if self.turn + 1 < self.queues.len() { (self.turn + 1).max(before) } else { before };
            // Another queue takes its place, whose turn may have been missed.
            while self.turn >= self.active && !self.queues[self.turn].arrivals.submitted.is_empty() {
                self.activate(self.turn);
            }
        }
        self.left = if all { 0 } else { self.left.saturating_sub(count) };
        before
    }

    /// Makes queues idle that have had no submissions for a while; their slots serve others.
    fn retire_idle<R: Resolve>(&mut self, shared: &Shared<R>) {
        let is_tight = shared.known.budget.is_tight();
        let keep = if is_tight { 0 } else { queue_channel::share(self.queues.len()) };
        let quiet = if is_tight { 1 } else { QUIET };
        let mut at = 0;
        while at < self.active {
            if self.queues[at].quiet < quiet {
                at += 1;
                continue;
            }
            self.queues[at].shrink(keep);
            self.active -= 1;
            self.queues.swap(at, self.active);
        }
        if is_tight {
            let idle = self.queues[self.active..].iter_mut();
            idle.filter(|queue| queue.arrivals.has_more_than(0)).for_each(|queue| queue.shrink(0));
        }
    }

    /// Only forwards completions, which the application still needs when recording has failed.
    pub fn forward_only<R: Resolve>(&mut self, shared: &Shared<R>) -> Pass {
        let mut pass = Pass::default();
        for queue in &mut self.queues {
            queue.accept();
            queue.forward(shared);
            while let Some(slot) = queue.running.pop_front() {
                leave(&slot, Lost::Failure, shared);
                // A packet may still carry the slot's signal, so the slot is leaked.
                std::mem::forget(slot);
            }
            pass.forwards += queue.forwards.len();
        }
        pass.in_flight = pass.forwards;
        if let Some(copies) = &mut self.copies {
            pass.add(copies.forward_only(shared));
        }
        pass
    }

    /// True if packets were submitted that no pass has seen.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let are_copies = self.copies.as_ref().is_some_and(copies::Copies::is_behind);
        are_copies || self.queues.iter().any(|queue| !queue.arrivals.submitted.is_empty())
    }

    /// Removes a queue that has been destroyed, whose other dispatches never complete.
    pub fn remove<R: Resolve>(&mut self, queue: QueueOrdinal, shared: &Shared<R>) {
        let Some(mut at) = self.at(queue) else { return };
        if at < self.active {
            self.active -= 1;
            self.queues.swap(at, self.active);
            at = self.active;
        }
        let mut queue = self.queues.swap_remove(at);
        self.begin_again();
        queue.accept();
        queue.forward(shared);
        // This hands over even while the recorder is behind, because the queue is gone.
        while queue.collect(true, &mut self.sender, shared) > 0 {}
        shared.forwards.fetch_sub(queue.forwards.len(), Ordering::Release);
        let slots = queue.running.drain(..).chain(queue.forwards.drain(..));
        for slot in slots {
            leave(&slot, Lost::QueueDestroyed, shared);
            queue.arrivals.give_back(slot, shared);
        }
        self.sender.flush();
    }

    /// Ends the recording: dispatches that have not completed are lost. Drops the sender, so that the recorder ends too.
    pub fn end<R: Resolve>(mut self, shared: &Shared<R>) {
        self.queues.iter_mut().for_each(QueueState::accept);
        self.show_oldest(clock::now(), true, shared);
        for queue in &mut self.queues {
            for slot in queue.running.drain(..).chain(queue.forwards.drain(..)) {
                leave(&slot, Lost::Unfinished, shared);
                // The packet may complete later and write to the slot's signal, so the slot is leaked.
                std::mem::forget(slot);
            }
        }
        if let Some(copies) = &mut self.copies {
            copies.end(shared);
        }
    }
}

#[cfg(test)]
#[expect(unsafe_code, reason = "signals in the memory of a test")]
mod tests;
