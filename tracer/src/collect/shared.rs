//! The state that all threads of the tracer share with the application's threads in its hooks.

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

/// The phase of the recording, which only advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Phase {
    Recording,
    /// The process or the runtime ends: packets are passed on unchanged.
    Ended,
    /// The tracer failed and has disabled itself: packets are passed on unchanged.
    Failed,
    /// This is a forked child, which owns nothing of the recording.
    Forked,
}

/// The reasons why packets may not take the fast path.
mod slow {
    /// Each packet is printed, or the clock is read for it.
    pub(super) const ALWAYS: u8 = 1;
    /// Recording is paused.
    pub(super) const PAUSED: u8 = 2;
    /// The recording has ended.
    pub(super) const OVER: u8 = 4;
    /// The next packet is timed.
    pub(super) const SAMPLE: u8 = 8;
    /// There is no memory for packets that are submitted now.
    pub(super) const SHORT: u8 = 16;
}

pub struct Shared<R> {
    phase: AtomicU8,
    /// Bits of [`slow`]: the reasons why packets may not take the fast path.
    slow: AtomicU8,
    ending: AtomicBool,
    /// True if each packet is printed on standard error (RTL_DEBUG=2).
    pub prints_packets: bool,
    pub mode: Mode,
    /// A batch of more packets than this that is not in the queue's own ring is passed on unchanged
    /// ([`crate::intercept::staging`]).
    pub largest_staged: u64,
    /// Kernels, queues and counters, which the recorder shares.
    pub known: Arc<RecorderState>,
    pub names: Names<R>,
    /// The application's signals that are watched.
    pub signal_tracker: SignalTracker,
    /// Decrements that the application's signals wait for, without those of copies.
    pub forwards: AtomicUsize,
    pub copies: ForwardedCopies,
    pub records_barriers: bool,
    /// True if the time at which an op is enqueued is recorded.
    times_submissions: bool,
    pub pool: Pool,
    /// True if the collector makes slots ahead of need. It must not once the runtime may be about to end, because all signals
    /// have to be given back to the runtime by then.
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
            prints_packets: false,
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

    /// Ends the recording, and the collector's thread, in any phase.
    pub fn end(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.advance(Phase::Ended);
    }

    /// True if the collector's thread is to end.
    pub fn is_ending(&self) -> bool {
        self.ending.load(Ordering::SeqCst)
    }

    /// Prints each packet from now on.
    pub fn print_packets(&mut self) {
        self.prints_packets = true;
        self.slow.fetch_or(slow::ALWAYS, Ordering::SeqCst);
    }

    /// Records the time at which each op is enqueued. No packet takes the fast path then, which reads no clock.
    pub fn time_submissions(&mut self) {
        self.times_submissions = true;
        self.slow.fetch_or(slow::ALWAYS, Ordering::SeqCst);
    }

    /// The time of an op that is enqueued now, in ns of CLOCK_BOOTTIME; 0 where that is not recorded.
    pub fn moment_of_submission(&self) -> i64 {
        if self.times_submissions { clock::now() } else { 0 }
    }

    /// True if a packet of the usual kind may take the fast path.
    #[inline]
    pub fn is_usual(&self) -> bool {
        self.slow.load(Ordering::Relaxed) == 0
    }

    /// Starts or stops leaving out dispatches; while they are left out, no packet takes the fast path.
    pub fn pause(&self, is_paused: bool) {
        if is_paused {
            self.slow.fetch_or(slow::PAUSED, Ordering::SeqCst);
        } else {
            self.slow.fetch_and(!slow::PAUSED, Ordering::SeqCst);
        }
        self.parker.notify_at_once();
    }

    /// Requests that the next packet is timed.
    pub fn request_sample(&self) {
        self.slow.fetch_or(slow::SAMPLE, Ordering::Relaxed);
    }

    /// True if only the due sample keeps this packet from the fast path. The sample is taken by this call.
    pub fn takes_sample(&self) -> bool {
        self.slow.fetch_and(!slow::SAMPLE, Ordering::Relaxed) == slow::SAMPLE
    }

    /// Called when there is no memory for the fast path ([`memory::is_short`]). Allocates nothing.
    pub fn run_short(&self) {
        self.slow.fetch_or(slow::SHORT, Ordering::SeqCst);
    }

    /// Goes on to a later phase.
    pub fn advance(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::SeqCst);
        self.slow.fetch_or(slow::OVER, Ordering::SeqCst);
        self.parker.notify_at_once();
    }

    /// Disables the tracer after a failure.
    pub fn fail(&self) {
        static SAID: AtomicBool = AtomicBool::new(false);
        self.advance(Phase::Failed);
        if !SAID.swap(true, Ordering::Relaxed) {
            log::warn(format_args!("failed and is out of the way; from now on nothing is recorded"));
        }
    }

    /// The reason why a dispatch that is submitted now is lost, if it is.
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

    /// True if signals of the application wait for the collector.
    pub fn is_forwarding(&self) -> bool {
        self.forwards.load(Ordering::Acquire) > 0 || self.copies.forwards.load(Ordering::Acquire) > 0
    }

    /// Called before the signal is used for something that is not watched or forwarded.
    pub fn release(&self, signal: u64) {
        self.signal_tracker.release(signal, &*self.runtime);
        self.copies.forget(signal);
    }
}
