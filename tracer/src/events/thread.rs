//! The correlation ids of the thread that submits.

use std::cell::Cell;

use crate::events::calls;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submitter {
    /// The kernel's number of the thread.
    pub tid: u32,
    /// The innermost range that is open in the thread; 0 for none.
    pub range: u64,
    /// The innermost recorded call that the thread is in ([`crate::events::calls`]); 0 for none.
    pub call: u64,
}

impl Submitter {
    /// The correlation id that links an op to its call: the call's, or 0 outside of any. Where no calls are recorded, it is the
    /// op's own.
    #[inline]
    #[must_use]
    pub fn link(self, own: u64) -> u64 {
        if calls::is_any_recorded() { self.call } else { own }
    }
}

thread_local! {
    /// Tid 0 until the thread is seen for the first time.
    static SUBMITTER: Cell<Submitter> = const { Cell::new(Submitter { tid: 0, range: 0, call: 0 }) };

    /// True if the thread is not to be recorded.
    static PAUSED: Cell<bool> = const { Cell::new(false) };
}

/// The calling thread, if it was seen before.
#[inline]
#[must_use]
pub fn known() -> Option<Submitter> {
    // A thread that is being torn down has no thread-local values any more.
    SUBMITTER.try_with(Cell::get).ok().filter(|here| here.tid != 0)
}

/// Passes the calling thread to `act`, if it was seen before. The value is read where it is used.
#[inline(always)]
pub fn with_known<T>(act: impl FnOnce(&Cell<Submitter>) -> T) -> Option<T> {
    SUBMITTER.try_with(|here| (here.get().tid != 0).then(|| act(here))).ok().flatten()
}

#[must_use]
pub fn current() -> Submitter {
    known().unwrap_or_else(|| {
        let here = Submitter { tid: tid(), ..Submitter::default() };
        remember(here);
        here
    })
}

/// Only a recorded thread is remembered, so that a known one is never paused.
fn remember(here: Submitter) {
    if !is_paused() {
        let _ = SUBMITTER.try_with(|cell| cell.set(here));
    }
}

/// Sets the innermost open range of the calling thread; 0 for none.
#[inline]
pub fn set_range(range: u64) {
    remember(Submitter { range, ..current() });
}

/// Sets the innermost recorded call of the calling thread, 0 for none; returns the one before.
#[inline]
pub fn set_call(call: u64) -> u64 {
    // The thread-local value is found by a call, so it is looked up once.
    let known = SUBMITTER.try_with(|cell| {
        let here = cell.get();
        (here.tid != 0).then(|| {
            cell.set(Submitter { call, ..here });
            here.call
        })
    });
    known.ok().flatten().unwrap_or_else(|| {
        let here = current();
        remember(Submitter { call, ..here });
        here.call
    })
}

#[inline]
#[must_use]
pub fn is_paused() -> bool {
    PAUSED.try_with(Cell::get).unwrap_or(false)
}

/// Starts or stops leaving out the calling thread.
pub fn pause(is_paused: bool) {
    let _ = PAUSED.try_with(|cell| cell.set(is_paused));
    let _ = SUBMITTER.try_with(|cell| cell.set(Submitter::default()));
}

/// Called in the child of a fork: the calling thread has another number than the one that it was copied from, and no open range.
pub fn forget() {
    let _ = SUBMITTER.try_with(|cell| cell.set(Submitter::default()));
}

#[expect(unsafe_code, reason = "calls libc")]
fn tid() -> u32 {
    // SAFETY: the call only returns a number and cannot fail.
    unsafe { libc::gettid() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_has_its_own_number() {
        let here = current();
        let there = std::thread::spawn(current).join().unwrap();
        assert_eq!(here, current());
        assert_ne!(here.tid, there.tid);
        assert_eq!(here.range, 0);
    }

    #[test]
    fn a_paused_thread_is_not_known_until_it_is_resumed() {
        set_range(7);
        assert_eq!(known().map(|here| here.range), Some(7));
        pause(true);
        set_range(8);
        assert_eq!((known(), is_paused()), (None, true));
        assert_ne!(current().tid, 0);
        pause(false);
        set_range(9);
        assert_eq!(known().map(|here| here.range), Some(9));
    }

    #[test]
    fn a_thread_that_a_fork_has_made_is_asked_for_its_number_again() {
        let here = current();
        forget();
        assert_eq!(known(), None);
        assert_eq!(current(), here);
    }
}
