//! A queue as the tracer sees it: two halves, one for the threads that submit and one for the collector, joined
//! by two rings through which slots go round.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::counters::{Counters, Lost, Skipped};
use crate::dispatch::{KernelId, QueueOrdinal};
use crate::names::{Cache, Resolve};
use crate::others::BARRIERS;
use crate::packet::Packet;
use crate::ring::{Consumer, Producer, ring};
use crate::settings::Mode;
use crate::shared::Shared;
use crate::signals::Signal;
use crate::slot::{QUEUE_BOUND, Slot, Submission, Way};
use crate::{control, thread};

/// Slots that a queue gets when it is created, and each time that the submitting thread finds none.
const BLOCK: usize = 64;

/// Slots of a queue at least, 600 kB, which are made before its first packet comes.
const LEAST: usize = 2048;

/// Slots that are made at once: making them must not keep the collector from what it is there for.
const AT_ONCE: usize = 2048;

/// How many times what was in flight at once a queue has slots.
const AHEAD: usize = 2;

/// The half of the threads that submit.
pub struct Submissions {
    gpu: u16,
    free: Consumer<Box<Slot>, QUEUE_BOUND>,
    submitted: Producer<Box<Slot>, QUEUE_BOUND>,
    /// Slots that the free ring had no part in yet.
    #[expect(clippy::vec_box, reason = "a slot moves from ring to list and back as it is")]
    fresh: Vec<Box<Slot>>,
    owned: Arc<AtomicUsize>,
    cache: Cache,
}

/// The collector's half.
pub struct Arrivals {
    /// Which queue.
    pub queue: QueueOrdinal,
    /// The number of its GPU.
    pub gpu: u16,
    /// What was submitted and not looked at yet.
    pub submitted: Consumer<Box<Slot>, QUEUE_BOUND>,
    free: Producer<Box<Slot>, QUEUE_BOUND>,
    owned: Arc<AtomicUsize>,
}

/// The two halves of a new queue.
#[must_use]
pub fn lane(queue: QueueOrdinal, gpu: u16) -> (Submissions, Arrivals) {
    let (submitted_in, submitted_out) = ring();
    let (free_in, free_out) = ring();
    let owned = Arc::new(AtomicUsize::new(0));
    let submissions = Submissions {
        gpu,
        free: free_out,
        submitted: submitted_in,
        fresh: Vec::with_capacity(BLOCK),
        owned: Arc::clone(&owned),
        cache: Cache::default(),
    };
    (submissions, Arrivals { queue, gpu, submitted: submitted_out, free: free_in, owned })
}

/// What was done about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It goes on as the application wrote it, and nobody looks after it.
    Passed,
    /// It goes on as the application wrote it; its signal is watched.
    Watched,
    /// It carries our signal.
    Changed,
    /// It carries our signal, and someone may wait for what we forward.
    Forwarded,
}

impl Submissions {
    /// Does for a packet of the usual kind what [`Self::submit`] does for all: a kernel without a completion signal,
    /// launched before, with a free slot at hand. False, and nothing has happened, for any other.
    ///
    /// Nothing in here can panic, allocate or wait.
    #[inline(always)]
    pub fn submit_usual<R: Resolve>(&mut self, packet: &mut Packet, shared: &Shared<R>) -> bool {
        if !packet.is_kernel() || packet.completion() != 0 {
            return false;
        }
        let Some(kernel) = self.cache.known(packet.kernel_object(), shared.names.generation()) else {
            return false;
        };
        let Some(from) = thread::known() else { return false };
        let Some(mut slot) = self.free.pop() else { return false };
        let correlation = shared.known.counters.see(1) + 1;
        slot.submission = Submission { correlation, from, kernel, launch: packet.launch() };
        slot.way = Way::Own;
        packet.set_completion(slot.own.handle());
        self.hand_over(slot, shared);
        true
    }

