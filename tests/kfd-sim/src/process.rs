//! Which simulator a process has. The child of a fork has none of its parent's, as with the real driver: what it
//! inherited is refused, and what it opens itself is its own. No lock is taken, because another thread of the
//! parent may have held it at the fork.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::simulator::Simulator;

/// Both point to a simulator that is never freed, or to nothing.
static CURRENT: AtomicPtr<Simulator> = AtomicPtr::new(null_mut());
static INHERITED: AtomicPtr<Simulator> = AtomicPtr::new(null_mut());

fn load(place: &AtomicPtr<Simulator>) -> Option<&'static Simulator> {
    // SAFETY: null, or a simulator that is never freed.
    unsafe { place.load(Ordering::Acquire).as_ref() }
}

/// The simulator of this process, made when it is first asked for.
pub(crate) fn simulator(make: impl FnOnce() -> Simulator) -> &'static Simulator {
    if let Some(simulator) = load(&CURRENT) {
        return simulator;
    }
    static WATCHES_FORKS: AtomicBool = AtomicBool::new(false);
    if !WATCHES_FORKS.swap(true, Ordering::AcqRel) {
        // SAFETY: a function that stays, and touches nothing but two words.
        unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    }
    let made = Box::into_raw(Box::new(make()));
    let raced = CURRENT.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
    let kept = raced.err().unwrap_or(made);
    if kept != made {
        // Another thread was faster.
        // SAFETY: made above, and seen by nobody.
        drop(unsafe { Box::from_raw(made) });
    }
    // SAFETY: not null, and what is in `CURRENT` is never freed.
    unsafe { &*kept }
}

/// The simulator of the process that this one was forked from, if that had one.
pub(crate) fn inherited() -> Option<&'static Simulator> {
    load(&INHERITED)
}

/// In the child of a fork: the thread on which time passes stayed in the parent.
extern "C" fn forget() {
    let parents = CURRENT.swap(null_mut(), Ordering::AcqRel);
    if !parents.is_null() {
        INHERITED.store(parents, Ordering::Release);
    }
}
