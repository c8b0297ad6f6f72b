//! Slots, one for each dispatch from its submission until its times are known, and the pool of free ones.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::base::counters::Lost;
use crate::base::headroom;
use crate::base::memory;
use crate::base::packet::Launch;
use crate::base::try_lock::lock;
use crate::collect::copy_or_barrier::{CopyOrBarrier, CopyOrBarrierKind};
use crate::collect::dispatch::{Dispatch, KernelId, QueueOrdinal};
use crate::collect::recorder_state::RecorderState;
use crate::collect::runtime::Runtime;
use crate::collect::signals::{Signal, Ticks};
use crate::events::thread::Submitter;

/// The way in which the completion of a dispatch is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionSource {
    /// The packet carries the slot's own signal; the application gave none.
    Own,
    /// The packet carries the application's signal with this handle ([`crate::collect::signal_tracker`]).
    Watched(u64),
    /// The packet carries the slot's own signal; at its completion the application's is decremented.
    Forward(Signal),
    /// Does as [`CompletionSource::Forward`] for a barrier that is not recorded.
    Relay(Signal),
    /// The times are known already.
    Done(Ticks),
}

impl CompletionSource {
    #[must_use]
    pub fn is_recorded(self) -> bool {
        !matches!(self, Self::Relay(_))
    }
}

/// One packet in flight. A slot keeps its signal, so that submitting costs no call of the runtime. It fills two lines of the
/// cache, which go from thread to thread with each dispatch.
#[derive(Debug)]
#[repr(align(64))]
pub struct Slot {
    /// Has value 1 and no times whenever the slot is free.
    pub own: Signal,
    pub source: CompletionSource,
    /// Time of the submission in ns of CLOCK_BOOTTIME; 0 where that is not recorded.
    pub enqueued: i64,
    pub submission: Submission,
}

/// A dispatch when it is submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// See [`Dispatch::correlation`].
    pub correlation: u64,
    /// The thread, and the range that is open in it.
    pub from: Submitter,
    /// [`KernelId::BARRIER`] for a barrier.
    pub kernel: KernelId,
    pub launch: Launch,
}

impl Slot {
    /// The dispatch with its times in ns, on this queue.
    #[must_use]
    pub fn completed(&self, (start, end): (i64, i64), queue: QueueOrdinal, gpu: u16) -> Dispatch {
        let Submission { correlation, from, kernel, launch } = self.submission;
        Dispatch {
            start,
            end,
            correlation: from.link(correlation),
            enqueued: self.enqueued,
            range: from.range,
            kernel,
            queue,
            tid: from.tid,
            grid: launch.grid(),
            lds: launch.lds(),
            scratch: launch.scratch(),
            workgroup: launch.workgroup(),
            gpu,
        }
    }

    /// The barrier with its times in ns, on this queue.
    #[must_use]
    pub fn passed(&self, (start, end): (i64, i64), queue: QueueOrdinal, gpu: u16) -> CopyOrBarrier {
        let Submission { correlation, from, .. } = self.submission;
        let what = CopyOrBarrierKind::Barrier { queue, gpu };
        CopyOrBarrier {
            start,
            end,
            correlation: from.link(correlation),
            enqueued: self.enqueued,
            range: from.range,
            tid: from.tid,
            what,
        }
    }
}

/// Free slots of no queue, within the [`Budget`](crate::base::budget::Budget) of the recording.
pub struct Pool {
    #[expect(clippy::vec_box, reason = "a slot moves from queue to list and back as it is")]
    spare: Mutex<Vec<Box<Slot>>>,
    made: AtomicUsize,
    known: Arc<RecorderState>,
}

impl Pool {
    #[must_use]
    pub fn new(known: Arc<RecorderState>) -> Self {
        Self { spare: Mutex::default(), made: AtomicUsize::new(0), known }
    }

    /// Moves at most `count` spare slots to a list; returns their number.
    pub fn take(&self, count: usize, to: &mut Vec<Box<Slot>>) -> usize {
        let mut spare = lock(&self.spare);
        let rest = spare.len().saturating_sub(count);
        let taken = spare.len() - rest;
        to.extend(spare.drain(rest..));
        taken
    }

    /// Takes a spare slot or makes one.
    ///
    /// # Errors
    /// Those of [`Pool::make`].
    pub fn one(&self, runtime: &dyn Runtime, gpu: u16) -> Result<Box<Slot>, Lost> {
        let spare = lock(&self.spare).pop();
        spare.map_or_else(|| self.make_one(runtime, gpu), Ok)
    }

    /// Makes at most `count` slots; returns their number.
    ///
    /// # Errors
    /// The reason why it made none: the bound is reached, or the runtime makes no more signals.
    pub fn make(
        &self,
        count: usize,
        to: &mut Vec<Box<Slot>>,
        runtime: &dyn Runtime,
        gpu: u16,
    ) -> Result<usize, Lost> {
        if count > 0 && headroom::is_gone() {
            return Err(Lost::Memory);
        }
        for made in 0..count {
            match self.make_one(runtime, gpu) {
                Ok(slot) => to.push(slot),
                Err(why) if made == 0 => return Err(why),
                Err(_) => return Ok(made),
            }
        }
        Ok(count)
    }

    fn make_one(&self, runtime: &dyn Runtime, gpu: u16) -> Result<Box<Slot>, Lost> {
        let budget = &self.known.budget;
        if memory::is_short() {
            return Err(Lost::Memory);
        }
        if !budget.take_slot() {
            return Err(budget.loss());
        }
        let Some(own) = runtime.create_signal(gpu) else {
            budget.give_slots_back(1);
            return Err(Lost::Signals);
        };
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Slot {
            own,
            source: CompletionSource::Own,
            enqueued: 0,
            submission: Submission::default(),
        }))
    }

    /// Makes slots until `spare` are spare, at most `allowance`, which it reduces by their number.
    pub fn stock(&self, spare: usize, allowance: &mut usize, runtime: &dyn Runtime, gpu: u16) {
        let missing = spare.saturating_sub(lock(&self.spare).len()).min(*allowance);
        let mut made = Vec::new();
        if missing > 0 && self.make(missing, &mut made, runtime, gpu).is_ok() {
            *allowance -= made.len();
            lock(&self.spare).append(&mut made);
        }
    }

    /// Takes a slot back whose signal no packet carries any more.
    pub fn give_back(&self, slot: Box<Slot>) {
        slot.own.arm();
        lock(&self.spare).push(slot);
    }

    #[cfg(test)]
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    pub(crate) fn spare(&self) -> usize {
        lock(&self.spare).len()
    }

    /// True if no slot has a signal of the runtime.
    pub fn is_empty(&self) -> bool {
        self.made.load(Ordering::Relaxed) == 0
    }

    /// Destroys the signals of all spare slots.
    pub fn clear(&self, runtime: &dyn Runtime) {
        let spare = std::mem::take(&mut *lock(&self.spare));
        self.made.fetch_sub(spare.len(), Ordering::Relaxed);
        self.known.budget.give_slots_back(spare.len());
        spare.iter().for_each(|slot| runtime.destroy_signal(slot.own));
    }
}
