//! Completions of copies that the tracer forwards to the application's signals, and their times.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::try_lock::lock;

/// Times of copies that carried a signal of ours: the runtime has none for the application's signal.
#[derive(Debug, Default)]
pub struct ForwardedCopies {
    /// Copies whose completion is still to be forwarded.
    pub forwards: AtomicUsize,
    /// Times in ns of the last copy that was forwarded to a signal, by its handle.
    times: Mutex<HashMap<u64, (i64, i64)>>,
    /// Number of entries, for a check without the lock.
    count: AtomicUsize,
}

impl ForwardedCopies {
    /// Stores the times of a copy that is about to be forwarded to this signal.
    pub fn keep(&self, signal: u64, times: (i64, i64)) {
        let mut all = lock(&self.times);
        all.insert(signal, times);
        self.count.store(all.len(), Ordering::Release);
    }

    /// Called when the signal is used for something else, or destroyed.
    pub fn forget(&self, signal: u64) {
        if self.count.load(Ordering::Acquire) > 0 {
            let mut all = lock(&self.times);
            all.remove(&signal);
            self.count.store(all.len(), Ordering::Release);
        }
    }

    /// Times of the copy that completed last with this signal, if it was forwarded.
    #[must_use]
    pub fn times(&self, signal: u64) -> Option<(i64, i64)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        lock(&self.times).get(&signal).copied()
    }
}
