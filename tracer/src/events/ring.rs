//! A ring between one thread that puts values in and one that takes them out: what a queue's submissions go through.
//!
//! No lock and no read-modify-write: each side owns one counter and looks at the other's only when its last
//! look no longer suffices. Whole values move, so what owns memory (a slot) is owned by one side at a time.

#![expect(unsafe_code, reason = "two threads share memory that holds a value only between the counters")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};

/// A counter in a cache line of its own: the two sides do not slow each other down.
#[repr(align(64))]
#[derive(Default)]
struct Counter(AtomicUsize);

struct Ring<T, const N: usize> {
    places: Box<[UnsafeCell<MaybeUninit<T>>; N]>,
    /// How many were ever put in; written by the producer.
    put: Counter,
    /// How many were ever taken out; written by the consumer.
    taken: Counter,
}

// SAFETY: a value is written by the producer before `put` is released past it and read by the consumer after
// acquiring that, and the other way round for `taken`: never by both at once.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

impl<T, const N: usize> Drop for Ring<T, N> {
    fn drop(&mut self) {
        let (taken, put) = (*self.taken.0.get_mut(), *self.put.0.get_mut());
        for count in taken..put {
            let place = count % N;
            // SAFETY: between the counters the places hold values, and nobody else is left to take them.
            unsafe { self.places[place].get_mut().assume_init_drop() };
        }
    }
}

/// The side that puts values in.
pub struct Producer<T, const N: usize> {
    ring: Arc<Ring<T, N>>,
    put: usize,
    /// `taken` when last looked at.
    taken: usize,
}

/// The side that takes values out.
pub struct Consumer<T, const N: usize> {
    ring: Arc<Ring<T, N>>,
    taken: usize,
    /// `put` when last looked at.
    put: usize,
}

/// A ring of `N` places, a power of two.
#[must_use]
pub fn ring<T, const N: usize>() -> (Producer<T, N>, Consumer<T, N>) {
    const { assert!(N.is_power_of_two()) };
    let places = Box::<[UnsafeCell<MaybeUninit<T>>; N]>::new_uninit();
    // SAFETY: every place may hold anything while it is outside of the counters. Memory that no value came to yet is
    // never touched, so a queue that is hardly used costs hardly anything.
    let places = unsafe { places.assume_init() };
    let ring = Arc::new(Ring { places, put: Counter::default(), taken: Counter::default() });
    (Producer { ring: Arc::clone(&ring), put: 0, taken: 0 }, Consumer { ring, taken: 0, put: 0 })
}

impl<T, const N: usize> Producer<T, N> {
    /// Whether this many values can be put in before anything is taken out again.
    #[inline]
    pub fn has_room(&mut self, values: usize) -> bool {
        if N - self.put.wrapping_sub(self.taken) < values {
            self.taken = self.ring.taken.0.load(Ordering::Acquire);
        }
        N - self.put.wrapping_sub(self.taken) >= values
    }

    /// How many values wait to be taken out at this moment.
    pub fn waiting(&mut self) -> usize {
        self.taken = self.ring.taken.0.load(Ordering::Acquire);
        self.put.wrapping_sub(self.taken)
    }

    /// Puts a value in, or gives it back when there is no place.
    ///
    /// # Errors
    /// The value itself.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), T> {
        if self.put.wrapping_sub(self.taken) == N {
            self.taken = self.ring.taken.0.load(Ordering::Acquire);
            if self.put.wrapping_sub(self.taken) == N {
                return Err(value);
            }
        }
        let place = self.ring.places[self.put % N].get();
        // SAFETY: the consumer has taken what was here (`taken` was acquired) and looks at it again only after the
        // release below. A `MaybeUninit` needs no dropping.
        unsafe { place.write(MaybeUninit::new(value)) };
        self.put = self.put.wrapping_add(1);
        self.ring.put.0.store(self.put, Ordering::Release);
        Ok(())
    }
}

impl<T, const N: usize> Consumer<T, N> {
    /// Takes the oldest value out.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.taken == self.put {
            self.put = self.ring.put.0.load(Ordering::Acquire);
            if self.taken == self.put {
                return None;
            }
        }
        let place = self.ring.places[self.taken % N].get();
        // SAFETY: the producer has written it (`put` was acquired) and writes here again only after the release
        // below, so this is the one time that it is read.
        let value = unsafe { place.cast::<T>().read() };
        self.taken = self.taken.wrapping_add(1);
        self.ring.taken.0.store(self.taken, Ordering::Release);
        Some(value)
    }

    /// Whether nothing more will ever be put in: the producer is gone. What is in the ring by then can still be taken.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        let is_alone = Arc::strong_count(&self.ring) == 1;
        // What the producer did before it went is visible after this.
        fence(Ordering::Acquire);
        is_alone
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
            let (mut producer, mut consumer) = ring::<Box<usize>, 8>();
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

    /// A thread that takes 50,000 values out while this one puts them in.
    fn rush_through<const N: usize>() {
        let (mut producer, mut consumer) = ring::<Box<u32>, N>();
        let reader = std::thread::spawn(move || {
            let mut expected = 0;
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
        for number in 0..50_000 {
            let mut value = Box::new(number);
            while let Err(back) = producer.push(value) {
                value = back;
                std::thread::yield_now();
            }
        }
        reader.join().unwrap();
    }

    #[test]
    fn between_two_threads_every_value_arrives_once_and_in_order() {
        rush_through::<1>();
        rush_through::<2>();
        rush_through::<64>();
    }

    #[test]
    fn room_and_what_waits_add_up_and_an_abandoned_ring_still_has_its_values() {
        let (mut producer, mut consumer) = ring::<_, 4>();
        producer.push(1).unwrap();
        assert!(producer.has_room(3) && !producer.has_room(4));
        assert_eq!(consumer.pop(), Some(1));
        assert!(producer.has_room(4));
        producer.push(2).unwrap();
        assert_eq!(producer.waiting(), 1);
        assert!(!consumer.is_abandoned());
        drop(producer);
        assert!(consumer.is_abandoned());
        assert_eq!((consumer.pop(), consumer.pop()), (Some(2), None));
    }

    #[test]
    fn what_nobody_took_is_dropped_with_the_ring() {
        let value = Arc::new(());
        let (mut producer, mut consumer) = ring::<_, 4>();
        for _ in 0..3 {
            producer.push(Arc::clone(&value)).unwrap();
        }
        drop(consumer.pop());
        drop((producer, consumer));
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
