//! A queue of one producer and one consumer (SPSC) without locks, whose memory follows the values in it.
//!
//! The queue is a list of blocks. The consumer gives an emptied block back, and the producer uses it again. [`Producer::push`]
//! makes no block: a caller [reserves](Producer::reserve) blocks for all values that can be in circulation, or makes
//! [room](Producer::make_room) before it pushes. All queues with one [`Bound`] share its blocks.

#![expect(unsafe_code, reason = "two threads share memory that holds a value only below the mark")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering, fence};

use crate::base::headroom;

/// Blocks beyond those that are full: the one that is read, the one that is written, and the one after it.
const MORE: usize = 3;

/// A bound on the blocks that several queues may occupy together.
#[derive(Debug)]
pub struct Bound {
    /// Blocks of all these queues.
    blocks: AtomicUsize,
    most: usize,
    /// A queue frees an emptied block if it has more than this many.
    keep: usize,
}

impl Bound {
    /// At most `most` blocks; a queue keeps `keep` of them when it is empty.
    #[must_use]
    pub const fn new(most: usize, keep: usize) -> Self {
        Self { blocks: AtomicUsize::new(0), most, keep }
    }
}

/// For queues whose callers reserve and trim.
static UNBOUNDED: Bound = Bound::new(usize::MAX, usize::MAX);

#[repr(C, align(64))]
struct Block<T, const N: usize> {
    /// Number of places that hold values or held them; written by the producer.
    filled: AtomicUsize,
    /// The following block; written by the producer.
    next: AtomicPtr<Block<T, N>>,
    /// The next block in the stack of spare blocks.
    below: AtomicPtr<Block<T, N>>,
    places: [UnsafeCell<MaybeUninit<T>>; N],
}

impl<T, const N: usize> Block<T, N> {
    /// A pointer to a place; `number` is below `N`.
    #[inline]
    fn place(&self, number: usize) -> *mut T {
        debug_assert!(number < N);
        // SAFETY: both sides go on to the next block before their count is beyond the places.
        let place = unsafe { self.places.get_unchecked(number) };
        place.get().cast()
    }
}

struct Shared<T, const N: usize> {
    /// A stack of blocks that neither side uses. The producer takes all of them at once.
    spare: AtomicPtr<Block<T, N>>,
    /// Number of all blocks of this queue.
    blocks: AtomicUsize,
    /// Number of blocks that the consumer has emptied so far.
    emptied: AtomicUsize,
    bound: &'static Bound,
    /// The consumer's block and position when it was dropped.
    rest: AtomicPtr<Block<T, N>>,
    taken: AtomicUsize,
}

// SAFETY: a place is written by the producer before `filled` is released past it and read once by the consumer after it was
// acquired. A block is used again only after the consumer has released it to `spare`.
unsafe impl<T: Send, const N: usize> Send for Shared<T, N> {}
// SAFETY: the two sides share places only in that order.
unsafe impl<T: Send, const N: usize> Sync for Shared<T, N> {}

impl<T, const N: usize> Shared<T, N> {
    /// Allocates a block; null at the bound or where there is no memory.
    fn make(&self) -> *mut Block<T, N> {
        if self.bound.blocks.fetch_add(1, Ordering::Relaxed) < self.bound.most {
            // SAFETY: a block has a size. Zeros are an empty block without a following one.
            let block = unsafe { alloc_zeroed(Layout::new::<Block<T, N>>()) }.cast::<Block<T, N>>();
            if !block.is_null() {
                self.blocks.fetch_add(1, Ordering::Relaxed);
                return block;
            }
        }
        self.bound.blocks.fetch_sub(1, Ordering::Relaxed);
        ptr::null_mut()
    }

    /// # Safety
    /// The block comes from [`Self::make`], holds no value, and no other thread uses it.
    unsafe fn free(&self, block: *mut Block<T, N>) {
        self.blocks.fetch_sub(1, Ordering::Relaxed);
        self.bound.blocks.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the caller promised that nobody uses the block; `make` allocated it with this layout.
        unsafe { dealloc(block.cast(), Layout::new::<Block<T, N>>()) };
    }

    /// # Safety
    /// The requirements are those of [`Self::free`].
    unsafe fn give_back(&self, block: *mut Block<T, N>) {
        let mut below = self.spare.load(Ordering::Relaxed);
        loop {
            // SAFETY: the caller promised that nobody else uses the block.
            unsafe { &*block }.below.store(below, Ordering::Relaxed);
            // Blocks are only taken out all at once, so a block that is still the first was never gone in between.
            match self.spare.compare_exchange_weak(below, block, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => below = other,
            }
        }
    }

