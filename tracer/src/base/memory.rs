//! The allocator of this library. Where the process has no more memory, it allocates from a reserve.
//!
//! Rust ends the process when an allocation fails, which a guest must not do. So from the first refusal on [`is_short`] holds,
//! nothing new is recorded, and work in progress is finished with memory of the reserve. The reserve is part of the library's own
//! data, so the process has it from the moment that the library is loaded; pages that were never used take no memory.
//!
//! The reserve takes no lock, because a signal handler or a forked child may allocate.

#![expect(unsafe_code, reason = "an allocator hands out memory")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// Bytes of a block, the unit of the reserve.
const BLOCK: usize = 256;

/// 4 MiB suffice for the rings of some threads, the first batches for the recorder, and its memory for publishing.
const BLOCKS: usize = 16 << 10;

/// The alignment of the reserve, and the strictest that it serves.
const PAGE: usize = 4096;

/// Set when an allocation was refused, or when the tracer must not allocate any more.
static IS_SHORT: AtomicBool = AtomicBool::new(false);

/// The function to call when memory becomes short: a `fn()`, or null.
static ON_SHORTAGE: AtomicPtr<()> = AtomicPtr::new(ptr::null_mut());

static RESERVE: Reserve<BLOCKS> = Reserve::new();

/// True where the process has no memory left for the tracer.
#[inline]
#[must_use]
pub fn is_short() -> bool {
    IS_SHORT.load(Ordering::Relaxed)
}

/// Called where the process has no memory left for the tracer.
#[cold]
pub fn run_short() {
    if !IS_SHORT.swap(true, Ordering::Relaxed) {
        let callback = ON_SHORTAGE.load(Ordering::Acquire);
        if !callback.is_null() {
            // SAFETY: the pointer is the function that `on_shortage` has stored.
            let callback = unsafe { std::mem::transmute::<*mut (), fn()>(callback) };
            callback();
        }
    }
}

/// Called when another recording begins, in this process or in the child of a fork: there may be memory again.
pub fn try_again() {
    IS_SHORT.store(false, Ordering::Relaxed);
}

/// True if memory is left for other allocators: the process ends if the C library has none for the destructor of a thread-local
/// value, or Rust's runtime has none for a thread. To be checked before the first use of such a value and before a thread is
/// started. If none is left, memory is short.
#[cold]
#[must_use]
pub fn is_there_for_others() -> bool {
    /// Larger than the freed blocks that the C library keeps for the thread alone.
    const SOME: usize = 4096;
    // SAFETY: any size may be requested.
    let memory = unsafe { libc::malloc(SOME) };
    if memory.is_null() {
        run_short();
    }
    // SAFETY: the memory has just been allocated, or the pointer is null.
    unsafe { libc::free(memory) };
    !memory.is_null()
}

/// Sets the function that is called when memory becomes short, on any thread; it must not allocate or take a lock.
pub fn on_shortage(callback: fn()) {
    ON_SHORTAGE.store(callback as *mut (), Ordering::Release);
}

pub struct Memory;

#[cfg(not(test))]
#[global_allocator]
static MEMORY: Memory = Memory;

// SAFETY: memory is the system's or the reserve's, which hand out each byte once until it is given back, and each gets its own
// memory back.
unsafe impl GlobalAlloc for Memory {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promised the same for this allocator.
        let memory = unsafe { System.alloc(layout) };
        if memory.is_null() { from_reserve(layout) } else { memory }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promised the same for this allocator.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if memory.is_null() { zeroed_from_reserve(layout) } else { memory }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        if RESERVE.has(memory) {
            return RESERVE.give_back(memory, layout);
        }
        // SAFETY: the caller promised the same for this allocator, and the memory is not the reserve's.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !RESERVE.has(memory) {
            // SAFETY: the caller promised the same for this allocator, and the memory is not the reserve's.
            let moved = unsafe { System.realloc(memory, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promised the same for this allocator.
        unsafe { self.moved(memory, layout, size) }
    }
}

impl Memory {
    /// # Safety
    /// The requirements are those of [`GlobalAlloc::realloc`].
    #[cold]
    unsafe fn moved(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: size and alignment are the caller's, who promised that they fit.
        let larger = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: the size is not 0, as the caller promised.
        let moved = unsafe { self.alloc(larger) };
        if !moved.is_null() {
            // SAFETY: both allocations have that size, and they do not overlap.
            unsafe { ptr::copy_nonoverlapping(memory, moved, layout.size().min(size)) };
            // SAFETY: the memory has this layout, as the caller promised, and is not used again.
            unsafe { self.dealloc(memory, layout) };
        }
        moved
    }
}

#[cold]
fn from_reserve(layout: Layout) -> *mut u8 {
    run_short();
    RESERVE.take(layout)
}

#[cold]
fn zeroed_from_reserve(layout: Layout) -> *mut u8 {
    let memory = from_reserve(layout);
    if !memory.is_null() {
        // SAFETY: the memory has this size and belongs to the caller.
        unsafe { ptr::write_bytes(memory, 0, layout.size()) };
    }
    memory
}

#[repr(C, align(4096))]
struct Blocks<const N: usize>([[MaybeUninit<u8>; BLOCK]; N]);

/// `N` blocks, a multiple of 64, and a bit for each that is taken.
struct Reserve<const N: usize> {
    blocks: UnsafeCell<Blocks<N>>,
    taken: [AtomicU64; BLOCKS / 64],
}

// SAFETY: a block belongs to the thread that has set its bit, until the bit is cleared.
unsafe impl<const N: usize> Sync for Reserve<N> {}

impl<const N: usize> Reserve<N> {
    const fn new() -> Self {
        const { assert!(N <= BLOCKS && N.is_multiple_of(64) && size_of::<Blocks<N>>() == N * BLOCK) };
        Self {
            blocks: UnsafeCell::new(Blocks([[MaybeUninit::uninit(); BLOCK]; N])),
            taken: [const { AtomicU64::new(0) }; BLOCKS / 64],
        }
    }

