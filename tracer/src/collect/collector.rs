//! Notices what has completed, on a thread of its own, and hands it on.
//!
//! It looks at the memory of signals and is told nothing: an interrupt for each dispatch would cost more than all
//! the rest. Dispatches complete in whatever order; one that runs for hours holds nobody up. Signals of the
//! application that wait to be forwarded are looked at first and all of them, every time.
//!
//! When the recorder is behind and has all that RTL_BUFFER allows, completed dispatches stay in their slots until it has
//! room; forwarding goes on. When no slot is left, packets pass unrecorded ([`Lost::Behind`]).
//!
//! Queues that nothing was submitted to for a while are idle: their slots serve other queues, and where there are many,
//! each pass looks at some of them only.

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

/// After this number of passes all dispatches of a queue are looked at.
const THOROUGH: u32 = 16;

/// Passes without anything in flight after which a queue is idle.
const QUIET: u32 = 64;

/// Idle queues that a pass looks at, at least; all of them have their turn in [`TURNS`] passes.
const LOOKED_AT: usize = 256;
const TURNS: usize = 8;

/// Spare slots for queues that become busy.
const STOCK: usize = 2048;

pub struct Collector {
    /// The queues in use first, then the idle ones.
    queues: Vec<QueueState>,
    /// How many are in use.
    active: usize,
    /// The idle one that is looked at next, from the first idle one.
    turn: usize,
    /// Idle ones that have not had their turn since all had theirs.
    left: usize,
    /// Kept for its capacity.
    #[expect(clippy::vec_box, reason = "a slot moves from queue to list and back as it is")]
    slots: Vec<Box<Slot>>,
    copies: Option<copies::Copies>,
    sender: Sender<Dispatch>,
    passes: u32,
    /// When the oldest dispatches were looked for, in ns of CLOCK_BOOTTIME.
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

    /// The copies, of which there is one queue.
    pub fn add_copies(&mut self, arrivals: CopyArrivals) {
        self.copies = Some(copies::Copies::new(arrivals));
    }

    pub fn add(&mut self, arrivals: Arrivals) {
        self.queues.push(QueueState::new(arrivals));
        self.activate(self.queues.len() - 1);
        self.begin_again();
    }

    /// Looks at everything in flight once. Nothing is left out when `thorough`.
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
        // A signal that waits for us and that no queue in use has been submitted with is an idle queue's.
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

    /// Hands on the completed dispatches of this queue; the number of those that are still in flight.
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

    /// Idle queues have changed their places: all get a turn anew.
    fn begin_again(&mut self) {
        self.left = self.queues.len() - self.active;
    }

    /// An idle queue is in use again.
    fn activate(&mut self, at: usize) {
        self.queues[at].quiet = 0;
        self.queues.swap(at, self.active);
        self.active += 1;
    }

    /// Looks at the idle queues whose turn it is, or at all; those with something submitted are in use from now on. How many
    /// were in use before.
    fn wake(&mut self, all: bool) -> usize {
        let before = self.active;
        let idle = self.queues.len() - before;
        let count = if all { idle } else { idle.div_ceil(TURNS).max(LOOKED_AT).min(idle) };
        for _ in 0..count {
            self.turn = if self.turn + 1 < self.queues.len() { (self.turn + 1).max(before) } else { before };
            // Another one takes its place, whose turn may have been missed.
            while self.turn >= self.active && !self.queues[self.turn].arrivals.submitted.is_empty() {
                self.activate(self.turn);
            }
        }
        self.left = if all { 0 } else { self.left.saturating_sub(count) };
        before
    }

    /// Queues that nothing has been submitted to for a while are idle; their slots serve others.
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

    /// Only forwards: what remains to be done for the application when recording has failed.
    pub fn forward_only<R: Resolve>(&mut self, shared: &Shared<R>) -> Pass {
        let mut pass = Pass::default();
        for queue in &mut self.queues {
            queue.accept();
            queue.forward(shared);
            while let Some(slot) = queue.running.pop_front() {
                leave(&slot, Lost::Failure, shared);
                // A packet may still carry the slot's signal: it is never used again.
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

    /// True where packets were submitted that no pass has seen.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let are_copies = self.copies.as_ref().is_some_and(copies::Copies::is_behind);
        are_copies || self.queues.iter().any(|queue| !queue.arrivals.submitted.is_empty())
    }

    /// Takes leave of a queue that has been destroyed: what had not completed never will.
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
        // The recorder may be behind; the queue is gone all the same.
        while queue.collect(true, &mut self.sender, shared) > 0 {}
        shared.forwards.fetch_sub(queue.forwards.len(), Ordering::Release);
        let slots = queue.running.drain(..).chain(queue.forwards.drain(..));
        for slot in slots {
            leave(&slot, Lost::QueueDestroyed, shared);
            queue.arrivals.give_back(slot, shared);
        }
        self.sender.flush();
    }

    /// The recording ends: what has not completed is lost. Gives up the sender, so that the recorder ends too.
    pub fn end<R: Resolve>(mut self, shared: &Shared<R>) {
        self.queues.iter_mut().for_each(QueueState::accept);
        self.show_oldest(clock::now(), true, shared);
        for queue in &mut self.queues {
            for slot in queue.running.drain(..).chain(queue.forwards.drain(..)) {
                leave(&slot, Lost::Unfinished, shared);
                // Its packet may complete later and write to its signal, which therefore stays.
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
