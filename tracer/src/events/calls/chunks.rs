//! A queue between one thread that puts values in and one that takes them out, as long as it needs to be: pieces of it are
//! made when the reader is late, and used again. All queues of one type share what they may occupy at most.

#![expect(unsafe_code, reason = "two threads share memory that holds a value only below the mark")]

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex};

use crate::base::headroom;

/// Values of a piece.
pub const PLACES: usize = 256;

/// Pieces that are kept for the next one that needs one.
const SPARE: usize = 64;

/// A piece of a queue.
pub struct Chunk<T> {
    places: [UnsafeCell<MaybeUninit<T>>; PLACES],
    /// How many places hold values; written by the sender.
    filled: AtomicUsize,
    /// The piece behind this one; written by the sender.
    next: AtomicPtr<Chunk<T>>,
}

/// What pieces of queues there are.
pub struct Pool<T> {
    spare: Mutex<Vec<Box<Chunk<T>>>>,
    made: AtomicUsize,
    most: usize,
}

// SAFETY: a piece in the pool holds no value and is nobody else's.
unsafe impl<T: Send> Sync for Pool<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Pool<T> {}

impl<T> Pool<T> {
    /// One that makes `most` pieces at most.
    #[must_use]
    pub const fn new(most: usize) -> Self {
        Self { spare: Mutex::new(Vec::new()), made: AtomicUsize::new(0), most }
    }

    fn take(&self) -> Option<*mut Chunk<T>> {
        // A thread that finds the lock taken makes one: no thread waits.
        if let Some(chunk) = self.spare.try_lock().ok().and_then(|mut spare| spare.pop()) {
            return Some(Box::into_raw(chunk));
        }
        if headroom::is_gone() {
            return None;
        }
        if self.made.fetch_add(1, Ordering::Relaxed) >= self.most {
            self.made.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        let chunk = Box::<Chunk<T>>::new_zeroed();
        // SAFETY: no place is filled and there is no piece behind; a place may hold anything.
        let chunk = unsafe { chunk.assume_init() };
        Some(Box::into_raw(chunk))
    }

    /// # Safety
    /// The piece is from [`Self::take`], and nobody else uses it any more.
    unsafe fn give_back(&self, chunk: *mut Chunk<T>) {
        // SAFETY: as the caller promised.
        let mut chunk = unsafe { Box::from_raw(chunk) };
        *chunk.filled.get_mut() = 0;
        *chunk.next.get_mut() = ptr::null_mut();
        if let Ok(mut spare) = self.spare.try_lock()
            && spare.len() < SPARE
        {
            spare.push(chunk);
            return;
        }
        self.made.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The side that puts values in.
pub struct Sender<T: 'static> {
    chunk: *mut Chunk<T>,
    filled: usize,
    /// The piece that comes next, where it was asked for before this one is full; else null.
    ahead: *mut Chunk<T>,
    pool: &'static Pool<T>,
    shared: Arc<Shared>,
    /// Pieces that were put in.
    sent: usize,
}

/// The side that takes values out.
pub struct Receiver<T: 'static> {
    chunk: *mut Chunk<T>,
    taken: usize,
    pool: &'static Pool<T>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// Pieces that were emptied.
    emptied: AtomicUsize,
}

// SAFETY: a value is read only after the mark above it was acquired, by the one receiver.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Receiver<T> {}

/// A queue. `None` where there are as many pieces as there may be.
pub fn queue<T>(pool: &'static Pool<T>) -> Option<(Sender<T>, Receiver<T>)> {
    let chunk = pool.take()?;
    let shared = Arc::<Shared>::default();
    let sender =
        Sender { chunk, filled: 0, ahead: ptr::null_mut(), pool, shared: Arc::clone(&shared), sent: 0 };
    Some((sender, Receiver { chunk, taken: 0, pool, shared }))
}

impl<T> Sender<T> {
    /// Puts a value in, or gives it back where there are as many pieces as there may be.
    ///
    /// # Errors
    /// The value itself.
    #[inline]
    pub fn push(&mut self, value: T) -> Result<(), T> {
        if self.filled == PLACES && !self.go_on() {
            return Err(value);
        }
        // SAFETY: the sender's own piece until it goes on to the next one.
        let chunk = unsafe { &*self.chunk };
        // SAFETY: above the mark, where the receiver does not look.
        unsafe { chunk.places[self.filled].get().write(MaybeUninit::new(value)) };
        self.filled += 1;
        chunk.filled.store(self.filled, Ordering::Release);
        Ok(())
    }

    /// Whether this number of values, [`PLACES`] at most, will find room one behind the other, for which the queue grows.
    #[inline]
    pub fn make_room(&mut self, values: usize) -> bool {
        debug_assert!(values <= PLACES);
        values <= PLACES - self.filled || !self.ahead.is_null() || self.grow()
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let Some(next) = self.pool.take() else { return false };
        // Only the sender knows of it yet: a receiver that finds it behind a full piece frees that.
        self.ahead = next;
        true
    }

    #[cold]
    fn go_on(&mut self) -> bool {
        if !self.make_room(1) {
            return false;
        }
        let next = std::mem::replace(&mut self.ahead, ptr::null_mut());
        // SAFETY: the receiver frees the piece only after it has seen the next one.
        unsafe { (*self.chunk).next.store(next, Ordering::Release) };
        (self.chunk, self.filled) = (next, 0);
        self.sent += 1;
        true
    }

