//! Wakes the recorder, even from threads of the application, which hold no channel.

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
    /// Number of requests to bring everything up to date; `answered` is the last one that was met.
    pub requested: AtomicU32,
    pub answered: AtomicU32,
    /// The recorder has ended.
    pub is_done: AtomicBool,
}

impl Wakeup {
    /// True if an answer is outstanding.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Acquire) != self.answered.load(Ordering::Relaxed)
    }
}

/// Makes the recorder act before its time. Takes no lock, so a thread of the application may use it.
#[derive(Clone, Debug)]
pub struct Waker(Arc<Wakeup>);

impl Waker {
    #[must_use]
    pub fn new(wakeup: &Arc<Wakeup>) -> Self {
        Self(Arc::clone(wakeup))
    }

    /// Wakes the recorder. A recorder that is about to fall asleep at this moment may miss it.
    pub fn wake(&self) {
        self.0.is_urgent.store(true, Ordering::Release);
        self.0.has_come.notify_one();
    }

    /// Makes the recorder end as if the sender were gone. It may have to be woken again to notice at once.
    pub fn close(&self) {
        self.0.is_over.store(true, Ordering::Release);
        self.wake();
    }

    #[must_use]
    pub fn is_done(&self) -> bool {
        self.0.is_done.load(Ordering::Acquire)
    }

    /// Requests that the recorder brings everything up to date; returns a number for [`Waker::has_answered`].
    #[must_use]
    pub fn request(&self) -> u32 {
        self.0.requested.fetch_add(1, Ordering::AcqRel).wrapping_add(1)
    }

    /// True if the recorder has answered the request with this number, or a later one.
    #[must_use]
    pub fn has_answered(&self, requested: u32) -> bool {
        self.0.answered.load(Ordering::Acquire).wrapping_sub(requested).cast_signed() >= 0
    }
}

static WAKER: Published<Waker> = Published::new();

/// Publishes the waker of a recorder that begins.
pub fn set(waker: Waker) {
    WAKER.set(waker);
}

/// The waker of the present recorder.
pub fn get() -> Option<&'static Waker> {
    WAKER.get().filter(|waker| !waker.is_done())
}

/// Wakes the recorder, if there is one.
pub fn wake() {
    if let Some(recorder) = get() {
        recorder.wake();
    }
}

/// Called in the child of a fork, which has no recorder. Does not allocate or free.
pub fn forget() {
    WAKER.forget();
}
