//! A lock that nobody waits for, or not for long: whoever finds it taken goes another way.
//!
//! What a `Mutex` adds to this, a queue of waiters and poisoning, is a tenth of what a submission may cost.

#![expect(unsafe_code, reason = "the flag says who may use the value")]

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The value of a `Mutex`, also where a thread that had it has panicked.
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How often another thread is let go first: with nothing else to run that takes a quarter of a millisecond.
const TURNS: usize = 1000;

/// A value that one thread at a time may use.
#[derive(Default)]
pub struct Latch<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: whoever has set `taken` is the only one who uses the value, until it is released.
unsafe impl<T: Send> Sync for Latch<T> {}

impl<T> Latch<T> {
    /// A latch that is open.
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// The value, unless someone else is using it at this moment.
    #[inline]
    pub fn enter(&self) -> Option<Inside<'_, T>> {
        (!self.taken.swap(true, Ordering::Acquire)).then(|| Inside(self))
    }

    /// The value, unless someone else goes on using it while all others have had their turns.
    #[cold]
    pub fn enter_soon(&self) -> Option<Inside<'_, T>> {
        (0..TURNS).find_map(|_| {
            std::thread::yield_now();
            self.enter()
        })
    }
}

/// The right to use the value, until it is dropped.
pub struct Inside<'a, T>(&'a Latch<T>);

impl<T> Deref for Inside<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this is the only `Inside` of its latch.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Inside<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this is the only `Inside` of its latch, and it is borrowed mutably.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Inside<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.taken.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_then_the_next() {
        let latch = Latch::new(1);
        let mut inside = latch.enter().unwrap();
        *inside += 1;
        assert!(latch.enter().is_none());
        assert!(latch.enter().is_none(), "being turned away changes nothing");
        drop(inside);
        assert_eq!(*latch.enter().unwrap(), 2);
    }

    #[test]
    fn whoever_waits_for_it_gets_it_soon_or_not_at_all() {
        let latch = Latch::new(1);
        let inside = latch.enter();
        assert!(latch.enter_soon().is_none(), "it is never given back");
        drop(inside);
        assert_eq!(latch.enter_soon().map(|inside| *inside), Some(1));
    }

    #[test]
    fn a_panic_inside_opens_it_again() {
        let latch = Latch::new(1);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _inside = latch.enter();
            std::panic::resume_unwind(Box::new("as if by accident"));
        }));
        assert!(panicked.is_err() && latch.enter().is_some());
    }

    #[test]
    fn threads_that_meet_do_not_get_in_each_others_way() {
        let latch = Latch::new(0_u64);
        let work = || {
            let mut done = 0;
            while done < 10_000 {
                if let Some(mut inside) = latch.enter() {
                    *inside += 1;
                    done += 1;
                }
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(work);
            scope.spawn(work);
        });
        assert_eq!(*latch.enter().unwrap(), 20_000);
    }
}