    /// How many pieces are full and wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.sent - self.shared.emptied.load(Ordering::Relaxed)
    }

    /// Whether the value put in last began a piece.
    #[inline]
    #[must_use]
    pub fn has_gone_on(&self) -> bool {
        self.filled == 1
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if !self.ahead.is_null() {
            // SAFETY: from the pool, and no receiver has heard of it.
            unsafe { self.pool.give_back(self.ahead) };
        }
    }
}

impl<T> Receiver<T> {
    /// Takes the oldest value out.
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.taken == PLACES {
            // SAFETY: the receiver's own piece until it frees it.
            let next = unsafe { (*self.chunk).next.load(Ordering::Acquire) };
            if next.is_null() {
                return None;
            }
            // SAFETY: the sender went on before it said so, and every value was taken out.
            unsafe { self.pool.give_back(self.chunk) };
            self.shared.emptied.fetch_add(1, Ordering::Relaxed);
            (self.chunk, self.taken) = (next, 0);
        }
        // SAFETY: as above.
        let chunk = unsafe { &*self.chunk };
        if self.taken == chunk.filled.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: below the mark, which was acquired, and read once.
        let value = unsafe { chunk.places[self.taken].get().cast::<T>().read() };
        self.taken += 1;
        Some(value)
    }

    /// Whether nothing more will ever be put in. What is in the queue by then can still be taken.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        let is_alone = Arc::strong_count(&self.shared) == 1;
        fence(Ordering::Acquire);
        is_alone
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
        // A piece that the sender still has stays: that is the child of a fork, or a thread at the end of the process.
        if self.is_abandoned() {
            // SAFETY: the sender is gone.
            unsafe { self.pool.give_back(self.chunk) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_two_threads_every_value_arrives_once_and_in_order() {
        static POOL: Pool<Box<u32>> = Pool::new(usize::MAX);
        let (mut sender, mut receiver) = queue(&POOL).unwrap();
        let reader = std::thread::spawn(move || {
            let mut expected = 0;
            while expected < 50_000 {
                match receiver.pop() {
                    Some(value) => {
                        assert_eq!(*value, expected);
                        expected += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
        });
        for number in 0..50_000 {
            assert!(sender.push(Box::new(number)).is_ok());
        }
        reader.join().unwrap();
    }

    #[test]
    fn a_queue_grows_to_the_bound_and_again_when_it_was_emptied() {
        static POOL: Pool<usize> = Pool::new(3);
        let (mut sender, mut receiver) = queue(&POOL).unwrap();
        for number in 0..3 * PLACES {
            assert_eq!(sender.push(number), Ok(()));
        }
        assert_eq!((sender.push(0), sender.waiting()), (Err(0), 2));
        assert!(queue(&POOL).is_none());
        assert!((0..=PLACES).all(|number| receiver.pop() == Some(number)));
        assert_eq!((sender.push(3 * PLACES), sender.waiting()), (Ok(()), 2));
        assert!((PLACES + 1..=3 * PLACES).all(|number| receiver.pop() == Some(number)));
        assert_eq!(receiver.pop(), None);
        assert!(!receiver.is_abandoned());
        drop(sender);
        assert!(receiver.is_abandoned());
    }

    #[test]
    fn values_that_belong_together_find_room_together_or_not_at_all() {
        static POOL: Pool<usize> = Pool::new(2);
        let (mut sender, mut receiver) = queue(&POOL).unwrap();
        for number in 0..PLACES - 2 {
            assert_eq!(sender.push(number), Ok(()));
        }
        assert!(sender.make_room(2) && sender.make_room(3) && sender.make_room(PLACES));
        assert_eq!(POOL.made.load(Ordering::Relaxed), 2, "one more for all that was asked for");
        for number in PLACES - 2..2 * PLACES - 2 {
            assert_eq!(sender.push(number), Ok(()));
        }
        assert!(sender.make_room(2) && !sender.make_room(3));
        assert!((0..2 * PLACES - 2).all(|number| receiver.pop() == Some(number)));
        assert_eq!(receiver.pop(), None);
        assert!(sender.make_room(3), "the receiver has given a piece back");
    }

    #[test]
    fn a_piece_that_was_asked_for_ahead_goes_back_with_the_sender() {
        static POOL: Pool<usize> = Pool::new(2);
        for _ in 0..10 {
            let (mut sender, receiver) = queue(&POOL).unwrap();
            assert_eq!(sender.push(1), Ok(()));
            assert!(sender.make_room(PLACES));
            drop(sender);
            drop(receiver);
        }
        assert!(POOL.made.load(Ordering::Relaxed) <= 2);
    }

    #[test]
    fn what_nobody_took_is_dropped_with_the_queue() {
        static POOL: Pool<Arc<()>> = Pool::new(8);
        let value = Arc::new(());
        let (mut sender, receiver) = queue(&POOL).unwrap();
        for _ in 0..PLACES + 3 {
            assert!(sender.push(Arc::clone(&value)).is_ok());
        }
        drop(sender);
        drop(receiver);
        assert_eq!((Arc::strong_count(&value), POOL.made.load(Ordering::Relaxed)), (1, 2));
    }
}