    /// Counts a packet that is about to be submitted and, where it is a kernel that is recorded, puts it on its way
    /// to the collector.
    pub fn submit<R: Resolve>(&mut self, packet: &mut Packet, shared: &Shared<R>) -> Verdict {
        if !packet.is_kernel() {
            return self.submit_other(packet, shared);
        }
        let completion = packet.completion();
        let correlation = shared.known.counters.see(1) + 1;
        if is_paused() {
            shared.known.counters.skip(Skipped::Paused, 1);
            return self.submit_other(packet, shared);
        }
        if completion != 0 && shared.mode == Mode::Lite {
            shared.known.counters.skip(Skipped::Signal, 1);
            return Verdict::Passed;
        }
        let kernel = self.cache.id(packet.kernel_object(), &shared.names, &shared.known.kernels);
        let submission = Submission { correlation, from: thread::current(), kernel, launch: packet.launch() };
        self.carry(submission, packet, shared)
    }

    /// Puts a packet that is recorded on its way to the collector.
    fn carry<R: Resolve>(
        &mut self,
        submission: Submission,
        packet: &mut Packet,
        shared: &Shared<R>,
    ) -> Verdict {
        let completion = packet.completion();
        let Some(mut slot) = self.slot(shared) else {
            if completion != 0 {
                shared.release(completion);
            }
            shared.counters_of(&submission).lose(Lost::Behind, 1);
            return Verdict::Passed;
        };
        let (way, verdict) = if completion == 0 {
            (Way::Own, Verdict::Changed)
        } else {
            Self::way_of(completion, submission.correlation, shared)
        };
        slot.submission = submission;
        slot.enqueued = shared.moment_of_submission();
        slot.way = way;
        if verdict > Verdict::Watched {
            packet.set_completion(slot.own.handle());
        }
        self.hand_over(slot, shared);
        verdict
    }

    /// A packet that is no kernel, or a kernel with a signal of which nothing is recorded. Whoever sees the signal of a barrier
    /// or a kernel may conclude that the kernels before it have ended: while signals of kernels are still to be forwarded,
    /// its own comes after them.
    fn submit_other<R: Resolve>(&mut self, packet: &mut Packet, shared: &Shared<R>) -> Verdict {
        if shared.records_barriers && packet.is_barrier() {
            let correlation = BARRIERS + shared.known.barriers.see(1) + 1;
            if !is_paused() {
                let (from, kernel) = (thread::current(), KernelId::BARRIER);
                let submission = Submission { correlation, from, kernel, ..Submission::default() };
                return self.carry(submission, packet, shared);
            }
            shared.known.barriers.skip(Skipped::Paused, 1);
        }
        if packet.completion() == 0 {
            return Verdict::Passed;
        }
        shared.release(packet.completion());
        if !(packet.is_barrier() || packet.is_kernel()) || shared.forwards.load(Ordering::Acquire) == 0 {
            return Verdict::Passed;
        }
        let Some(mut slot) = self.slot(shared) else { return Verdict::Passed };
        shared.forwards.fetch_add(1, Ordering::Relaxed);
        slot.way = Way::Relay(Self::signal(packet.completion()));
        packet.set_completion(slot.own.handle());
        self.hand_over(slot, shared);
        Verdict::Forwarded
    }

    #[inline(always)]
    fn hand_over<R: Resolve>(&mut self, slot: Box<Slot>, shared: &Shared<R>) {
        // A queue owns no more slots than its rings have places, so there is one.
        if let Err(slot) = self.submitted.push(slot) {
            shared.counters_of(&slot.submission).lose(Lost::Failure, 1);
            // The packet carries its signal: it must not be used again.
            std::mem::forget(slot);
        }
    }

    /// Counts a packet that goes on unrecorded for this reason.
    #[cold]
    pub fn pass<R: Resolve>(packet: &Packet, shared: &Shared<R>, count: impl FnOnce(&Counters)) {
        if packet.completion() != 0 {
            shared.release(packet.completion());
        }
        let counters = match packet {
            packet if packet.is_kernel() => &shared.known.counters,
            packet if packet.is_barrier() && shared.records_barriers => &shared.known.barriers,
            _ => return,
        };
        counters.see(1);
        count(counters);
    }

