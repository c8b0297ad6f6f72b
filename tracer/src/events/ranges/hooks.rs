//! Begin and end of ranges in the calling thread. `begin` begins a recording where there is none yet.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::event::{RangeEvent, RangeEventKind, new_number};
use super::text::{NOT_KEPT, TEXTS};
use crate::base::clock;
use crate::base::cost::HOOKS;
use crate::base::counters::{Lost, Skipped, UNHANDED};
use crate::base::recording_state::{self, RecordingState};
use crate::events::event::Event;
use crate::events::thread;
use crate::events::thread_state::{ThreadState, has_queue, with_state};

thread_local! {
    /// Number of open ranges, recorded or not. It needs no destructor, so it lives as long as the thread.
    static LEVEL: Cell<u32> = const { Cell::new(0) };
}

/// The last result of roctxRangeStartA.
static STARTED: AtomicU64 = AtomicU64::new(0);

/// Begins a range within the others; returns its level, from 0.
#[inline]
pub fn push(text: &[u8], begin: impl FnOnce()) -> u32 {
    let level = LEVEL.get();
    LEVEL.set(level.wrapping_add(1));
    record(begin, |ThreadState { queue, ranges, .. }| {
        let text = TEXTS.find(text);
        ranges.push(queue, level as usize, text, clock::now())?;
        thread::set_range(ranges.innermost());
        Ok(())
    });
    level
}

/// Ends the innermost range; returns its level, `None` where none is open.
#[inline]
pub fn pop() -> Option<u32> {
    let level = LEVEL.get().checked_sub(1)?;
    LEVEL.set(level);
    if has_queue() {
        let timed = HOOKS.begin();
        // The end is recorded even if recording is paused by now.
        let _ = with_state(|ThreadState { queue, ranges, .. }| {
            if ranges.is_above(level as usize) {
                ranges.pop_to(queue, level as usize, clock::now());
                thread::set_range(ranges.innermost());
            }
        });
        HOOKS.end(timed);
    }
    Some(level)
}

/// Records an instant.
pub fn mark(text: &[u8], begin: impl FnOnce()) {
    record(begin, |state| {
        let (text, number) = (TEXTS.find(text), new_number());
        state.send(RangeEvent { time: clock::now(), number, text, what: RangeEventKind::Mark })
    });
}

/// Begins a range that any thread may end; returns its id, from 1.
pub fn start(text: &[u8], begin: impl FnOnce()) -> u64 {
    let number = STARTED.fetch_add(1, Ordering::Relaxed) + 1;
    record(begin, |state| {
        let text = TEXTS.find(text);
        state.send(RangeEvent { time: clock::now(), number, text, what: RangeEventKind::Start })
    });
    number
}

pub fn stop(number: u64, begin: impl FnOnce()) {
    let time = clock::now();
    if number == 0 || number > STARTED.load(Ordering::Relaxed) {
        return;
    }
    let event = RangeEvent { time, number, text: &NOT_KEPT, what: RangeEventKind::Stop };
    if recording_state::state() == RecordingState::Paused {
        // The range may have begun before recording was paused.
        let _ = with_state(|state| state.send(event));
    } else {
        record(begin, |state| state.send(event));
    }
}

pub fn name(what: RangeEventKind, number: u64, text: &[u8], begin: impl FnOnce()) {
    let event = RangeEvent { time: 0, number, text: TEXTS.find(text), what };
    if recording_state::state() == RecordingState::Idle {
        begin();
    }
    let _ = with_state(|state| state.send(event));
}

/// Starts or stops leaving out everything that the calling thread does.
pub fn pause(is_paused: bool) {
    thread::pause(is_paused);
    let innermost = with_state(|state| state.ranges.innermost());
    thread::set_range(innermost.unwrap_or(0));
}

impl ThreadState {
    /// # Errors
    /// [`Lost::Behind`] where there is no room.
    fn send(&mut self, event: RangeEvent) -> Result<(), Lost> {
        if !self.queue.make_room(1) {
            return Err(Lost::Behind);
        }
        self.queue.push(Event::Range(event));
        Ok(())
    }
}

/// Runs `act` where recording is on, and counts the reason where it is not or `act` fails.
#[inline]
fn record(begin: impl FnOnce(), act: impl FnOnce(&mut ThreadState) -> Result<(), Lost>) {
    if !recording_state::is_open() && !recording_state::opens(&UNHANDED, begin) {
        return;
    }
    if thread::is_paused() {
        return UNHANDED.skip(Skipped::Paused, 1);
    }
    let timed = HOOKS.begin();
    if let Err(why) = with_state(act).and_then(|acted| acted) {
        UNHANDED.lose(why, 1);
    }
    HOOKS.end(timed);
}
