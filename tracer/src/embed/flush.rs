//! What a callback may not do, and what is not done to it any more.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether callbacks are no longer called.
static IS_STOPPED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// In the child of a fork, which may register for itself.
pub fn forget() {
    IS_STOPPED.store(false, Ordering::SeqCst);
    let _ = IS_CALLBACK.try_with(|is_callback| is_callback.set(false));
}

/// No callback is called any more; one may be running.
pub fn stop() {
    IS_STOPPED.store(true, Ordering::SeqCst);
}

/// Whether callbacks are no longer called.
pub fn is_stopped() -> bool {
    IS_STOPPED.load(Ordering::SeqCst)
}

/// Calls a function that gets records.
pub fn within_callback(call: impl FnOnce()) {
    IS_CALLBACK.set(true);
    call();
    IS_CALLBACK.set(false);
}

/// Whether the calling thread is in a callback: it would wait for itself.
pub fn is_callback() -> bool {
    IS_CALLBACK.get()
}
