//! Prints the only line that this library writes to standard error.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

const MISSING: &str = "rtl: HIP calls are not recorded: librtl.so is not preloaded; hint: \
                       LD_PRELOAD=librtl.so:librtl_hip.so, or rtl trace -m hip\n";

static IS_SAID: AtomicBool = AtomicBool::new(false);

/// Warns once where mode hip is set and librtl.so is not among the global libraries of the process.
pub(crate) fn of_missing_tracer() {
    if is_mode_hip() && !IS_SAID.swap(true, Ordering::Relaxed) && takes_a_line() {
        // SAFETY: the bytes are a constant. Unlike `eprintln`, this takes no lock that a thread may have held at a fork.
        unsafe { libc::write(libc::STDERR_FILENO, MISSING.as_ptr().cast(), MISSING.len()) };
    }
}

fn is_mode_hip() -> bool {
    // SAFETY: the name is a C string. A program that changes its environment in another thread meanwhile races with the calls of
    // HIP itself, which reads it, too.
    let mode = unsafe { libc::getenv(c"RTL_MODE".as_ptr()) };
    // SAFETY: the value of a variable is a C string.
    !mode.is_null() && unsafe { CStr::from_ptr(mode) } == c"hip"
}

/// True if a line can be written without waiting for a reader or being killed because there is none.
fn takes_a_line() -> bool {
    let mut poll = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: there is one entry, which outlives the call; with a timeout of 0 it does not wait.
    unsafe { libc::poll(&raw mut poll, 1, 0) };
    poll.revents == libc::POLLOUT
}
