//! The two halves of a queue, one for the threads that submit and one for the collector. Two queues between them carry slots to
//! the collector and back.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::counters::{Counters, Lost, Skipped};
use crate::base::memory;
use crate::base::packet::Packet;
use crate::base::recording_state;
use crate::base::settings::Mode;
use crate::base::spsc::{self, Consumer, Producer};
use crate::collect::copy_or_barrier::BARRIERS;
use crate::collect::dispatch::{KernelId, QueueOrdinal};
use crate::collect::names::{Cache, Resolve};
use crate::collect::shared::Shared;
use crate::collect::signals::Signal;
use crate::collect::slot::{CompletionSource, Slot, Submission};
use crate::events::thread::{self, Submitter};

/// Slots that a submitting thread takes from the pool when its queue has none: as many as the queue has, but at least and at most
/// these.
pub const BLOCK: (usize, usize) = (8, 64);

/// Slots in a block of the queues between the two halves.
const PLACES: usize = 64;

/// Slots that a queue in use has at least where few are in use, so that a burst finds them.
const USUAL: usize = 2048;

/// Free slots that are spread over all queues in use, 6 MB.
const SPREAD: usize = 8 * USUAL;

/// Limit on the slots that are made or moved at once, so that the collector's other work is not delayed.
pub const AT_ONCE: usize = 2048;

/// Number of slots of a queue for each slot that was in flight at once.
const AHEAD: usize = 2;

/// A queue that needs fewer slots gives up one in this number with each pass.
const DECAY: usize = 64;

/// Free slots of each queue where there are `queues`.
#[must_use]
pub fn share(queues: usize) -> usize {
    let share = SPREAD / queues.max(1);
    if share < BLOCK.1 { 0 } else { share.min(USUAL) }
}

/// The half of the threads that submit.
pub struct Submissions {
    gpu: u16,
    free: Consumer<Box<Slot>, PLACES>,
    submitted: Producer<Box<Slot>, PLACES>,
    /// Slots from the pool that were not used yet.
    #[expect(clippy::vec_box, reason = "a slot moves from queue to list and back as it is")]
    fresh: Vec<Box<Slot>>,
    owned: Arc<AtomicUsize>,
    cache: Cache,
}

pub struct Arrivals {
    pub queue: QueueOrdinal,
    /// Number of the GPU.
    pub gpu: u16,
    /// Slots that were submitted and not looked at yet.
    pub submitted: Consumer<Box<Slot>, PLACES>,
    /// Makes the other half give back all slots beyond this number.
    pub release_slots: Option<Box<dyn Fn(usize) + Send>>,
    free: Producer<Box<Slot>, PLACES>,
    owned: Arc<AtomicUsize>,
    /// Slots that were needed lately; those beyond it go to the pool when they become free.
    wanted: usize,
}

/// Makes the two halves of a new queue.
#[must_use]
pub fn queue_channel(queue: QueueOrdinal, gpu: u16) -> (Submissions, Arrivals) {
    let (submitted_in, submitted_out) = spsc::unbounded();
    let (free_in, free_out) = spsc::unbounded();
    let owned = Arc::new(AtomicUsize::new(0));
    let submissions = Submissions {
        gpu,
        free: free_out,
        submitted: submitted_in,
        fresh: Vec::with_capacity(BLOCK.1),
        owned: Arc::clone(&owned),
        cache: Cache::default(),
    };
    let arrivals = Arrivals {
        queue,
        gpu,
        submitted: submitted_out,
        release_slots: None,
        free: free_in,
        owned,
        wanted: 0,
    };
    (submissions, arrivals)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The packet goes on unchanged, and its completion is not noticed.
    Passed,
    /// The packet goes on unchanged, and its signal is watched.
    Watched,
    Changed,
    /// The packet carries our signal, and the application may wait for the one that we forward to.
    Forwarded,
}

impl Submissions {
    /// Number of the queue's GPU.
    #[must_use]
    pub fn gpu(&self) -> u16 {
        self.gpu
    }

    /// Does the work of [`Self::submit`] for a packet of the usual kind: a kernel without a completion signal, launched before,
    /// with a free slot at hand. `from` is the calling thread. Returns false, and does nothing, for any other packet.
    ///
    /// Nothing in here can panic, allocate or wait.
    #[inline(always)]
    pub fn submit_fast<R: Resolve>(
        &mut self,
        packet: &mut Packet,
        from: &Cell<Submitter>,
        shared: &Shared<R>,
    ) -> bool {
        if !packet.is_usual() {
            return false;
        }
        let Some(kernel) = self.cache.known(packet.kernel_object(), shared.names.generation()) else {
            return false;
        };
        let Some(mut slot) = self.free.pop() else { return false };
        let correlation = shared.known.counters.see(1) + 1;
        slot.submission = Submission { correlation, from: from.get(), kernel, launch: packet.launch() };
        slot.source = CompletionSource::Own;
        packet.set_completion(slot.own.handle());
        self.hand_over(slot, shared);
        true
    }

