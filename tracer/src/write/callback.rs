//! The state of callbacks: running, stopped, or in a child that a callback has forked.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::process;

static ARE_STOPPED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_RUNNING: Cell<bool> = const { Cell::new(false) };
}

/// Called in the child of a fork, which may register callbacks for itself.
pub fn forget() {
    ARE_STOPPED.store(false, Ordering::SeqCst);
    let _ = IS_RUNNING.try_with(|is_running| is_running.set(false));
}

/// Prevents further callbacks; one may be running.
pub fn stop() {
    ARE_STOPPED.store(true, Ordering::SeqCst);
}

pub fn are_stopped() -> bool {
    ARE_STOPPED.load(Ordering::SeqCst)
}

/// Runs a callback. Does not return in a child that the callback has forked, because the recorder's data are its parent's.
pub fn run(callback: impl FnOnce()) {
    IS_RUNNING.set(true);
    callback();
    if !IS_RUNNING.replace(false) || process::is_copied() {
        process::leave();
    }
}

/// True in a callback, which must not wait for itself.
pub fn is_running() -> bool {
    IS_RUNNING.get()
}
