//! Wakes the recorder, also from threads of the application, which hold no channel.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar};

use crate::base::published::Published;

#[derive(Debug, Default)]
pub struct Wakeup {
    pub has_come: Condvar,
    /// The recorder is to look at once.
    pub is_urgent: AtomicBool,
    /// The recorder is to end, with or without a sender.
    pub is_over: AtomicBool,
    /// How often it was asked to bring everything up to date, and the last of these times that it has done so.
    pub asked: AtomicU32,
    /// See `asked`.
    pub answered: AtomicU32,
    /// The recorder has ended.
    pub is_done: AtomicBool,
}

impl Wakeup {
    /// True where an answer is outstanding.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire) != self.answered.load(Ordering::Relaxed)
    }
}

/// Has the recorder do something before its time. Takes no lock, so a thread of the application may use it.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Wakeup>);

impl Waker {
    #[must_use]
    pub fn new(wakeup: &Arc<Wakeup>) -> Self {
        Self(Arc::clone(wakeup))
    }

    /// Wakes the recorder. One that is about to fall asleep at this moment may miss it.
    pub fn give(&self) {
        self.0.is_urgent.store(true, Ordering::Release);
        self.0.has_come.notify_one();
    }

    /// From now on the recorder ends as if the sender were gone; it may need to be told again to hear it at once.
    pub fn close(&self) {
        self.0.is_over.store(true, Ordering::Release);
        self.give();
    }

    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0.is_done.load(Ordering::Acquire)
    }

    /// Asks the recorder to bring everything up to date; a number for [`Waker::has_answered`].
    #[must_use]
    pub fn ask(&self) -> u32 {
        self.0.asked.fetch_add(1, Ordering::AcqRel).wrapping_add(1)
    }

    /// True where the recorder has answered the request with this number, or a later one.
    #[must_use]
    pub fn has_answered(&self, asked: u32) -> bool {
        self.0.answered.load(Ordering::Acquire).wrapping_sub(asked).cast_signed() >= 0
    }
}

static WAKER: Published<Waker> = Published::new();

/// A recorder begins, which this wakes.
pub fn set(waker: Waker) {
    WAKER.set(waker);
}

/// The waker of the present recorder.
pub fn get() -> Option<&'static Waker> {
    WAKER.get().filter(|waker| !waker.is_done())
}

/// Has the recorder look before its time.
pub fn wake() {
    if let Some(recorder) = get() {
        recorder.give();
    }
}

/// In the child of a fork: there is no recorder. Allocates and frees nothing.
pub fn forget() {
    WAKER.forget();
}
