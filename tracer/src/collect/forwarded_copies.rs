//! Completions of copies that the tracer forwards to the application's signals, and their times.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::try_lock::lock;

/// The times of copies that carried a signal of ours: the runtime does not know them for the application's signal.
#[derive(Debug, Default)]
pub struct ForwardedCopies {
    /// Copies whose completion is still to be forwarded.
    pub forwards: AtomicUsize,
    /// When the last copy ran that was forwarded to a signal, by its handle.
    times: Mutex<HashMap<u64, (i64, i64)>>,
    /// The number of entries, for a check without the lock.
    count: AtomicUsize,
}

impl ForwardedCopies {
    /// A copy that ran then is about to be forwarded to this signal.
    pub fn keep(&self, signal: u64, times: (i64, i64)) {
        let mut all = lock(&self.times);
        all.insert(signal, times);
        self.count.store(all.len(), Ordering::Release);
    }

    /// The signal is used for something else, or destroyed.
    pub fn forget(&self, signal: u64) {
        if self.count.load(Ordering::Acquire) > 0 {
            let mut all = lock(&self.times);
            all.remove(&signal);
            self.count.store(all.len(), Ordering::Release);
        }
    }

    /// When the copy ran that completed last with this signal, if that was forwarded.
    #[must_use]
    pub fn times(&self, signal: u64) -> Option<(i64, i64)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        lock(&self.times).get(&signal).copied()
    }
}
