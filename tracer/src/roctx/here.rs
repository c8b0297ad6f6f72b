//! What the calling thread has open, and what it does about it.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicU64, Ordering};

use super::event::{Event, What};
use super::lane::{self, Lane, new_number};
use super::reader::{NEWCOMERS, Ring};
use super::text::TEXTS;
use crate::control::{self, Gate};
use crate::counters::{Lost, Skipped, UNHANDED};
use crate::{clock, headroom, load, recording, thread};

thread_local! {
    /// Ranges that are open, recorded or not. Without a destructor: it lives as long as the thread.
    static LEVEL: Cell<u32> = const { Cell::new(0) };

    static LANE: RefCell<Option<Lane>> = const { RefCell::new(None) };

    /// Whether there is one, as a thread may ask that must not touch what has a destructor.
    static HAS_LANE: Cell<bool> = const { Cell::new(false) };
}

/// What roctxRangeStartA returned last.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// A range begins within the others; the level that it is at, from 0.
#[inline]
pub fn push(text: &[u8]) -> u32 {
    let level = LEVEL.get();
    LEVEL.set(level.wrapping_add(1));
    record(|lane| {
        let text = TEXTS.find(text);
        lane.push(level as usize, text, clock::now())?;
        thread::set_range(lane.innermost());
        Ok(())
    });
    level
}

/// The innermost range ends; the level that it was at, `None` where none is open.
#[inline]
pub fn pop() -> Option<u32> {
    let level = LEVEL.get().checked_sub(1)?;
    LEVEL.set(level);
    if !HAS_LANE.get() {
        return Some(level);
    }
    // Whether or not recording is paused by now.
    let _ = LANE.try_with(|lane| {
        let mut lane = lane.try_borrow_mut().ok()?;
        let lane = lane.as_mut().filter(|lane| lane.is_above(level as usize))?;
        lane.settle(level as usize, clock::now());
        thread::set_range(lane.innermost());
        look_after(lane);
        Some(())
    });
    Some(level)
}

/// An instant.
pub fn mark(text: &[u8]) {
    record(|lane| {
        let (text, number) = (TEXTS.find(text), new_number());
        lane.send(Event { time: clock::now(), number, text, what: What::Mark })
    });
}

/// A range begins that any thread may end; its id, from 1.
pub fn start(text: &[u8]) -> u64 {
    let number = STARTED.fetch_add(1, Ordering::Relaxed) + 1;
    record(|lane| {
        let text = TEXTS.find(text);
        lane.send(Event { time: clock::now(), number, text, what: What::Start })
    });
    number
}

/// The range with this id ends.
pub fn stop(number: u64) {
    let time = clock::now();
    if number == 0 || number > STARTED.load(Ordering::Relaxed) {
        return;
    }
    let event = Event { time, number, text: &super::NOT_KEPT, what: What::Stop };
    if control::gate() == Gate::Paused {
        // It may have begun before.
        let _ = with_lane(|lane| lane.send(event));
    } else {
        record(|lane| lane.send(event));
    }
}

/// Something has a name.
pub fn name(what: What, number: u64, text: &[u8]) {
    let event = Event { time: 0, number, text: TEXTS.find(text), what };
    if control::gate() == Gate::Idle {
        load::begin_with_ranges();
    }
    let _ = with_lane(|lane| lane.send(event));
}

/// From now on, whether nothing that the calling thread does is recorded.
pub fn pause(is_paused: bool) {
    thread::pause(is_paused);
    let innermost = with_lane(|lane| Ok(lane.innermost()));
    thread::set_range(innermost.unwrap_or(0));
}

/// In the child of a fork: levels are as they were, but the recorder that would know of them is not in it.
/// Allocates and frees nothing.
pub fn forget() {
    NEWCOMERS.forget();
    lane::forget();
    UNHANDED.forget();
    if !HAS_LANE.replace(false) {
        return;
    }
    let _ = LANE.try_with(|lane| {
        if let Ok(mut lane) = lane.try_borrow_mut() {
            std::mem::forget(lane.take());
        }
    });
}

/// Does something that is recorded, or counts why it is not.
#[inline]
fn record(act: impl FnOnce(&mut Lane) -> Result<(), Lost>) {
    if !control::is_open() && !load::opens(&UNHANDED) {
        return;
    }
    if thread::is_paused() {
        return UNHANDED.skip(Skipped::Paused, 1);
    }
    if let Err(why) = with_lane(act) {
        UNHANDED.lose(why, 1);
    }
}

#[inline]
fn with_lane<T>(act: impl FnOnce(&mut Lane) -> Result<T, Lost>) -> Result<T, Lost> {
    let act = |lane: &RefCell<Option<Lane>>| {
        let Ok(mut lane) = lane.try_borrow_mut() else { return Err(Lost::Interrupted) };
        let lane = match &mut *lane {
            Some(lane) => lane,
            none => none.insert(new_lane()?),
        };
        let acted = act(lane);
        look_after(lane);
        acted
    };
    if !HAS_LANE.get() && !headroom::for_first_use() {
        return Err(Lost::Memory);
    }
    LANE.try_with(act).unwrap_or(Err(Lost::Interrupted))
}

#[cold]
fn new_lane() -> Result<Lane, Lost> {
    if headroom::is_gone() {
        return Err(Lost::Memory);
    }
    let (lane, events) = Lane::new().ok_or(Lost::Bounds)?;
    NEWCOMERS.add(Ring::new(thread::current().tid, events));
    HAS_LANE.set(true);
    Ok(lane)
}

#[inline]
fn look_after(lane: &mut Lane) {
    if lane.is_filling() {
        recording::nudge();
    }
}
