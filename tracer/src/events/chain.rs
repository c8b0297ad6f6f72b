//! A queue between one thread that puts values in and one that takes them out, whose memory follows the values in it.
//!
//! Its pieces go round: the consumer gives an emptied piece back, the producer uses it again. Putting in makes no piece:
//! a caller that brings more values into circulation [reserves](Producer::reserve) the pieces for them before. Memory that a
//! queue once needed is freed by [`Producer::trim`].

#![expect(unsafe_code, reason = "two threads share memory that holds a value only below the mark")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};

/// Values of a piece.
pub const PLACES: usize = 64;

/// Pieces beyond those that are full: the one that is read, the one that is written, and the one after it.
const MORE: usize = 3;

#[repr(C, align(64))]
struct Piece<T> {
    /// How many places hold values or held them; written by the producer.
    filled: AtomicUsize,
    /// The piece behind this one; written by the producer.
    next: AtomicPtr<Piece<T>>,
    /// The spare piece below this one.
    below: AtomicPtr<Piece<T>>,
    places: [UnsafeCell<MaybeUninit<T>>; PLACES],
}

impl<T> Piece<T> {
    /// The place with this number, which is below [`PLACES`].
    #[inline]
    fn place(&self, number: usize) -> *mut T {
        debug_assert!(number < PLACES);
        // SAFETY: both sides go on to the next piece before their count is beyond the places.
        let place = unsafe { self.places.get_unchecked(number) };
        place.get().cast()
    }
}

struct Shared<T> {
    /// Pieces that neither side uses, the last one first. The producer takes all of them at once.
    spare: AtomicPtr<Piece<T>>,
    /// All pieces that there are.
    pieces: AtomicUsize,
    /// Where the consumer was when it was dropped.
    rest: AtomicPtr<Piece<T>>,
    taken: AtomicUsize,
}

// SAFETY: a place is written by the producer before `filled` is released past it and read once by the consumer after
// it was acquired. A piece is used again only after the consumer has released it to `spare`.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A piece more; null where there is no memory.
    fn make(&self) -> *mut Piece<T> {
        // SAFETY: a piece has a size. Zeros are an empty piece with none behind it.
        let piece = unsafe { alloc_zeroed(Layout::new::<Piece<T>>()) }.cast::<Piece<T>>();
        if !piece.is_null() {
            self.pieces.fetch_add(1, Ordering::Relaxed);
        }
        piece
    }

    /// # Safety
    /// The piece is from [`Self::make`], holds no value, and no other thread uses it.
    unsafe fn free(&self, piece: *mut Piece<T>) {
        self.pieces.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: as the caller promised; `make` allocated it with this layout.
        unsafe { dealloc(piece.cast(), Layout::new::<Piece<T>>()) };
    }

    /// # Safety
    /// As for [`Self::free`].
    unsafe fn give_back(&self, piece: *mut Piece<T>) {
        let mut below = self.spare.load(Ordering::Relaxed);
        loop {
            // SAFETY: as the caller promised.
            unsafe { &*piece }.below.store(below, Ordering::Relaxed);
            // Nobody takes a single piece out, so one that is still the first was never gone.
            match self.spare.compare_exchange_weak(below, piece, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => below = other,
            }
        }
    }

    fn reserve(&self, values: usize) -> bool {
        let wanted = values.div_ceil(PLACES) + MORE;
        while self.pieces.load(Ordering::Relaxed) < wanted {
            let piece = self.make();
            if piece.is_null() {
                return false;
            }
            // SAFETY: it is new.
            unsafe { self.give_back(piece) };
        }
        true
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let (mut at, mut taken) = (*self.rest.get_mut(), *self.taken.get_mut());
        while !at.is_null() {
            // SAFETY: neither side is left, and it is freed below only.
            let piece = unsafe { &*at };
            for number in taken..piece.filled.load(Ordering::Relaxed) {
                // SAFETY: values are between what was taken and what was filled.
                unsafe { piece.place(number).drop_in_place() };
            }
            let next = piece.next.load(Ordering::Relaxed);
            // SAFETY: no value is left in it.
            unsafe { self.free(at) };
            (at, taken) = (next, 0);
        }
        let mut spare = *self.spare.get_mut();
        while !spare.is_null() {
            // SAFETY: neither side uses a spare piece.
            let below = unsafe { &*spare }.below.load(Ordering::Relaxed);
            // SAFETY: as above.
            unsafe { self.free(spare) };
            spare = below;
        }
    }
}

