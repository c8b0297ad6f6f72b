//! What wakes the recorder, for threads of the application, which hold no channel.

#![expect(unsafe_code, reason = "a pointer that is read by threads of the application at any time")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::collect::batch_channel::Waker;

static WAKER: AtomicPtr<Waker> = AtomicPtr::new(ptr::null_mut());

/// A recorder begins, which this wakes.
pub fn set(waker: Waker) {
    WAKER.store(Box::into_raw(Box::new(waker)), Ordering::Release);
}

/// What wakes the recorder, while there is one.
pub fn get() -> Option<&'static Waker> {
    // SAFETY: null, or what `set` has put there, which is never freed.
    unsafe { WAKER.load(Ordering::Acquire).as_ref() }.filter(|waker| !waker.is_done())
}

/// Has the recorder look before its time.
pub fn wake() {
    if let Some(recorder) = get() {
        recorder.give();
    }
}

/// In the child of a fork: there is no recorder. Allocates and frees nothing.
pub fn forget() {
    WAKER.store(ptr::null_mut(), Ordering::Release);
}
