//! Assigns a simulator to each process. The child of a fork does not use that of its parent, as with the real driver: inherited
//! files are refused, and files that it opens itself are its own. No lock is taken, because another thread of the parent may have
//! held it at the fork.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::simulator::Simulator;

/// Both pointers are null or to a simulator that is never freed.
static CURRENT: AtomicPtr<Simulator> = AtomicPtr::new(null_mut());
static INHERITED: AtomicPtr<Simulator> = AtomicPtr::new(null_mut());

fn load(place: &AtomicPtr<Simulator>) -> Option<&'static Simulator> {
    // SAFETY: the pointer is null or to a simulator that is never freed.
    unsafe { place.load(Ordering::Acquire).as_ref() }
}

/// The simulator of this process, which the first call makes.
pub(crate) fn simulator(make: impl FnOnce() -> Simulator) -> &'static Simulator {
    if let Some(simulator) = load(&CURRENT) {
        return simulator;
    }
    static WATCHES_FORKS: AtomicBool = AtomicBool::new(false);
    if !WATCHES_FORKS.swap(true, Ordering::AcqRel) {
        // SAFETY: the function stays loaded, and touches only two words.
        unsafe { libc::pthread_atfork(None, None, Some(forget)) };
    }
    let made = Box::into_raw(Box::new(make()));
    let raced = CURRENT.compare_exchange(null_mut(), made, Ordering::AcqRel, Ordering::Acquire);
    let kept = raced.err().unwrap_or(made);
    if kept != made {
        // Another thread was faster.
        // SAFETY: the simulator was made above, and nobody else has seen it.
        drop(unsafe { Box::from_raw(made) });
    }
    // SAFETY: the pointer is not null, and simulators in `CURRENT` are never freed.
    unsafe { &*kept }
}

/// The simulator of the process that this one was forked from, if that had one.
pub(crate) fn inherited() -> Option<&'static Simulator> {
    load(&INHERITED)
}

/// Called in the child of a fork, because the thread on which time passes stayed in the parent.
extern "C" fn forget() {
    let parents = CURRENT.swap(null_mut(), Ordering::AcqRel);
    if !parents.is_null() {
        INHERITED.store(parents, Ordering::Release);
    }
}
