//! A lock without waiting, or with little: a caller that finds it taken takes another path.
//!
//! What a `Mutex` adds to this, a queue of waiters and poisoning, is a tenth of what a submission may cost.

#![expect(unsafe_code, reason = "the flag says who may use the value")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The value of a `Mutex`, also where a thread that had it has panicked.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often another thread is let go first: with nothing else to run that takes a quarter of a millisecond.
const YIELDS: usize = 1000;

/// Then the caller sleeps this long between its attempts, and for so long in all: the thread that has the lock may be
/// without a core for many turns of the scheduler.
const REST: Duration = Duration::from_micros(50);
const PATIENCE: Duration = Duration::from_secs(1);

/// A value that one thread at a time may use.
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

    /// The value, unless someone else is using it at this moment.
    #[inline]
    pub fn enter(&self) -> Option<TryLockGuard<'_, T>> {
        (!self.taken.swap(true, Ordering::Acquire)).then(|| TryLockGuard(self))
    }

    /// The value, unless another thread goes on using it for a second. `None` at once when `waits` says that there is no use
    /// in waiting any more.
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

/// The right to use the value, until it is dropped.
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
