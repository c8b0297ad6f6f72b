//! The calling thread's queue of events, and its own knowledge of its ranges and calls.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::calls::shown::Shown;
use super::calls::thread_calls::ThreadCalls;
use super::event_queue::EventQueue;
use super::ranges::open_ranges::OpenRanges;
use super::reader::{PENDING_THREADS, ReaderQueue};
use super::thread;
use crate::base::cost::HOOKS;
use crate::base::counters::{Lost, UNHANDED};
use crate::base::headroom;
use crate::base::spsc::Bound;

/// All queues together have at most 2 million events that the recorder has not taken, in 120 MB. An empty queue keeps two blocks.
static BOUND: Bound = Bound::new(1 << 13, 2);

pub struct ThreadState {
    pub queue: EventQueue,
    pub ranges: OpenRanges,
    pub calls: ThreadCalls,
}

thread_local! {
    /// True if the thread has a queue. This has no destructor, so any thread may read it.
    static HAS_QUEUE: Cell<bool> = const { Cell::new(false) };

    static STATE: RefCell<Option<ThreadState>> = const { RefCell::new(None) };
}

impl ThreadState {
    /// # Errors
    /// The bound is reached, or there is no memory.
    #[cold]
    fn new() -> Result<Self, Lost> {
        if headroom::is_gone() {
            return Err(Lost::Memory);
        }
        let (queue, events) = EventQueue::new(&BOUND).ok_or(Lost::Bounds)?;
        let shown = Arc::<Shown>::default();
        PENDING_THREADS.add(ReaderQueue::new(thread::current().tid, events, Arc::clone(&shown)));
        HAS_QUEUE.set(true);
        Ok(Self { queue, ranges: OpenRanges::default(), calls: ThreadCalls::new(shown) })
    }
}

/// True if the calling thread has put an event into its queue before.
#[inline]
pub fn has_queue() -> bool {
    HAS_QUEUE.get()
}

/// Passes the state of the calling thread to `act`, and makes the state where there is none.
///
/// # Errors
/// [`Lost::Memory`], [`Lost::Bounds`], or [`Lost::Interrupted`] at the end of a thread and in a signal handler that has
/// interrupted another use.
#[inline]
pub fn with_state<T>(act: impl FnOnce(&mut ThreadState) -> T) -> Result<T, Lost> {
    if !HAS_QUEUE.get() && !headroom::for_first_use() {
        return Err(Lost::Memory);
    }
    let act = |state: &RefCell<Option<ThreadState>>| {
        let Ok(mut state) = state.try_borrow_mut() else { return Err(Lost::Interrupted) };
        let state = match &mut *state {
            Some(state) => state,
            none => none.insert(ThreadState::new()?),
        };
        Ok(act(state))
    };
    STATE.try_with(act).unwrap_or(Err(Lost::Interrupted))
}

/// Called in the child of a fork, where no recorder knows of this thread's queue, and no other thread exists. Does not allocate
/// or free.
pub fn forget() {
    PENDING_THREADS.forget();
    UNHANDED.forget();
    HOOKS.forget();
    if !HAS_QUEUE.replace(false) {
        return;
    }
    let _ = STATE.try_with(|state| {
        if let Ok(mut state) = state.try_borrow_mut() {
            // The blocks are leaked: they are a copy of blocks that the parent's recorder may have been using at the time of the
            // fork.
            std::mem::forget(state.take());
        }
    });
}
