//! What is known of the thread that submits.

use std::cell::Cell;

/// A thread of the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Submitter {
    /// The kernel's number of the thread.
    pub tid: u32,
    /// The innermost range that is open in it; 0 for none.
    pub range: u64,
}

thread_local! {
    /// Tid 0 until the thread is seen for the first time.
    static HERE: Cell<Submitter> = const { Cell::new(Submitter { tid: 0, range: 0 }) };
}

/// The calling thread, when it was seen before.
#[inline]
#[must_use]
pub fn known() -> Option<Submitter> {
    // A thread that is being torn down has no memory of its own any more.
    HERE.try_with(Cell::get).ok().filter(|here| here.tid != 0)
}

/// The calling thread.
#[must_use]
pub fn current() -> Submitter {
    known().unwrap_or_else(|| {
        let here = Submitter { tid: tid(), range: 0 };
        let _ = HERE.try_with(|cell| cell.set(here));
        here
    })
}

/// The calling thread is the one that a fork has made: it has another number than the one that it was copied from, and
/// no range is open in it.
pub fn forget() {
    let _ = HERE.try_with(|cell| cell.set(Submitter::default()));
}

#[expect(unsafe_code, reason = "calls libc")]
fn tid() -> u32 {
    // SAFETY: asks for a number and cannot fail.
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
    fn a_thread_that_a_fork_has_made_is_asked_for_its_number_again() {
        let here = current();
        forget();
        assert_eq!(known(), None);
        assert_eq!(current(), here);
    }
}
