//! Notices what has completed, on a thread of its own, and hands it on.
//!
//! It looks at the memory of signals and is told nothing: an interrupt for each dispatch would cost more than all
//! the rest. Dispatches complete in whatever order; one that runs for hours holds nobody up. Signals of the
//! application that wait to be forwarded are looked at first and all of them, every time.
//!
//! When the recorder is behind, completed dispatches stay in their slots until it has room; forwarding goes on. When
//! a queue then has no free slot left, its packets pass unrecorded ([`Lost::Behind`]).

mod copies;
pub mod oldest;
pub mod thread;

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::clock;
use crate::copies::Arrivals as CopyArrivals;
use crate::counters::{Counters, Lost};
use crate::dispatch::{Dispatch, KernelId, QueueOrdinal};
use crate::handover::Sender;
use crate::lane::Arrivals;
use crate::names::Resolve;
use crate::shared::Shared;
use crate::signals::Ticks;
use crate::slot::{Slot, Way};
use crate::watch::Sight;

/// Dispatches looked at beyond the oldest one that still runs.
const AHEAD: usize = 64;

/// Every so many passes all dispatches of a queue are looked at.
const THOROUGH: u32 = 16;

/// A queue.
struct Lane {
    arrivals: Arrivals,
    /// In flight, the oldest first.
    running: VecDeque<Box<Slot>>,
    /// In flight, and the application's signal waits for us; in the order of their submission.
    forwards: VecDeque<Box<Slot>>,
    /// Which of them have completed, the latest first; kept for its room.
    completed: Vec<usize>,
    /// Whether any has completed since the oldest one was looked for.
    has_completed: bool,
    /// The oldest one when it was looked for.
    oldest: Option<oldest::Oldest>,
}

/// What a pass found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// Dispatches that were completed and handed on, or lost.
    pub completed: usize,
    /// Dispatches that are in flight.
    pub in_flight: usize,
    /// Those among them whose signal waits for us.
    pub forwards: usize,
    /// Whether dispatches have completed that the recorder has not been shown, because it had others to write.
    pub holds_back: bool,
}

/// Everything in flight.
pub struct Collector {
    lanes: Vec<Lane>,
    copies: Option<copies::Copies>,
    sender: Sender<Dispatch>,
    passes: u32,
    /// When the oldest dispatches were looked for, in ns of CLOCK_BOOTTIME.
    watched: i64,
}

impl Collector {
    /// Without any queue yet.
    #[must_use]
    pub fn new(sender: Sender<Dispatch>) -> Self {
        Self { lanes: Vec::new(), copies: None, sender, passes: 0, watched: 0 }
    }

    /// The copies, of which there is one lane.
    pub fn add_copies(&mut self, arrivals: CopyArrivals) {
        self.copies = Some(copies::Copies::new(arrivals));
    }

    /// A queue more.
    pub fn add(&mut self, arrivals: Arrivals) {
        self.lanes.push(Lane {
            arrivals,
            running: VecDeque::new(),
            forwards: VecDeque::new(),
            completed: Vec::new(),
            has_completed: false,
            oldest: None,
        });
    }

    /// Looks at everything in flight once. Nothing is left out when `thorough`.
    pub fn pass<R: Resolve>(&mut self, thorough: bool, shared: &Shared<R>) -> Pass {
        self.passes = self.passes.wrapping_add(1);
        let thorough = thorough || self.passes.is_multiple_of(THOROUGH);
        let mut pass = Pass::default();
        for lane in &mut self.lanes {
            lane.accept();
            let in_flight = lane.in_flight();
            lane.forward(shared);
            pass.completed += lane.collect(thorough, &mut self.sender, shared);
            pass.in_flight += lane.in_flight();
            pass.forwards += lane.forwards.len();
            lane.arrivals.grow_ahead(in_flight, shared);
        }
        if let Some(copies) = &mut self.copies {
            pass.add(copies.pass(shared));
        }
        self.sender.flush();
        pass.holds_back = self.sender.holds_back();
        shared.known.passes.fetch_add(1, Ordering::Release);
        pass
    }