    fn reserve(&self, values: usize) -> bool {
        let wanted = values.div_ceil(N) + MORE;
        while self.blocks.load(Ordering::Relaxed) < wanted {
            let block = self.make();
            if block.is_null() {
                return false;
            }
            // SAFETY: the block is new.
            unsafe { self.give_back(block) };
        }
        true
    }
}

impl<T, const N: usize> Drop for Shared<T, N> {
    fn drop(&mut self) {
        let (mut at, mut taken) = (*self.rest.get_mut(), *self.taken.get_mut());
        while !at.is_null() {
            // SAFETY: neither side is left, and the block is freed only below.
            let block = unsafe { &*at };
            for number in taken..block.filled.load(Ordering::Relaxed) {
                // SAFETY: these places, from `taken` up to `filled`, hold values.
                unsafe { block.place(number).drop_in_place() };
            }
            let next = block.next.load(Ordering::Relaxed);
            // SAFETY: no value is left in the block.
            unsafe { self.free(at) };
            (at, taken) = (next, 0);
        }
        let mut spare = *self.spare.get_mut();
        while !spare.is_null() {
            // SAFETY: neither side uses a spare block.
            let below = unsafe { &*spare }.below.load(Ordering::Relaxed);
            // SAFETY: neither side uses a spare block, and it holds no value.
            unsafe { self.free(spare) };
            spare = below;
        }
    }
}

pub struct Producer<T, const N: usize> {
    block: *mut Block<T, N>,
    filled: usize,
    /// A stack of spare blocks that only the producer knows, and its length.
    own: *mut Block<T, N>,
    ahead: usize,
    sent: usize,
    shared: Arc<Shared<T, N>>,
}

pub struct Consumer<T, const N: usize> {
    block: *mut Block<T, N>,
    taken: usize,
    /// `filled` of the block when it was last loaded.
    seen: usize,
    shared: Arc<Shared<T, N>>,
}

// SAFETY: each side belongs to one thread at a time; see `Shared`.
unsafe impl<T: Send, const N: usize> Send for Producer<T, N> {}
// SAFETY: each side belongs to one thread at a time; see `Shared`.
unsafe impl<T: Send, const N: usize> Send for Consumer<T, N> {}

/// Makes a queue of one block of `N` values. `None` at the bound or where there is no memory.
#[must_use]
pub fn channel<T, const N: usize>(bound: &'static Bound) -> Option<(Producer<T, N>, Consumer<T, N>)> {
    let shared = Arc::new(Shared {
        spare: AtomicPtr::default(),
        blocks: AtomicUsize::new(0),
        emptied: AtomicUsize::new(0),
        bound,
        rest: AtomicPtr::default(),
        taken: AtomicUsize::new(0),
    });
    let block = shared.make();
    if block.is_null() {
        return None;
    }
    let other = Arc::clone(&shared);
    let producer = Producer { block, filled: 0, own: ptr::null_mut(), ahead: 0, sent: 0, shared: other };
    Some((producer, Consumer { block, taken: 0, seen: 0, shared }))
}

/// Makes a queue whose memory follows the reservations of its two sides.
#[must_use]
pub fn unbounded<T, const N: usize>() -> (Producer<T, N>, Consumer<T, N>) {
    channel(&UNBOUNDED).unwrap_or_else(|| handle_alloc_error(Layout::new::<Block<T, N>>()))
}

