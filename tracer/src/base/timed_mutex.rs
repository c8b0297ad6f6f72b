//! A mutex that is waited for only for a limited time. It keeps a part of the runtime that is not thread-safe to one thread at a
//! time.
//!
//! From ROCm 6.1 on (7.2 too) the runtime adds each new queue to a list of its GPU without a lock (`GpuAgent::QueueCreate`,
//! `aql_queues_`), and two threads that make the list grow free its memory twice. A program that does so may crash without the
//! tracer as well, but seldom, and the tracer must not make it likely. The wait is short compared with the milliseconds that a
//! queue takes.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::base::try_lock::lock;

/// Limit on the wait of `take`: if the runtime hangs in one thread, or calls back into the tracer, the tracer must not hang
/// others.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct TimedMutex {
    taken: Mutex<bool>,
    free: Condvar,
}

#[derive(Debug)]
pub struct TimedMutexGuard<'a>(Option<&'a TimedMutex>);

impl TimedMutex {
    /// Locks the mutex, or gives up after a second.
    pub fn take(&self) -> TimedMutexGuard<'_> {
        self.take_within(PATIENCE)
    }

    fn take_within(&self, patience: Duration) -> TimedMutexGuard<'_> {
        let waited = self.free.wait_timeout_while(lock(&self.taken), patience, |taken| *taken);
        let (mut taken, waited) = waited.unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            return TimedMutexGuard(None);
        }
        *taken = true;
        TimedMutexGuard(Some(self))
    }
}

impl Drop for TimedMutexGuard<'_> {
    fn drop(&mut self) {
        if let Some(mutex) = self.0 {
            *lock(&mutex.taken) = false;
            mutex.free.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    const ROUNDS: u32 = if cfg!(miri) { 30 } else { 1_000 };

    #[test]
    fn two_threads_are_never_inside_at_once() {
        let (mutex, inside) = (TimedMutex::default(), AtomicU32::new(0));
        let work = || {
            for _ in 0..ROUNDS {
                let _turn = mutex.take_within(Duration::from_secs(3600));
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                std::thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
            scope.spawn(work);
        });
    }

    #[test]
    fn who_has_no_patience_left_goes_without_a_turn_and_takes_none_away() {
        let mutex = TimedMutex::default();
        let first = mutex.take();
        assert!(mutex.take_within(Duration::ZERO).0.is_none());
        assert!(mutex.take_within(Duration::ZERO).0.is_none(), "it is still the first one's");
        drop(first);
        assert!(mutex.take().0.is_some());
    }
}