/// The side that puts values in.
pub struct Producer<T> {
    piece: *mut Piece<T>,
    filled: usize,
    /// Spare pieces that only the producer knows of.
    own: *mut Piece<T>,
    shared: Arc<Shared<T>>,
}

/// The side that takes values out.
pub struct Consumer<T> {
    piece: *mut Piece<T>,
    taken: usize,
    /// `filled` of the piece when last looked at.
    seen: usize,
    shared: Arc<Shared<T>>,
}

// SAFETY: each side is one thread's at a time; see `Shared`.
unsafe impl<T: Send> Send for Producer<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Consumer<T> {}

/// An empty queue with room for the values that [`Producer::reserve`] was told of.
#[must_use]
pub fn chain<T>() -> (Producer<T>, Consumer<T>) {
    let shared = Arc::new(Shared {
        spare: AtomicPtr::default(),
        pieces: AtomicUsize::new(0),
        rest: AtomicPtr::default(),
        taken: AtomicUsize::new(0),
    });
    let piece = shared.make();
    if piece.is_null() {
        std::alloc::handle_alloc_error(Layout::new::<Piece<T>>());
    }
    let producer = Producer { piece, filled: 0, own: ptr::null_mut(), shared: Arc::clone(&shared) };
    (producer, Consumer { piece, taken: 0, seen: 0, shared })
}

