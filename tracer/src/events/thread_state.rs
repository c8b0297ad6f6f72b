//! The calling thread's queue of events, and what it knows of its own ranges and calls.

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

/// Blocks of all queues at most: 2 million events that the recorder has not taken, 120 MB. A queue keeps two blocks when it
/// is empty.
static BOUND: Bound = Bound::new(1 << 13, 2);

pub struct ThreadState {
    pub queue: EventQueue,
    /// The ranges that are open in it.
    pub ranges: OpenRanges,
    /// The calls that it is in.
    pub calls: ThreadCalls,
}

thread_local! {
    /// The thread has a queue. A thread may read this that must not touch a value with a destructor.
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

/// True where the calling thread has put an event into its queue before.
#[inline]
pub fn has_queue() -> bool {
    HAS_QUEUE.get()
}

/// Does something with the state of the calling thread, which begins here where there is none.
///
/// # Errors
/// Why there is none: [`Lost::Memory`], [`Lost::Bounds`], or [`Lost::Interrupted`] at the end of a thread and in a signal
/// handler that has interrupted another use.
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

/// In the child of a fork: no recorder knows of this thread's queue, and no other thread is there. Allocates and frees nothing.
pub fn forget() {
    PENDING_THREADS.forget();
    UNHANDED.forget();
    HOOKS.forget();
    if !HAS_QUEUE.replace(false) {
        return;
    }
    let _ = STATE.try_with(|state| {
        if let Ok(mut state) = state.try_borrow_mut() {
            // Its blocks may be in use at this moment by the parent's recorder, of which this is a copy.
            std::mem::forget(state.take());
        }
    });
}