    fn start(&self) -> *mut u8 {
        self.blocks.get().cast()
    }

    #[inline]
    fn has(&self, memory: *mut u8) -> bool {
        (memory as usize).wrapping_sub(self.start() as usize) < N * BLOCK
    }

    /// Takes adjacent blocks; null where there are not enough.
    fn take(&self, layout: Layout) -> *mut u8 {
        let (count, step) = (layout.size().div_ceil(BLOCK), layout.align().div_ceil(BLOCK));
        let mut at = 0;
        while at + count <= N && layout.align() <= PAGE {
            match (at..at + count).find(|&block| !self.claim(block)) {
                // SAFETY: the taken blocks are within the reserve.
                None => return unsafe { self.start().add(at * BLOCK) },
                Some(missing) => {
                    self.release(at..missing);
                    at = (missing + 1).next_multiple_of(step);
                }
            }
        }
        ptr::null_mut()
    }

    fn give_back(&self, memory: *mut u8, layout: Layout) {
        let at = (memory as usize - self.start() as usize) / BLOCK;
        self.release(at..at + layout.size().div_ceil(BLOCK));
    }

    fn claim(&self, block: usize) -> bool {
        let bit = 1 << (block % 64);
        let word = &self.taken[block / 64];
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Acquire) & bit == 0
    }

    fn release(&self, blocks: std::ops::Range<usize>) {
        for block in blocks {
            self.taken[block / 64].fetch_and(!(1 << (block % 64)), Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SMALL: Reserve<64> = Reserve::new();

    fn layout(size: usize, align: usize) -> Layout {
        Layout::from_size_align(size, align).unwrap()
    }

    #[test]
    fn blocks_are_handed_out_once_and_again_when_they_are_given_back() {
        let reserve = Reserve::<64>::new();
        let one = layout(BLOCK, 8);
        let all: Vec<*mut u8> = (0..64).map(|_| reserve.take(one)).collect();
        assert!(all.iter().all(|&memory| reserve.has(memory)) && reserve.take(one).is_null());
        assert!(all.windows(2).all(|pair| pair[1] as usize - pair[0] as usize == BLOCK));
        reserve.give_back(all[7], one);
        reserve.give_back(all[9], one);
        assert!(reserve.take(layout(BLOCK + 1, 8)).is_null(), "not one behind the other");
        reserve.give_back(all[8], one);
        assert_eq!(reserve.take(layout(3 * BLOCK, 8)), all[7]);
        assert!(!reserve.has(ptr::null_mut()) && !reserve.has(ptr::from_ref(&one).cast_mut().cast()));
    }

    #[test]
    fn memory_is_aligned_as_it_is_asked_for_and_none_is_there_for_more_than_a_page() {
        let reserve = Reserve::<64>::new();
        for align in [1, 64, 512, 1024, PAGE] {
            assert!((reserve.take(layout(10, align)) as usize).is_multiple_of(align), "{align}");
        }
        assert!(reserve.take(layout(10, 2 * PAGE)).is_null());
        assert!(reserve.take(layout(65 * BLOCK, 8)).is_null());
    }

    #[test]
    fn threads_never_have_the_same_memory() {
        let work = |mark: u8| {
            for round in 0..2_000_usize {
                let wanted = layout(1 + round % 9 * 100, 16);
                let memory = SMALL.take(wanted);
                if memory.is_null() {
                    continue;
                }
                // SAFETY: the bytes were taken for this test.
                let bytes = unsafe { std::slice::from_raw_parts_mut(memory, wanted.size()) };
                bytes.fill(mark);
                std::thread::yield_now();
                assert!(bytes.iter().all(|&byte| byte == mark));
                SMALL.give_back(memory, wanted);
            }
        };
        std::thread::scope(|scope| (1..=4).for_each(|mark| drop(scope.spawn(move || work(mark)))));
        assert!(!SMALL.take(layout(64 * BLOCK, 8)).is_null(), "all of it has come back");
    }

    #[test]
    fn what_the_system_refuses_comes_from_the_reserve_and_grows_there() {
        // The larger size exceeds any address space.
        let (huge, some) = (layout(1 << 62, 8), layout(100, 8));
        // SAFETY: the size is not 0.
        assert!(unsafe { Memory.alloc(huge) }.is_null());
        // SAFETY: the size is not 0.
        assert!(unsafe { Memory.alloc_zeroed(huge) }.is_null());
        assert!(is_short());
        let memory = zeroed_from_reserve(some);
        assert!(RESERVE.has(memory));
        // SAFETY: the bytes were taken for this test, and are 0.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory, some.size()) };
        assert_eq!(std::mem::replace(&mut bytes[99], 7), 0);
        // SAFETY: the memory has this layout.
        let moved = unsafe { Memory.realloc(memory, some, 5_000) };
        // SAFETY: the memory has this layout.
        assert!(unsafe { Memory.realloc(moved, layout(5_000, 8), 1 << 62) }.is_null());
        // SAFETY: a reallocation that fails leaves the memory alone.
        assert_eq!(unsafe { std::slice::from_raw_parts(moved, 100) }[99], 7);
        // SAFETY: the memory has this layout.
        unsafe { Memory.dealloc(moved, layout(5_000, 8)) };
        try_again();
    }
}