    /// Counts a packet that is about to be submitted and, if it is a recorded kernel, hands it over to the collector.
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
        if memory::is_short() {
            shared.known.counters.lose(Lost::Memory, 1);
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

    /// Hands a recorded packet over to the collector.
    fn carry<R: Resolve>(
        &mut self,
        submission: Submission,
        packet: &mut Packet,
        shared: &Shared<R>,
    ) -> Verdict {
        let completion = packet.completion();
        let mut slot = match self.slot(shared) {
            Ok(slot) => slot,
            Err(why) => {
                if completion != 0 {
                    shared.release(completion);
                }
                shared.counters_of(&submission).lose(why, 1);
                return Verdict::Passed;
            }
        };
        let (source, verdict) = if completion == 0 {
            (CompletionSource::Own, Verdict::Changed)
        } else {
            Self::completion_source(completion, submission.correlation, shared)
        };
        slot.submission = submission;
        slot.enqueued = shared.moment_of_submission();
        slot.source = source;
        if verdict > Verdict::Watched {
            packet.set_completion(slot.own.handle());
        }
        self.hand_over(slot, shared);
        verdict
    }

    /// Handles a packet that is no kernel, or an unrecorded kernel with a signal. A program that sees the signal of a barrier or
    /// a kernel may conclude that the kernels before it have ended: while signals of kernels are still to be forwarded, its own
    /// is forwarded after them.
    fn submit_other<R: Resolve>(&mut self, packet: &mut Packet, shared: &Shared<R>) -> Verdict {
        if shared.records_barriers && packet.is_barrier() {
            let correlation = BARRIERS + shared.known.barriers.see(1) + 1;
            if memory::is_short() {
                shared.known.barriers.lose(Lost::Memory, 1);
            } else if is_paused() {
                shared.known.barriers.skip(Skipped::Paused, 1);
            } else {
                let (from, kernel) = (thread::current(), KernelId::BARRIER);
                let submission = Submission { correlation, from, kernel, ..Submission::default() };
                return self.carry(submission, packet, shared);
            }
        }
        if packet.completion() == 0 {
            return Verdict::Passed;
        }
        shared.release(packet.completion());
        if !(packet.is_barrier() || packet.is_kernel()) || shared.forwards.load(Ordering::Acquire) == 0 {
            return Verdict::Passed;
        }
        let Ok(mut slot) = self.slot(shared) else { return Verdict::Passed };
        shared.forwards.fetch_add(1, Ordering::Relaxed);
        slot.source = CompletionSource::Relay(Self::signal(packet.completion()));
        packet.set_completion(slot.own.handle());
        self.hand_over(slot, shared);
        Verdict::Forwarded
    }

    #[inline(always)]
    fn hand_over<R: Resolve>(&mut self, slot: Box<Slot>, shared: &Shared<R>) {
        // The queue has places for all slots that it owns, so there is one.
        if let Err(slot) = self.submitted.push(slot) {
            shared.counters_of(&slot.submission).lose(Lost::Failure, 1);
            // The packet carries the slot's signal, so the slot is leaked.
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

    /// The way in which the completion of a dispatch with the application's own signal is noticed.
    fn completion_source<R: Resolve>(
        completion: u64,
        dispatch: u64,
        shared: &Shared<R>,
    ) -> (CompletionSource, Verdict) {
        let signal = Self::signal(completion);
        // A signal that is left alone while others are still to be forwarded would overtake them.
        if shared.forwards.load(Ordering::Acquire) == 0
            && shared.signal_tracker.watch(signal, dispatch, &*shared.runtime)
        {
            (CompletionSource::Watched(completion), Verdict::Watched)
        } else {
            shared.forwards.fetch_add(1, Ordering::Relaxed);
            (CompletionSource::Forward(signal), Verdict::Forwarded)
        }
    }

    /// The signal with which the application submits a packet.
    fn signal(completion: u64) -> Signal {
        #[expect(unsafe_code, reason = "the handle is in a packet")]
        // SAFETY: the packet that carries the signal is about to be submitted, so it is alive until that completes. A watched
        // signal is looked at later only under the lock that its destruction takes; a forwarded one is decremented in place of
        // the packet.
        unsafe {
            Signal::new(completion)
        }
    }

    fn slot<R: Resolve>(&mut self, shared: &Shared<R>) -> Result<Box<Slot>, Lost> {
        match self.free.pop().or_else(|| self.fresh.pop()) {
            Some(slot) => Ok(slot),
            None => self.grow(shared),
        }
    }

    /// Takes a block of slots from the pool, or makes it.
    #[cold]
    fn grow<R: Resolve>(&mut self, shared: &Shared<R>) -> Result<Box<Slot>, Lost> {
        let wanted = match self.owned.load(Ordering::Relaxed) {
            _ if shared.known.budget.is_tight() => 1,
            owned => owned.clamp(BLOCK.0, BLOCK.1),
        };
        let mut count = shared.pool.take(wanted, &mut self.fresh);
        if count == 0 {
            count = shared.pool.make(wanted, &mut self.fresh, &*shared.runtime, self.gpu)?;
        }
        let owned = self.owned.fetch_add(count, Ordering::Relaxed) + count;
        if !(self.submitted.reserve(owned) && self.free.reserve(owned)) {
            self.give_back(0, shared);
            return Err(Lost::Memory);
        }
        self.fresh.pop().ok_or(Lost::Failure)
    }

    /// Number of calls of `give_back` until this queue has `keep` slots.
    #[must_use]
    pub fn rounds(&self, keep: usize) -> usize {
        self.owned.load(Ordering::Relaxed).saturating_sub(keep).div_ceil(BLOCK.1)
    }

    /// Gives free slots back to all queues until this one has `keep`, and the memory that it needed for more. It gives only a
    /// block of them back at once, because a thread that submits meanwhile waits.
    pub fn give_back<R: Resolve>(&mut self, keep: usize, shared: &Shared<R>) {
        for _ in 0..BLOCK.1 {
            if self.owned.load(Ordering::Relaxed) <= keep {
                break;
            }
            let Some(slot) = self.fresh.pop().or_else(|| self.free.pop()) else { break };
            self.owned.fetch_sub(1, Ordering::Relaxed);
            shared.pool.give_back(slot);
        }
        self.submitted.trim(self.owned.load(Ordering::Relaxed));
    }
}

/// True if nothing that this thread submits now is recorded.
pub fn is_paused() -> bool {
    recording_state::is_paused() || thread::is_paused()
}

impl Arrivals {
    /// Makes a slot free again: for this queue where it needs it, else for all.
    pub fn free<R: Resolve>(&mut self, slot: Box<Slot>, shared: &Shared<R>) {
        slot.own.arm();
        if self.owned.load(Ordering::Relaxed) > self.wanted {
            return self.give_back(slot, shared);
        }
        if let Err(slot) = self.free.push(slot) {
            self.give_back(slot, shared);
        }
    }

    /// Gives a slot back to all queues.
    pub fn give_back<R: Resolve>(&self, slot: Box<Slot>, shared: &Shared<R>) {
        self.owned.fetch_sub(1, Ordering::Relaxed);
        shared.pool.give_back(slot);
    }

    /// Takes and makes free slots ahead of need, so that the threads that submit make none: twice as many as were in flight at
    /// once when a pass began, because the next pass may come late. Makes at most `allowance` slots, which it reduces by their
    /// number; `slots` is an empty list, kept for its capacity.
    pub fn grow_ahead<R: Resolve>(
        &mut self,
        in_flight: usize,
        share: usize,
        allowance: &mut usize,
        slots: &mut Vec<Box<Slot>>,
        shared: &Shared<R>,
    ) {
        if !shared.makes_slots_ahead.load(Ordering::SeqCst) {
            return;
        }
        let wanted = (in_flight * AHEAD).max(share);
        self.wanted = wanted.max(self.wanted - self.wanted.div_ceil(DECAY));
        let owned = self.owned.load(Ordering::Relaxed);
        self.reserve(owned + owned.min(AT_ONCE));
        let missing = wanted.saturating_sub(owned).min(AT_ONCE);
        if missing == 0 {
            return;
        }
        let most = (missing - shared.pool.take(missing, slots)).min(*allowance);
        // At the bound the thread that submits counts the losses.
        *allowance -= shared.pool.make(most, slots, &*shared.runtime, self.gpu).unwrap_or(0);
        let owned = self.owned.fetch_add(slots.len(), Ordering::Relaxed) + slots.len();
        let has_room = self.reserve(owned);
        for slot in slots.drain(..) {
            if !has_room {
                self.owned.fetch_sub(1, Ordering::Relaxed);
                shared.pool.give_back(slot);
            } else if let Err(slot) = self.free.push(slot) {
                self.give_back(slot, shared);
            }
        }
    }

    /// Makes places for this number of slots, including those that a thread may take from the pool before the next pass.
    fn reserve(&self, slots: usize) -> bool {
        !memory::is_short() && self.submitted.reserve(slots) && self.free.reserve(slots)
    }

    #[must_use]
    pub fn has_more_than(&self, slots: usize) -> bool {
        self.owned.load(Ordering::Relaxed) > slots
    }

    /// Called when nothing has been in flight for a while: gives all slots beyond `keep` to other queues.
    pub fn shrink(&mut self, keep: usize) {
        self.wanted = keep;
        if self.has_more_than(keep)
            && let Some(release) = &self.release_slots
        {
            release(keep);
        }
        self.free.trim(self.owned.load(Ordering::Relaxed));
    }
}