    /// Only forwards: what remains to be done for the application when recording has failed.
    pub fn forward_only<R: Resolve>(&mut self, shared: &Shared<R>) -> Pass {
        let mut pass = Pass::default();
        for lane in &mut self.lanes {
            lane.accept();
            lane.forward(shared);
            while let Some(slot) = lane.running.pop_front() {
                shared.counters_of(&slot.submission).lose(Lost::Failure, 1);
                if let Way::Watched(signal) = slot.way {
                    shared.watches.forget(signal, slot.submission.correlation);
                }
                // A packet may still carry the slot's signal: it is never used again.
                std::mem::forget(slot);
            }
            pass.forwards += lane.forwards.len();
        }
        pass.in_flight = pass.forwards;
        if let Some(copies) = &mut self.copies {
            pass.add(copies.forward_only(shared));
        }
        pass
    }

    /// Whether something was submitted that no pass has seen.
    #[must_use]
    pub fn is_behind(&self) -> bool {
        let are_copies = self.copies.as_ref().is_some_and(copies::Copies::is_behind);
        are_copies || self.lanes.iter().any(|lane| !lane.arrivals.submitted.is_empty())
    }

    /// Takes leave of a queue that has been destroyed: what had not completed never will.
    pub fn remove<R: Resolve>(&mut self, queue: QueueOrdinal, shared: &Shared<R>) {
        let Some(at) = self.lanes.iter().position(|lane| lane.arrivals.queue == queue) else { return };
        let mut lane = self.lanes.swap_remove(at);
        lane.accept();
        lane.forward(shared);
        // The recorder may be behind; the queue is gone all the same.
        while lane.collect(true, &mut self.sender, shared) > 0 {}
        shared.forwards.fetch_sub(lane.forwards.len(), Ordering::Release);
        let slots = lane.running.drain(..).chain(lane.forwards.drain(..));
        for slot in slots {
            if let Way::Watched(signal) = slot.way {
                shared.watches.forget(signal, slot.submission.correlation);
            }
            if slot.way.is_recorded() {
                shared.counters_of(&slot.submission).lose(Lost::QueueDestroyed, 1);
            }
            lane.arrivals.give_back(slot, shared);
        }
        self.sender.flush();
    }

    /// The recording ends: what has not completed is lost. Gives up the sender, so that the recorder ends too.
    pub fn end<R: Resolve>(mut self, shared: &Shared<R>) {
        self.lanes.iter_mut().for_each(Lane::accept);
        self.show_oldest(clock::now(), true, shared);
        for lane in &mut self.lanes {
            for slot in lane.running.drain(..).chain(lane.forwards.drain(..)) {
                if slot.way.is_recorded() {
                    shared.counters_of(&slot.submission).lose(Lost::Unfinished, 1);
                }
                if let Way::Watched(signal) = slot.way {
                    shared.watches.forget(signal, slot.submission.correlation);
                }
                // Its packet may complete later and write to its signal, which therefore stays.
                std::mem::forget(slot);
            }
        }
        if let Some(copies) = &mut self.copies {
            copies.end(shared);
        }
    }
}

impl Pass {
    fn add(&mut self, other: Self) {
        self.completed += other.completed;
        self.in_flight += other.in_flight;
        self.forwards += other.forwards;
    }
}

impl Lane {
    fn in_flight(&self) -> usize {
        self.running.len() + self.forwards.len()
    }

    fn accept(&mut self) {
        while let Some(slot) = self.arrivals.submitted.pop() {
            match slot.way {
                Way::Forward(_) | Way::Relay(_) => self.forwards.push_back(slot),
                _ => self.running.push_back(slot),
            }
        }
    }