impl<T> Producer<T> {
    /// Puts a value in, or gives it back where no piece was reserved for it.
    ///
    /// # Errors
    /// The value itself.
    #[inline(always)]
    pub fn push(&mut self, value: T) -> Result<(), T> {
        if self.filled == PLACES && !self.go_on() {
            return Err(value);
        }
        // SAFETY: the producer's own piece until it goes on.
        let piece = unsafe { &*self.piece };
        // SAFETY: above the mark, where the consumer does not look.
        unsafe { piece.place(self.filled).write(value) };
        let filled = self.filled + 1;
        self.filled = filled;
        piece.filled.store(filled, Ordering::Release);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn go_on(&mut self) -> bool {
        let next = self.spare();
        if next.is_null() {
            return false;
        }
        // SAFETY: no other thread uses a spare piece.
        let piece = unsafe { &*next };
        piece.filled.store(0, Ordering::Relaxed);
        piece.next.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the consumer gives the present one back only after it has seen the next.
        unsafe { &*self.piece }.next.store(next, Ordering::Release);
        (self.piece, self.filled) = (next, 0);
        true
    }

    /// A piece that neither side uses, or null.
    fn spare(&mut self) -> *mut Piece<T> {
        if self.own.is_null() {
            self.own = self.shared.spare.swap(ptr::null_mut(), Ordering::Acquire);
        }
        let spare = self.own;
        if !spare.is_null() {
            // SAFETY: it is the producer's own.
            self.own = unsafe { &*spare }.below.load(Ordering::Relaxed);
        }
        spare
    }

    /// Makes room for `values` values, beyond which [`Self::push`] may fail. False where there is no memory.
    pub fn reserve(&self, values: usize) -> bool {
        self.shared.reserve(values)
    }

    /// Frees the spare pieces beyond those for `values` values.
    pub fn trim(&mut self, values: usize) {
        let wanted = values.div_ceil(PLACES) + MORE;
        while self.shared.pieces.load(Ordering::Relaxed) > wanted {
            let spare = self.spare();
            if spare.is_null() {
                return;
            }
            // SAFETY: neither side uses a spare piece.
            unsafe { self.shared.free(spare) };
        }
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        while !self.own.is_null() {
            let spare = self.spare();
            // SAFETY: neither side uses a spare piece.
            unsafe { self.shared.free(spare) };
        }
    }
}

impl<T> Consumer<T> {
    /// Takes the oldest value out.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        if self.taken == self.seen && !self.look() {
            return None;
        }
        // SAFETY: the consumer's own piece until it gives it back.
        let piece = unsafe { &*self.piece };
        // SAFETY: the place is below the mark, which was acquired, and is read once.
        let value = unsafe { piece.place(self.taken).read() };
        self.taken += 1;
        Some(value)
    }

    /// Whether there is a value that was not seen before.
    #[inline(never)]
    fn look(&mut self) -> bool {
        if self.taken == PLACES {
            // SAFETY: the consumer's own piece until it gives it back.
            let next = unsafe { &*self.piece }.next.load(Ordering::Acquire);
            if next.is_null() {
                return false;
            }
            // SAFETY: every value was taken out, and the producer has gone on.
            unsafe { self.shared.give_back(self.piece) };
            (self.piece, self.taken) = (next, 0);
        }
        // SAFETY: the consumer's own piece.
        self.seen = unsafe { &*self.piece }.filled.load(Ordering::Acquire);
        self.taken < self.seen
    }

    /// [`Producer::reserve`].
    pub fn reserve(&self, values: usize) -> bool {
        self.shared.reserve(values)
    }

    /// Whether nothing more will ever be put in: the producer is gone. What is in the queue by then can still be taken.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        let is_alone = Arc::strong_count(&self.shared) == 1;
        // A thread that has seen this also sees all that the producer did before it was dropped.
        fence(Ordering::Acquire);
        is_alone
    }

    /// Whether there is nothing to take at this moment.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        // SAFETY: the consumer's own piece.
        let piece = unsafe { &*self.piece };
        if self.taken < PLACES {
            return self.taken == piece.filled.load(Ordering::Acquire);
        }
        let next = piece.next.load(Ordering::Acquire);
        // SAFETY: the piece behind the consumer's own is freed by this thread alone.
        next.is_null() || unsafe { &*next }.filled.load(Ordering::Acquire) == 0
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        self.shared.rest.store(self.piece, Ordering::Release);
        self.shared.taken.store(self.taken, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_chain_is_a_queue_of_as_many_values_as_were_reserved(
            steps in prop::collection::vec((any::<bool>(), 1_usize..200), 0..60),
            bound in 1_usize..400,
        ) {
            let (mut producer, mut consumer) = chain::<Box<usize>>();
            prop_assert!(producer.reserve(bound));
            let (mut model, mut number) = (VecDeque::new(), 0);
            for (put, count) in steps {
                for _ in 0..count {
                    if put && model.len() < bound {
                        prop_assert!(producer.push(Box::new(number)).is_ok());
                        model.push_back(number);
                        number += 1;
                    } else if !put {
                        prop_assert_eq!(consumer.pop().map(|value| *value), model.pop_front());
                    }
                    prop_assert_eq!(consumer.is_empty(), model.is_empty());
                }
                producer.trim(bound);
            }
            let most = bound.div_ceil(PLACES) + MORE;
            prop_assert!(producer.shared.pieces.load(Ordering::Relaxed) <= most);
        }
    }

    #[test]
    fn between_two_threads_every_value_arrives_once_and_in_order() {
        let (mut producer, mut consumer) = chain::<Box<u32>>();
        assert!(producer.reserve(500));
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
    fn a_value_without_a_piece_comes_back_and_goes_through_when_one_is_empty() {
        let (mut producer, mut consumer) = chain();
        for number in 0..PLACES {
            assert_eq!(producer.push(number), Ok(()));
        }
        assert_eq!(producer.push(PLACES), Err(PLACES));
        assert!(producer.reserve(0), "as many as go round when it is empty");
        assert_eq!(producer.push(PLACES), Ok(()));
        assert!((0..=PLACES).all(|number| consumer.pop() == Some(number)));
        assert_eq!((consumer.pop(), consumer.is_abandoned()), (None, false));
        drop(producer);
        assert!(consumer.is_abandoned());
    }

    #[test]
    fn memory_that_is_not_needed_any_more_is_freed() {
        let (mut producer, mut consumer) = chain();
        assert!(producer.reserve(100 * PLACES));
        assert_eq!(producer.shared.pieces.load(Ordering::Relaxed), 100 + MORE);
        (0..100 * PLACES).for_each(|number| producer.push(number).unwrap());
        while consumer.pop().is_some() {}
        producer.trim(PLACES);
        assert_eq!(producer.shared.pieces.load(Ordering::Relaxed), 1 + MORE);
    }

    #[test]
    fn what_nobody_took_is_dropped_with_the_queue() {
        let value = Arc::new(());
        for is_consumer_first in [false, true] {
            let (mut producer, mut consumer) = chain();
            assert!(producer.reserve(2 * PLACES));
            (0..PLACES + 3).for_each(|_| producer.push(Arc::clone(&value)).unwrap());
            drop(consumer.pop());
            if is_consumer_first {
                drop(consumer);
                producer.push(Arc::clone(&value)).unwrap();
            } else {
                drop(producer);
            }
        }
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
