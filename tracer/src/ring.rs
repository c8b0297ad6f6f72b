//! A ring between one thread that puts values in and one that takes them out: what a queue's submissions go through.
//!
//! No lock and no read-modify-write: each side owns one counter and looks at the other's only when its last
//! look no longer suffices. Whole values move, so what owns memory (a slot) is owned by one side at a time.

#![expect(unsafe_code, reason = "two threads share memory that holds a value only between the counters")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A counter in a cache line of its own: the two sides do not slow each other down.
#[repr(align(64))]
#[derive(Default)]
struct Counter(AtomicUsize);

struct Ring<T> {
    places: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// How many were ever put in; written by the producer.
    put: Counter,
    /// How many were ever taken out; written by the consumer.
    taken: Counter,
}

// SAFETY: a value is written by the producer before `put` is released past it and read by the consumer after
// acquiring that, and the other way round for `taken`: never by both at once.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let (taken, put) = (*self.taken.0.get_mut(), *self.put.0.get_mut());
        for count in taken..put {
            let place = count & (self.places.len() - 1);
            // SAFETY: between the counters the places hold values, and nobody else is left to take them.
            unsafe { self.places[place].get_mut().assume_init_drop() };
        }
    }
}

/// The side that puts values in.
pub struct Producer<T> {
    ring: Arc<Ring<T>>,
    put: usize,
    /// `taken` when last looked at.
    taken: usize,
}

/// The side that takes values out.
pub struct Consumer<T> {
    ring: Arc<Ring<T>>,
    taken: usize,
    /// `put` when last looked at.
    put: usize,
}

/// A ring of at least `capacity` places.
#[must_use]
pub fn ring<T>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let places = (0..capacity.next_power_of_two()).map(|_| UnsafeCell::new(MaybeUninit::uninit())).collect();
    let ring = Arc::new(Ring { places, put: Counter::default(), taken: Counter::default() });
    (Producer { ring: Arc::clone(&ring), put: 0, taken: 0 }, Consumer { ring, taken: 0, put: 0 })
}

impl<T> Producer<T> {
    /// Puts a value in, or gives it back when there is no place.
    ///
    /// # Errors
    /// The value itself.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), T> {
        let places = &self.ring.places;
        if self.put.wrapping_sub(self.taken) == places.len() {
            self.taken = self.ring.taken.0.load(Ordering::Acquire);
            if self.put.wrapping_sub(self.taken) == places.len() {
                return Err(value);
            }
        }
        let place = places[self.put & (places.len() - 1)].get();
        // SAFETY: the consumer has taken what was here (`taken` was acquired) and looks at it again only after the
        // release below. A `MaybeUninit` needs no dropping.
        unsafe { place.write(MaybeUninit::new(value)) };
        self.put = self.put.wrapping_add(1);
        self.ring.put.0.store(self.put, Ordering::Release);
        Ok(())
    }
}

impl<T> Consumer<T> {
    /// Takes the oldest value out.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.taken == self.put {
            self.put = self.ring.put.0.load(Ordering::Acquire);
            if self.taken == self.put {
                return None;
            }
        }
        let places = &self.ring.places;
        let place = places[self.taken & (places.len() - 1)].get();
        // SAFETY: the producer has written it (`put` was acquired) and writes here again only after the release
        // below, so this is the one time that it is read.
        let value = unsafe { place.cast::<T>().read() };
        self.taken = self.taken.wrapping_add(1);
        self.ring.taken.0.store(self.taken, Ordering::Release);
        Some(value)
    }

    /// Whether there is nothing to take at this moment.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.taken == self.ring.put.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_ring_is_a_queue_of_bounded_length(steps in prop::collection::vec(any::<bool>(), 0..400)) {
            let (mut producer, mut consumer) = ring::<Box<usize>>(8);
            let mut model = VecDeque::new();
            for (number, put) in steps.into_iter().enumerate() {
                if put {
                    let fits = model.len() < 8;
                    prop_assert_eq!(producer.push(Box::new(number)).is_ok(), fits);
                    if fits {
                        model.push_back(number);
                    }
                } else {
                    prop_assert_eq!(consumer.pop().map(|value| *value), model.pop_front());
                }
                prop_assert_eq!(consumer.is_empty(), model.is_empty());
            }
        }
    }

    #[test]
    fn between_two_threads_every_value_arrives_once_and_in_order() {
        for capacity in [1, 2, 64] {
            let (mut producer, mut consumer) = ring::<Box<u32>>(capacity);
            let reader = std::thread::spawn(move || {
                let mut expected = 0_u32;
                while expected < 50_000 {
                    match consumer.pop() {
                        Some(value) => {
                            assert_eq!(*value, expected);
                            expected += 1;
                        }
                        None => std::thread::yield_now(),
                    }
                }
            });
            for number in 0..50_000_u32 {
                let mut value = Box::new(number);
                while let Err(back) = producer.push(value) {
                    value = back;
                    std::thread::yield_now();
                }
            }
            reader.join().unwrap();
        }
    }

    #[test]
    fn what_nobody_took_is_dropped_with_the_ring() {
        let value = Arc::new(());
        let (mut producer, mut consumer) = ring(4);
        for _ in 0..3 {
            producer.push(Arc::clone(&value)).unwrap();
        }
        drop(consumer.pop());
        drop((producer, consumer));
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
