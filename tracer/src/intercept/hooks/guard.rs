//! The frame of every hook: a panic in the tracer's part ends the recording, and the call goes on to the runtime.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hsa_sys::bindings::hsa_signal_t;

use crate::base::fault;
use crate::intercept::context::{self, Context};

/// Runs the tracer's part while the recording lasts; a panic in it ends the recording and nothing else. Afterwards no hook takes
/// a lock, because the thread that ends the process may have interrupted one that holds it.
pub(super) fn guarded<T>(part: impl FnOnce(&'static Context) -> T) -> Option<T> {
    let tracer = context::get().filter(|tracer| tracer.shared.is_recording())?;
    caught(tracer, || {
        fault::point("hook");
        Some(part(tracer))
    })
}

/// Runs the tracer's part even after the recording; a panic in it ends the recording and nothing else.
#[inline]
pub(super) fn caught<T>(tracer: &'static Context, part: impl FnOnce() -> Option<T>) -> Option<T> {
    let part = || {
        fault::point("any-hook");
        part()
    };
    catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| {
        tracer.shared.fail();
        None
    })
}

/// Calls the runtime's own function, which was there when the hook was installed.
macro_rules! original {
    ($($function:ident).+ ( $($argument:expr),* $(,)? )) => {
        match $crate::intercept::context::get().and_then(|tracer| tracer.api.$($function).+) {
            // SAFETY: the arguments are the caller's, passed on unchanged.
            Some(function) => unsafe { function($($argument),*) },
            None => hsa_sys::bindings::HSA_STATUS_ERROR,
        }
    };
}

pub(super) use original;

/// Called when the application uses the signal for something else than a kernel that the tracer watches.
pub(super) fn release(signal: hsa_signal_t) {
    if signal.handle != 0 {
        guarded(|tracer| tracer.shared.release(signal.handle));
    }
}