    /// Forwards every completion that an application's signal waits for, in the order of submission.
    fn forward<R: Resolve>(&mut self, shared: &Shared<R>) {
        // The latest is looked at first: whatever it waited for is then seen completed too, and is forwarded before it.
        let slots = self.forwards.iter().enumerate().rev();
        self.completed.extend(slots.filter(|(_, slot)| slot.own.value() < 1).map(|(at, _)| at));
        for gone in 0..self.completed.len() {
            let Some(mut slot) = self.completed.pop().and_then(|at| self.forwards.remove(at - gone)) else {
                break;
            };
            let ticks = slot.own.ticks();
            if let Way::Forward(signal) | Way::Relay(signal) = slot.way {
                shared.watches.set_ticks(signal, ticks, &*shared.runtime);
                shared.runtime.decrement(signal);
                shared.forwards.fetch_sub(1, Ordering::Release);
            }
            if slot.way.is_recorded() {
                slot.way = Way::Done(ticks);
                self.running.push_back(slot);
            } else {
                self.arrivals.free(slot, shared);
            }
        }
    }

    /// Hands on what has completed, as far as there is room; how much that was.
    fn collect<R: Resolve>(
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
            let sight = look(slot, shared);
            if sight == Sight::Running {
                at += 1;
                beyond += 1;
                continue;
            }
            // The oldest that still runs takes the place: order does not matter, only that nothing moves far.
            if let Some(slot) = self.running.swap_remove_front(at) {
                hand_on(&slot, sight, (self.arrivals.queue, self.arrivals.gpu), sender, shared);
                self.arrivals.free(slot, shared);
                completed += 1;
            }
        }
        self.has_completed |= completed > 0;
        completed
    }
}

/// How far a dispatch is.
fn look<R: Resolve>(slot: &Slot, shared: &Shared<R>) -> Sight {
    match slot.way {
        Way::Own | Way::Forward(_) | Way::Relay(_) if slot.own.value() >= 1 => Sight::Running,
        Way::Own | Way::Forward(_) | Way::Relay(_) => Sight::Done(slot.own.ticks()),
        Way::Watched(signal) => shared.watches.look(signal, slot.submission.correlation, &*shared.runtime),
        Way::Done(ticks) => Sight::Done(ticks),
    }
}

/// Hands a completed dispatch on, or counts why that cannot be.
fn hand_on<R: Resolve>(
    slot: &Slot,
    sight: Sight,
    (queue, gpu): (QueueOrdinal, u16),
    sender: &mut Sender<Dispatch>,
    shared: &Shared<R>,
) {
    let counters = shared.counters_of(&slot.submission);
    let is_barrier = slot.submission.kernel == KernelId::BARRIER;
    let failure = Failure(counters);
    let lost = match sight {
        Sight::Missed | Sight::Running | Sight::Copied(_) => Some(Lost::Reused),
        Sight::Done(ticks) => match times(ticks, |tick| shared.runtime.translate(gpu, tick)) {
            None => Some(Lost::Times),
            Some(times) if is_barrier => {
                (!shared.known.others.put(slot.passed(times, queue, gpu))).then_some(Lost::Behind)
            }
            Some(times) => sender.send(slot.completed(times, queue, gpu)).is_err().then_some(Lost::Behind),
        },
    };
    std::mem::forget(failure);
    if let Some(why) = lost {
        counters.lose(why, 1);
    }
}

/// Counts a dispatch as lost when a panic keeps it from being handed on.
struct Failure<'a>(&'a Counters);

impl Drop for Failure<'_> {
    fn drop(&mut self) {
        self.0.lose(Lost::Failure, 1);
    }
}

/// Start and end in ns, where the hardware wrote them and they make sense.
fn times(ticks: Ticks, translate: impl Fn(u64) -> Option<i64>) -> Option<(i64, i64)> {
    if !ticks.are_known() || ticks.end < ticks.start {
        return None;
    }
    // The end first, as the runtime does it when the application asks (GpuAgent::TranslateTime): a tick that
    // makes it synchronise the clocks then changes both.
    let end = translate(ticks.end)?;
    let start = translate(ticks.start)?;
    (start > 0 && end >= start).then_some((start, end))
}

#[cfg(test)]
#[expect(unsafe_code, reason = "signals in the memory of a test")]
mod tests;
