//! A lock with little or no waiting: a caller that finds it taken goes another way.
//!
//! The additions of a `Mutex`, a queue of waiters and poisoning, would cost a tenth of a submission.

#![expect(unsafe_code, reason = "the flag says who may use the value")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Locks a `Mutex` even if a thread that held it has panicked.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Attempts after which only the thread yields: with nothing else to run they take a quarter of a millisecond.
const YIELDS: usize = 1000;

/// The sleep between later attempts, up to `PATIENCE`: the holder of the lock may be without a core for many turns of the
/// scheduler.
const REST: Duration = Duration::from_micros(50);
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct TryLock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: only the thread that has set `taken` uses the value, until it resets it.
unsafe impl<T: Send> Sync for TryLock<T> {}

impl<T> TryLock<T> {
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Fails at once if another thread holds the lock.
    #[inline]
    pub fn enter(&self) -> Option<TryLockGuard<'_, T>> {
        (!self.taken.swap(true, Ordering::Acquire)).then(|| TryLockGuard(self))
    }

    /// Tries for a second. Fails earlier when `waits` says that waiting is of no use any more.
    #[cold]
    pub fn enter_soon(&self, mut waits: impl FnMut() -> bool) -> Option<TryLockGuard<'_, T>> {
        for _ in 0..YIELDS {
            std::thread::yield_now();
            if let Some(guard) = self.enter() {
                return Some(guard);
            }
        }
        let begun = Instant::now();
        while waits() && begun.elapsed() < PATIENCE {
            std::thread::sleep(REST);
            if let Some(guard) = self.enter() {
                return Some(guard);
            }
        }
        None
    }
}

pub struct TryLockGuard<'a, T>(&'a TryLock<T>);

impl<T> Deref for TryLockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the only guard of its lock.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for TryLockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only guard of its lock, and it is borrowed mutably.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for TryLockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    const ROUNDS: u64 = if cfg!(miri) { 100 } else { 10_000 };

    #[test]
    fn one_at_a_time_and_then_the_next() {
        let lock = TryLock::new(1);
        let mut inside = lock.enter().unwrap();
        *inside += 1;
        assert!(lock.enter().is_none());
        assert!(lock.enter().is_none(), "being turned away changes nothing");
        drop(inside);
        assert_eq!(*lock.enter().unwrap(), 2);
    }

    #[test]
    fn a_thread_that_waits_for_it_gets_it_soon_or_not_at_all() {
        let lock = TryLock::new(1);
        let inside = lock.enter();
        assert!(lock.enter_soon(|| true).is_none(), "it is never given back");
        assert!(lock.enter_soon(|| false).is_none(), "there is no use in waiting");
        drop(inside);
        assert_eq!(lock.enter_soon(|| false).map(|inside| *inside), Some(1));
    }

    #[test]
    fn a_thread_that_has_it_and_gets_no_core_for_a_while_is_waited_for() {
        let lock = TryLock::new(1);
        let held = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut inside = lock.enter().unwrap();
                held.wait();
                std::thread::sleep(Duration::from_millis(50));
                *inside += 1;
            });
            held.wait();
            assert_eq!(lock.enter_soon(|| true).map(|inside| *inside), Some(2));
        });
    }

    #[test]
    fn a_panic_inside_opens_it_again() {
        let lock = TryLock::new(1);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _inside = lock.enter();
            std::panic::resume_unwind(Box::new("as if by accident"));
        }));
        assert!(panicked.is_err() && lock.enter().is_some());
    }

    #[test]
    fn threads_that_meet_do_not_get_in_each_others_way() {
        let lock = TryLock::new(0_u64);
        let work = || {
            let mut done = 0;
            while done < ROUNDS {
                if let Some(mut inside) = lock.enter() {
                    *inside += 1;
                    done += 1;
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
        });
        assert_eq!(*lock.enter().unwrap(), 2 * ROUNDS);
    }
}
