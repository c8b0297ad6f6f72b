//! The ranges of the calling thread. `begin` begins a recording where there is none yet.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use super::event::{Event, What};
use super::reader::{PENDING_THREADS, Ring};
use super::text::TEXTS;
use super::thread_queue::{self, ThreadQueue, new_number};
use crate::base::counters::{Lost, Skipped, UNHANDED};
use crate::base::recording_state::{self, RecordingState};
use crate::base::{clock, headroom};
use crate::events::recorder_waker;
use crate::events::thread;

thread_local! {
    /// Ranges that are open, recorded or not. Without a destructor: it lives as long as the thread.
    static LEVEL: Cell<u32> = const { Cell::new(0) };

    static QUEUE: RefCell<Option<ThreadQueue>> = const { RefCell::new(None) };

    /// Whether there is one, as a thread may ask that must not touch what has a destructor.
    static HAS_QUEUE: Cell<bool> = const { Cell::new(false) };
}

/// What roctxRangeStartA returned last.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// A range begins within the others; the level that it is at, from 0.
#[inline]
pub fn push(text: &[u8], begin: impl FnOnce()) -> u32 {
    let level = LEVEL.get();
    LEVEL.set(level.wrapping_add(1));
    record(begin, |queue| {
        let text = TEXTS.find(text);
        queue.push(level as usize, text, clock::now())?;
        thread::set_range(queue.innermost());
        Ok(())
    });
    level
}

/// The innermost range ends; the level that it was at, `None` where none is open.
#[inline]
pub fn pop() -> Option<u32> {
    let level = LEVEL.get().checked_sub(1)?;
    LEVEL.set(level);
    if !HAS_QUEUE.get() {
        return Some(level);
    }
    // Whether or not recording is paused by now.
    let _ = QUEUE.try_with(|queue| {
        let mut queue = queue.try_borrow_mut().ok()?;
        let queue = queue.as_mut().filter(|queue| queue.is_above(level as usize))?;
        queue.pop_to(level as usize, clock::now());
        thread::set_range(queue.innermost());
        look_after(queue);
        Some(())
    });
    Some(level)
}

/// An instant.
pub fn mark(text: &[u8], begin: impl FnOnce()) {
    record(begin, |queue| {
        let (text, number) = (TEXTS.find(text), new_number());
        queue.send(Event { time: clock::now(), number, text, what: What::Mark })
    });
}

/// A range begins that any thread may end; its id, from 1.
pub fn start(text: &[u8], begin: impl FnOnce()) -> u64 {
    let number = STARTED.fetch_add(1, Ordering::Relaxed) + 1;
    record(begin, |queue| {
        let text = TEXTS.find(text);
        queue.send(Event { time: clock::now(), number, text, what: What::Start })
    });
    number
}

/// The range with this id ends.
pub fn stop(number: u64, begin: impl FnOnce()) {
    let time = clock::now();
    if number == 0 || number > STARTED.load(Ordering::Relaxed) {
        return;
    }
    let event = Event { time, number, text: &super::NOT_KEPT, what: What::Stop };
    if recording_state::state() == RecordingState::Paused {
        // It may have begun before.
        let _ = with_queue(|queue| queue.send(event));
    } else {
        record(begin, |queue| queue.send(event));
    }
}

/// Something has a name.
pub fn name(what: What, number: u64, text: &[u8], begin: impl FnOnce()) {
    let event = Event { time: 0, number, text: TEXTS.find(text), what };
    if recording_state::state() == RecordingState::Idle {
        begin();
    }
    let _ = with_queue(|queue| queue.send(event));
}

/// From now on, whether nothing that the calling thread does is recorded.
pub fn pause(is_paused: bool) {
    thread::pause(is_paused);
    let innermost = with_queue(|queue| Ok(queue.innermost()));
    thread::set_range(innermost.unwrap_or(0));
}

/// In the child of a fork: levels are as they were, but the recorder that would know of them is not in it.
/// Allocates and frees nothing.
pub fn forget() {
    PENDING_THREADS.forget();
    thread_queue::forget();
    UNHANDED.forget();
    if !HAS_QUEUE.replace(false) {
        return;
    }
    let _ = QUEUE.try_with(|queue| {
        if let Ok(mut queue) = queue.try_borrow_mut() {
            std::mem::forget(queue.take());
        }
    });
}

/// Does something that is recorded, or counts why it is not.
#[inline]
fn record(begin: impl FnOnce(), act: impl FnOnce(&mut ThreadQueue) -> Result<(), Lost>) {
    if !recording_state::is_open() && !recording_state::opens(&UNHANDED, begin) {
        return;
    }
    if thread::is_paused() {
        return UNHANDED.skip(Skipped::Paused, 1);
    }
    if let Err(why) = with_queue(act) {
        UNHANDED.lose(why, 1);
    }
}

#[inline]
fn with_queue<T>(act: impl FnOnce(&mut ThreadQueue) -> Result<T, Lost>) -> Result<T, Lost> {
    let act = |queue: &RefCell<Option<ThreadQueue>>| {
        let Ok(mut queue) = queue.try_borrow_mut() else { return Err(Lost::Interrupted) };
        let queue = match &mut *queue {
            Some(queue) => queue,
            none => none.insert(new_queue()?),
        };
        let acted = act(queue);
        look_after(queue);
        acted
    };
    if !HAS_QUEUE.get() && !headroom::for_first_use() {
        return Err(Lost::Memory);
    }
    QUEUE.try_with(act).unwrap_or(Err(Lost::Interrupted))
}

#[cold]
fn new_queue() -> Result<ThreadQueue, Lost> {
    if headroom::is_gone() {
        return Err(Lost::Memory);
    }
    let (queue, events) = ThreadQueue::new().ok_or(Lost::Bounds)?;
    PENDING_THREADS.add(Ring::new(thread::current().tid, events));
    HAS_QUEUE.set(true);
    Ok(queue)
}

#[inline]
fn look_after(queue: &mut ThreadQueue) {
    if queue.is_filling() {
        recorder_waker::wake();
    }
}
