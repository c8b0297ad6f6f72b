//! A value that any thread may read at any time without a lock, because it is never freed.

#![expect(unsafe_code, reason = "a pointer that is read by threads of the application at any time")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

#[derive(Debug)]
pub struct Published<T>(AtomicPtr<T>);

impl<T: Sync> Published<T> {
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline]
    pub fn get(&self) -> Option<&'static T> {
        // SAFETY: the pointer is null, or a value of `set` or `set_first`, which is never freed.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Replaces the value. The former one stays in memory, because a thread may still read it.
    pub fn set(&self, value: T) -> &'static T {
        let value = Box::leak(Box::new(value));
        self.0.store(value, Ordering::Release);
        value
    }

    /// Sets the value if there is none.
    ///
    /// # Errors
    /// The value that another thread has set.
    pub fn set_first(&self, value: T) -> Result<&'static T, &'static T> {
        let new = Box::into_raw(Box::new(value));
        match self.0.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: the value was made above and is never freed.
            Ok(_) => Ok(unsafe { &*new }),
            Err(there) => {
                // SAFETY: no other thread has seen the value.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: a value that another thread has set is never freed.
                Err(unsafe { &*there })
            }
        }
    }

    /// Called in the child of a fork: removes the value and tells whether there was one. Does not allocate or free.
    pub fn forget(&self) -> bool {
        !self.0.swap(ptr::null_mut(), Ordering::AcqRel).is_null()
    }
}

impl<T: Sync> Default for Published<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_stays_until_another_one_is_set() {
        let place = Published::new();
        assert_eq!((place.get(), place.set_first(3)), (None, Ok(&3)));
        assert_eq!((place.set_first(4), place.get()), (Err(&3), Some(&3)));
        assert_eq!((place.set(5), place.get()), (&5, Some(&5)));
        assert_eq!((place.forget(), place.get(), place.forget()), (true, None, false));
    }

    #[test]
    fn threads_that_meet_agree_on_one_value() {
        let place = Published::new();
        let values: Vec<u64> = std::thread::scope(|scope| {
            let put = |value| place.set_first(value).unwrap_or_else(|there| there);
            let threads: Vec<_> = (0..4).map(|value| scope.spawn(move || *put(value))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(values.iter().all(|value| Some(value) == place.get()), "{values:?}");
    }
}
