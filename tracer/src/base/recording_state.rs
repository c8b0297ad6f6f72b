//! The state of recording at this moment, which the environment, roctxProfilerPause, roctxProfilerResume and requests from
//! another terminal change.
//!
//! The state is one word, so that a range or call reads one variable. It outlives recordings: a program that has paused stays
//! paused when it starts the runtime again.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::base::counters::{Counters, Lost, Skipped};
use crate::base::memory;

const BEGUN: u8 = 1;
const PAUSED: u8 = 2;
/// The recording has ended, and none has begun since.
const ENDED: u8 = 4;
/// RTL_START has not been read yet.
const START_UNREAD: u8 = 8;

static STATE: AtomicU8 = AtomicU8::new(START_UNREAD);

/// The outcome of a range that begins now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingState {
    Open,
    /// The range would be recorded, once the settings are read and a recording has begun.
    Idle,
    Paused,
    Ended,
}

#[inline]
pub fn is_open() -> bool {
    STATE.load(Ordering::Relaxed) == BEGUN
}

/// True where dispatches and ranges are left out.
#[inline]
pub fn is_paused() -> bool {
    STATE.load(Ordering::Relaxed) & PAUSED != 0
}

pub fn state() -> RecordingState {
    match STATE.load(Ordering::Relaxed) {
        BEGUN => RecordingState::Open,
        word if word & ENDED != 0 => RecordingState::Ended,
        word if word & START_UNREAD == 0 && word & PAUSED != 0 => RecordingState::Paused,
        _ => RecordingState::Idle,
    }
}

/// Applies RTL_START: with `is_stopped`, nothing is recorded until the program resumes. Later calls in this process, or in the
/// child of its fork, change nothing.
pub fn apply_start(is_stopped: bool) {
    if STATE.load(Ordering::Relaxed) & START_UNREAD == 0 {
        return;
    }
    if is_stopped {
        STATE.fetch_or(PAUSED, Ordering::Relaxed);
    }
    STATE.fetch_and(!START_UNREAD, Ordering::Relaxed);
}

pub fn begin() {
    STATE.fetch_or(BEGUN, Ordering::Relaxed);
}

pub fn end() {
    STATE.fetch_or(ENDED, Ordering::Relaxed);
}

/// Allows another recording to begin: the runtime has started again, or this is the child of a fork.
pub fn renew() {
    STATE.fetch_and(!(BEGUN | ENDED), Ordering::Relaxed);
}

/// Starts or stops leaving out dispatches and ranges.
pub fn pause(is_paused: bool) {
    if is_paused {
        STATE.fetch_or(PAUSED, Ordering::Relaxed);
        STATE.fetch_and(!START_UNREAD, Ordering::Relaxed);
    } else {
        STATE.fetch_and(!(PAUSED | START_UNREAD), Ordering::Relaxed);
    }
}

/// Decides on a range or call where the state is not [open](is_open): `begin` may begin a recording for it. Otherwise the reason
/// is counted.
#[cold]
pub fn opens(unhanded: &Counters, begin: impl FnOnce()) -> bool {
    if state() == RecordingState::Idle {
        begin();
    }
    match state() {
        // Another thread is about to begin the recording, and records of this thread wait for it.
        RecordingState::Open | RecordingState::Idle => return true,
        RecordingState::Paused => unhanded.skip(Skipped::Paused, 1),
        RecordingState::Ended if memory::is_short() => unhanded.lose(Lost::Memory, 1),
        RecordingState::Ended => unhanded.lose(Lost::Ended, 1),
    }
    false
}
