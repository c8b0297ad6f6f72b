//! Waiting for the recorder until it has delivered everything that had completed, and telling it that this was all.
//!
//! What has completed is noticed by the collector, handed over in batches, and delivered by the recorder. None of the two
//! is asked to hurry but by the bells that they have anyway, and who waits looks from time to time.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::record::Known;
use crate::{recording, tracer};

/// Passes of the collector after which it has handed on everything that had completed: one may have been under way.
const PASSES: u64 = 2;

/// How long who waits sleeps between two looks.
const DOZE: Duration = Duration::from_micros(500);

/// Flushes that were asked for.
static ASKED: AtomicU64 = AtomicU64::new(0);

/// Those that were answered.
static ANSWERED: AtomicU64 = AtomicU64::new(0);

/// Recorders that run.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Whether callbacks are no longer called.
static IS_STOPPED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Held by a recorder as long as it may deliver anything.
#[derive(Debug)]
pub struct Running(());

impl Running {
    /// A recorder begins.
    #[must_use]
    pub fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // In the child of a fork none is counted any more.
        let _ = RUNNING.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |running| running.checked_sub(1));
    }
}

/// In the child of a fork: no recorder runs.
pub fn forget() {
    RUNNING.store(0, Ordering::SeqCst);
    IS_STOPPED.store(false, Ordering::SeqCst);
    IS_CALLBACK.set(false);
}

/// Calls a function that gets records; what it asks for is not waited for.
pub fn within_callback(call: impl FnOnce()) {
    IS_CALLBACK.set(true);
    call();
    IS_CALLBACK.set(false);
}

/// Whether the calling thread is in a callback.
pub fn is_callback() -> bool {
    IS_CALLBACK.get()
}

/// Waits until everything that has completed is delivered; false when it is not by then.
pub fn wait(deadline: Instant) -> bool {
    let number = ASKED.fetch_add(1, Ordering::SeqCst) + 1;
    until(deadline, || {
        if ANSWERED.load(Ordering::SeqCst) >= number || RUNNING.load(Ordering::SeqCst) == 0 {
            return true;
        }
        if let Some(tracer) = tracer::get() {
            tracer.shared().bell.ring();
        }
        recording::nudge();
        false
    })
}

/// No callback is called any more; one may be running, for which [`wait`] waits.
pub fn stop() {
    IS_STOPPED.store(true, Ordering::SeqCst);
}

/// Whether callbacks are no longer called.
pub fn is_stopped() -> bool {
    IS_STOPPED.load(Ordering::SeqCst)
}

fn until(deadline: Instant, mut is_done: impl FnMut() -> bool) -> bool {
    while !is_done() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(DOZE);
    }
    true
}

/// How far the recorder is with the flushes that it has seen.
#[derive(Debug, Default)]
pub struct Flushes {
    step: Option<(Step, u64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// The collector takes note of what has completed; it had made so many passes.
    Collecting(u64),
    /// It shows what it had not shown yet, because the recorder had not taken what it was shown before.
    Showing(u64),
    /// The recorder delivers it.
    Delivering,
}

impl Flushes {
    /// Called when the recorder has delivered everything that it was shown.
    pub fn look(&mut self, known: &Known) {
        let asked = ASKED.load(Ordering::SeqCst);
        if self.step.is_some() || asked > ANSWERED.load(Ordering::SeqCst) {
            self.heed(asked, known);
        }
    }

    fn heed(&mut self, asked: u64, known: &Known) {
        let passes = known.passes.load(Ordering::Acquire);
        self.step = match self.step {
            None => Some((Step::Collecting(passes), asked)),
            Some((Step::Delivering, number)) => answer(number),
            Some((_, number)) if known.are_none_on_the_way() => answer(number),
            Some((Step::Collecting(before), number)) if passes >= before + PASSES => {
                Some((Step::Showing(passes), number))
            }
            Some((Step::Showing(before), number)) if passes >= before + PASSES => {
                Some((Step::Delivering, number))
            }
            same => same,
        };
    }
}

fn answer(number: u64) -> Option<(Step, u64)> {
    ANSWERED.fetch_max(number, Ordering::SeqCst);
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a flush that is asked for now is answered at this look.
    fn is_answered(flushes: &mut Flushes, known: &Known) -> bool {
        flushes.heed(7, known);
        flushes.step.is_none()
    }

    #[test]
    fn without_anything_on_its_way_the_second_look_answers() {
        let (mut flushes, known) = (Flushes::default(), Known::default());
        assert!(!is_answered(&mut flushes, &known), "ranges may have come since they were read");
        assert!(is_answered(&mut flushes, &known));
    }

    #[test]
    fn a_kernel_that_runs_on_does_not_keep_a_flush_from_being_answered() {
        let (mut flushes, known) = (Flushes::default(), Known::default());
        known.counters.see(1);
        assert!(!is_answered(&mut flushes, &known));
        for step in ["collected", "shown"] {
            assert!(!is_answered(&mut flushes, &known), "not {step}");
            known.passes.fetch_add(1, Ordering::Relaxed);
            assert!(!is_answered(&mut flushes, &known), "perhaps under way when it was to be {step}");
            known.passes.fetch_add(1, Ordering::Relaxed);
            assert!(!is_answered(&mut flushes, &known), "{step} and not delivered");
        }
        assert!(is_answered(&mut flushes, &known));
    }

    #[test]
    fn what_completes_is_delivered_before_the_answer() {
        let (mut flushes, known) = (Flushes::default(), Known::default());
        known.copies.see(1);
        assert!(!is_answered(&mut flushes, &known) && !is_answered(&mut flushes, &known));
        known.copies.record(1);
        assert!(is_answered(&mut flushes, &known));
    }
}
