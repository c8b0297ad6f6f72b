//! The only line of this library on standard error.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

const MISSING: &str = "rtl: HIP calls are not recorded: librtl.so is not preloaded; hint: \
                       LD_PRELOAD=librtl.so:librtl_hip.so, or rtl trace -m hip\n";

static IS_SAID: AtomicBool = AtomicBool::new(false);

/// Warns once where mode hip is set and librtl.so is not among the global libraries of the process.
pub(crate) fn of_missing_tracer() {
    if is_mode_hip() && !IS_SAID.swap(true, Ordering::Relaxed) && takes_a_line() {
        // SAFETY: reads the line, without a lock that a thread may have held at a fork.
        unsafe { libc::write(libc::STDERR_FILENO, MISSING.as_ptr().cast(), MISSING.len()) };
    }
}

fn is_mode_hip() -> bool {
    // SAFETY: the name ends with 0. A program that changes its environment in another thread meanwhile races with the
    // calls of HIP itself, which reads it, too.
    let mode = unsafe { libc::getenv(c"RTL_MODE".as_ptr()) };
    // SAFETY: a variable's value ends with 0.
    !mode.is_null() && unsafe { CStr::from_ptr(mode) } == c"hip"
}

/// Whether a line can be written without waiting for a reader or being killed because there is none.
fn takes_a_line() -> bool {
    let mut asked = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one entry, which outlives the call; it does not wait.
    unsafe { libc::poll(&raw mut asked, 1, 0) };
    asked.revents == libc::POLLOUT
}
