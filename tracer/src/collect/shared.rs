//! The state that all threads of the tracer, and all of the application that pass through it, have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};

use crate::base::clock;
use crate::base::counters::{Counters, Lost};
use crate::base::log;
use crate::base::memory;
use crate::base::settings::Mode;
use crate::collect::dispatch::KernelId;
use crate::collect::forwarded_copies::ForwardedCopies;
use crate::collect::names::{Names, Resolve};
use crate::collect::parker::Parker;
use crate::collect::recorder_state::RecorderState;
use crate::collect::runtime::Runtime;
use crate::collect::signal_tracker::SignalTracker;
use crate::collect::slot::{Pool, Submission};

/// How far the recording is. It only ever goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    Recording,
    /// The process ends, or the runtime does: packets go through as they are.
    Ended,
    /// The tracer failed and is out of the way: packets go through as they are.
    Failed,
    /// A forked child: nothing here is its own.
    Forked,
}

/// Why packets may not take the fast path.
mod slow {
    /// Each packet is told of, or the clock is read for it.
    pub(super) const ALWAYS: u8 = 1;
    /// Nothing is recorded for now.
    pub(super) const PAUSED: u8 = 2;
    /// Nothing is recorded any more.
    pub(super) const OVER: u8 = 4;
    /// The next packet is timed.
    pub(super) const SAMPLE: u8 = 8;
    /// There is no memory for what is submitted now.
    pub(super) const SHORT: u8 = 16;
}

pub struct Shared<R> {
    phase: AtomicU8,
    /// Why packets may not take the fast path: bits of [`slow`].
    slow: AtomicU8,
    ending: AtomicBool,
    /// Each packet is reported on standard error (RTL_DEBUG=2).
    pub told: bool,
    pub mode: Mode,
    /// A batch of more packets than this that is not in the queue's own ring is passed on as it is
    /// ([`crate::intercept::staging`]).
    pub largest_staged: u64,
    /// Kernels, queues and counters: what the recorder knows too.
    pub known: Arc<RecorderState>,
    pub names: Names<R>,
    /// The application's signals that are watched.
    pub signal_tracker: SignalTracker,
    /// Decrements that the application's signals wait for, but for those of copies.
    pub forwards: AtomicUsize,
    pub copies: ForwardedCopies,
    pub records_barriers: bool,
    /// The time at which an op is enqueued is recorded.
    times_submissions: bool,
    pub pool: Pool,
    /// The collector makes slots ahead of need: not once the runtime may be about to end, which has counted on all signals
    /// being its own again.
    pub makes_slots_ahead: AtomicBool,
    pub parker: Parker,
    pub runtime: Box<dyn Runtime>,
}

impl<R: Resolve> Shared<R> {
    pub fn new(
        mode: Mode,
        known: Arc<RecorderState>,
        resolver: Option<R>,
        runtime: Box<dyn Runtime>,
    ) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Recording as u8),
            slow: AtomicU8::new(0),
            ending: AtomicBool::new(false),
            told: false,
            mode,
            largest_staged: u64::MAX,
            pool: Pool::new(Arc::clone(&known)),
            known,
            names: Names::new(resolver),
            signal_tracker: SignalTracker::default(),
            forwards: AtomicUsize::new(0),
            copies: ForwardedCopies::default(),
            records_barriers: false,
            times_submissions: false,
            makes_slots_ahead: AtomicBool::new(true),
            parker: Parker::default(),
            runtime,
        }
    }

    /// How far the recording is.
    #[inline]
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Recording,
            1 => Phase::Ended,
            2 => Phase::Failed,
            _ => Phase::Forked,
        }
    }

    #[inline]
    pub fn is_recording(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == Phase::Recording as u8
    }

    /// Ends the recording: the collector's thread is to come to its end, however far the recording was.
    pub fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.advance(Phase::Ended);
    }

    /// True where the collector's thread is to come to its end.
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    /// Tells of each packet from now on.
    pub fn tell_packets(&mut self) {
        self.told = true;
        self.slow.fetch_or(slow::ALWAYS, Ordering::SeqCst);
    }

    /// Records from now on when ops are enqueued: none takes the fast path, which reads no clock.
    pub fn time_submissions(&mut self) {
        self.times_submissions = true;
        self.slow.fetch_or(slow::ALWAYS, Ordering::SeqCst);
    }

    /// When an op is enqueued that is enqueued now, in ns of CLOCK_BOOTTIME; 0 where that is not recorded.
    pub fn moment_of_submission(&self) -> i64 {
        if self.times_submissions { clock::now() } else { 0 }
    }

    /// True where a packet of the usual kind may take the fast path.
    #[inline]
    pub fn is_usual(&self) -> bool {
        self.slow.load(Ordering::Relaxed) == 0
    }

    /// From now on, whether dispatches are left out: then no packet takes the fast path.
    pub fn pause(&self, is_paused: bool) {
        if is_paused {
            self.slow.fetch_or(slow::PAUSED, Ordering::SeqCst);
        } else {
            self.slow.fetch_and(!slow::PAUSED, Ordering::SeqCst);
        }
        self.parker.notify_at_once();
    }

    /// The next packet is timed.
    pub fn ask_for_sample(&self) {
        self.slow.fetch_or(slow::SAMPLE, Ordering::Relaxed);
    }

    /// True where only the due sample keeps this packet from the fast path. The sample is taken with it.
    pub fn takes_sample(&self) -> bool {
        self.slow.fetch_and(!slow::SAMPLE, Ordering::Relaxed) == slow::SAMPLE
    }

    /// No packet takes the fast path any more: there is no memory for it ([`memory::is_short`]). Allocates nothing.
    pub fn run_short(&self) {
        self.slow.fetch_or(slow::SHORT, Ordering::SeqCst);
    }

    /// Goes on to a later phase.
    pub fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::SeqCst);
        self.slow.fetch_or(slow::OVER, Ordering::SeqCst);
        self.parker.notify_at_once();
    }

    /// The tracer has failed: from now on it is out of the way.
    pub fn fail(&self) {
        static SAID: AtomicBool = AtomicBool::new(false);
        self.advance(Phase::Failed);
        if !SAID.swap(true, Ordering::Relaxed) {
            log::warn(format_args!("failed and is out of the way; from now on nothing is recorded"));
        }
    }

    /// Why a dispatch that is submitted now is lost, when it is.
    pub fn loss(&self) -> Option<Lost> {
        match self.phase() {
            Phase::Recording => memory::is_short().then_some(Lost::Memory),
            Phase::Ended => Some(Lost::Ended),
            Phase::Failed if memory::is_short() => Some(Lost::Memory),
            Phase::Failed | Phase::Forked => Some(Lost::Failure),
        }
    }

    /// The counters of the packet's kind.
    pub fn counters_of(&self, submission: &Submission) -> &Counters {
        if submission.kernel == KernelId::BARRIER { &self.known.barriers } else { &self.known.counters }
    }

    /// True where signals of the application wait for the collector.
    pub fn is_forwarding(&self) -> bool {
        self.forwards.load(Ordering::Acquire) > 0 || self.copies.forwards.load(Ordering::Acquire) > 0
    }

    /// The signal goes into other hands than those of what we watch or have forwarded.
    pub fn release(&self, signal: u64) {
        self.signal_tracker.release(signal, &*self.runtime);
        self.copies.forget(signal);
    }
}