impl<T, const N: usize> Producer<T, N> {
    /// Fails where there is no block for the value.
    ///
    /// # Errors
    /// The value itself.
    #[inline(always)]
    pub fn push(&mut self, value: T) -> Result<(), T> {
        if self.filled == N && !self.go_on() {
            return Err(value);
        }
        // SAFETY: the block is the producer's own until it goes on.
        let block = unsafe { &*self.block };
        // SAFETY: the place is above the mark, where the consumer does not read.
        unsafe { block.place(self.filled).write(value) };
        let filled = self.filled + 1;
        self.filled = filled;
        block.filled.store(filled, Ordering::Release);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn go_on(&mut self) -> bool {
        let next = self.spare();
        if next.is_null() {
            return false;
        }
        // SAFETY: no other thread uses a spare block.
        let block = unsafe { &*next };
        block.filled.store(0, Ordering::Relaxed);
        block.next.store(ptr::null_mut(), Ordering::Relaxed);
        // SAFETY: the consumer gives the present block back only after it has seen the next.
        unsafe { &*self.block }.next.store(next, Ordering::Release);
        (self.block, self.filled) = (next, 0);
        self.sent += 1;
        true
    }

    /// Takes a block that neither side uses; null where there is none.
    fn spare(&mut self) -> *mut Block<T, N> {
        if self.own.is_null() {
            self.take_spare();
        }
        let spare = self.own;
        if !spare.is_null() {
            // SAFETY: the block is the producer's own.
            self.own = unsafe { &*spare }.below.load(Ordering::Relaxed);
            self.ahead -= 1;
        }
        spare
    }

    fn take_spare(&mut self) {
        let mut spare = self.shared.spare.swap(ptr::null_mut(), Ordering::Acquire);
        while !spare.is_null() {
            // SAFETY: the block was taken out, so it is the producer's own.
            let block = unsafe { &*spare };
            let below = block.below.load(Ordering::Relaxed);
            block.below.store(self.own, Ordering::Relaxed);
            (self.own, spare) = (spare, below);
            self.ahead += 1;
        }
    }

    /// Makes room for `values` values in circulation, beyond which [`Self::push`] may fail. False at the bound or where there is
    /// no memory.
    pub fn reserve(&self, values: usize) -> bool {
        self.shared.reserve(values)
    }

    /// Grows the queue so that the next `values` values find room even if the consumer takes none.
    #[inline]
    pub fn make_room(&mut self, values: usize) -> bool {
        values <= N - self.filled + self.ahead * N || self.grow(values)
    }

    #[cold]
    fn grow(&mut self, values: usize) -> bool {
        self.take_spare();
        while values > N - self.filled + self.ahead * N {
            let block = if headroom::is_gone() { ptr::null_mut() } else { self.shared.make() };
            if block.is_null() {
                return false;
            }
            // SAFETY: the block is new.
            unsafe { &*block }.below.store(self.own, Ordering::Relaxed);
            self.own = block;
            self.ahead += 1;
        }
        true
    }

    /// Frees the spare blocks beyond those for `values` values.
    pub fn trim(&mut self, values: usize) {
        let wanted = values.div_ceil(N) + MORE;
        while self.shared.blocks.load(Ordering::Relaxed) > wanted {
            let spare = self.spare();
            if spare.is_null() {
                return;
            }
            // SAFETY: neither side uses a spare block.
            unsafe { self.shared.free(spare) };
        }
    }

    /// Number of blocks that are full and not emptied yet.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.sent - self.shared.emptied.load(Ordering::Relaxed)
    }

    /// True if the value that was pushed last began a block.
    #[inline]
    #[must_use]
    pub fn has_gone_on(&self) -> bool {
        self.filled == 1
    }
}

impl<T, const N: usize> Drop for Producer<T, N> {
    fn drop(&mut self) {
        while !self.own.is_null() {
            let spare = self.spare();
            // SAFETY: neither side uses a spare block.
            unsafe { self.shared.free(spare) };
        }
    }
}

impl<T, const N: usize> Consumer<T, N> {
    /// Takes the oldest value out.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        if self.taken == self.seen && !self.load() {
            return None;
        }
        // SAFETY: the block is the consumer's own until it gives the block back.
        let block = unsafe { &*self.block };
        // SAFETY: the place is below the mark, which was acquired, and is read once.
        let value = unsafe { block.place(self.taken).read() };
        self.taken += 1;
        Some(value)
    }

    /// Loads the mark again; true if there are new values.
    #[inline(never)]
    fn load(&mut self) -> bool {
        if self.taken == N {
            // SAFETY: the block is the consumer's own until it gives the block back.
            let next = unsafe { &*self.block }.next.load(Ordering::Acquire);
            if next.is_null() {
                return false;
            }
            if self.shared.blocks.load(Ordering::Relaxed) > self.shared.bound.keep {
                // SAFETY: every value was taken out, and the producer has gone on.
                unsafe { self.shared.free(self.block) };
            } else {
                // SAFETY: every value was taken out, and the producer has gone on.
                unsafe { self.shared.give_back(self.block) };
            }
            self.shared.emptied.fetch_add(1, Ordering::Relaxed);
            (self.block, self.taken) = (next, 0);
        }
        // SAFETY: the block is the consumer's own.
        self.seen = unsafe { &*self.block }.filled.load(Ordering::Acquire);
        self.taken < self.seen
    }

    /// Does what [`Producer::reserve`] does.
    pub fn reserve(&self, values: usize) -> bool {
        self.shared.reserve(values)
    }

    /// True once the producer is dropped. Values that are still in the queue can be taken.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        let is_alone = Arc::strong_count(&self.shared) == 1;
        // A thread that has seen this also sees everything that the producer did before it was dropped.
        fence(Ordering::Acquire);
        is_alone
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        // SAFETY: the block is the consumer's own.
        let block = unsafe { &*self.block };
        if self.taken < N {
            return self.taken == block.filled.load(Ordering::Acquire);
        }
        let next = block.next.load(Ordering::Acquire);
        // SAFETY: only this thread frees the block behind the consumer's own.
        next.is_null() || unsafe { &*next }.filled.load(Ordering::Acquire) == 0
    }
}

impl<T, const N: usize> Drop for Consumer<T, N> {
    fn drop(&mut self) {
        self.shared.rest.store(self.block, Ordering::Release);
        self.shared.taken.store(self.taken, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