    /// How a dispatch that carries the application's own signal is noticed.
    fn way_of<R: Resolve>(completion: u64, dispatch: u64, shared: &Shared<R>) -> (Way, Verdict) {
        let signal = Self::signal(completion);
        // A signal that is left alone while others are still to be forwarded would overtake them.
        if shared.forwards.load(Ordering::Acquire) == 0
            && shared.watches.watch(signal, dispatch, &*shared.runtime)
        {
            (Way::Watched(completion), Verdict::Watched)
        } else {
            shared.forwards.fetch_add(1, Ordering::Relaxed);
            (Way::Forward(signal), Verdict::Forwarded)
        }
    }

    /// The signal with which the application submits a packet.
    fn signal(completion: u64) -> Signal {
        #[expect(unsafe_code, reason = "the handle is in a packet")]
        // SAFETY: the packet that carries the signal is about to be submitted, so it is alive until that completes.
        // A watched signal is looked at later only under the lock that its destruction takes; a forwarded one is
        // decremented in place of the packet.
        unsafe {
            Signal::new(completion)
        }
    }

    fn slot<R: Resolve>(&mut self, shared: &Shared<R>) -> Option<Box<Slot>> {
        self.free.pop().or_else(|| self.fresh.pop()).or_else(|| self.grow(shared))
    }

    #[cold]
    fn grow<R: Resolve>(&mut self, shared: &Shared<R>) -> Option<Box<Slot>> {
        self.prepare(shared);
        self.fresh.pop()
    }

    /// Makes another block of slots.
    pub fn prepare<R: Resolve>(&mut self, shared: &Shared<R>) {
        for _ in 0..BLOCK {
            let Some(slot) = take(&self.owned, shared, self.gpu) else { break };
            self.fresh.push(slot);
        }
    }

    /// Gives every free slot back, when nothing is submitted any more.
    pub fn retire<R: Resolve>(&mut self, shared: &Shared<R>) {
        while let Some(slot) = self.free.pop().or_else(|| self.fresh.pop()) {
            self.owned.fetch_sub(1, Ordering::Relaxed);
            shared.pool.give_back(slot);
        }
    }
}

/// Whether nothing that this thread submits now is recorded.
pub fn is_paused() -> bool {
    control::is_paused() || thread::is_paused()
}

/// A slot more for a queue, unless it has as many as its rings hold.
fn take<R: Resolve>(owned: &AtomicUsize, shared: &Shared<R>, gpu: u16) -> Option<Box<Slot>> {
    let slot = if owned.fetch_add(1, Ordering::Relaxed) < QUEUE_BOUND {
        shared.pool.take(&*shared.runtime, gpu)
    } else {
        None
    };
    if slot.is_none() {
        owned.fetch_sub(1, Ordering::Relaxed);
    }
    slot
}

impl Arrivals {
    /// Makes a slot free again.
    pub fn free<R: Resolve>(&mut self, slot: Box<Slot>, shared: &Shared<R>) {
        slot.own.arm();
        if let Err(slot) = self.free.push(slot) {
            self.owned.fetch_sub(1, Ordering::Relaxed);
            shared.pool.give_back(slot);
        }
    }

    /// Gives a slot back to all queues, because this one is gone.
    pub fn give_back<R: Resolve>(&self, slot: Box<Slot>, shared: &Shared<R>) {
        self.owned.fetch_sub(1, Ordering::Relaxed);
        shared.pool.give_back(slot);
    }

    /// Makes free slots ahead of need, so that the threads that submit make none: twice as many as were in
    /// flight at once when a pass began, because the next pass may come late.
    pub fn grow_ahead<R: Resolve>(&mut self, in_flight: usize, shared: &Shared<R>) {
        if !shared.makes_slots_ahead.load(Ordering::SeqCst) {
            return;
        }
        let wanted = (in_flight * AHEAD).clamp(LEAST, QUEUE_BOUND);
        let owned = self.owned.load(Ordering::Relaxed);
        for _ in owned..wanted.min(owned + AT_ONCE) {
            let Some(slot) = take(&self.owned, shared, self.gpu) else { return };
            if let Err(slot) = self.free.push(slot) {
                self.give_back(slot, shared);
                return;
            }
        }
    }
}
