//! Hooks of starting and ending the runtime, which counts its starts: each library of a process may do both for itself.
//!
//! The first call of `hsa_init` loads this library and the last one of `hsa_shut_down` ends the recording, so neither can be
//! recorded. The others are recorded like any call. The last one is not known exactly, because a thread that starts the runtime
//! while another one is loading it is not seen: a call that may be the last one counts as that, until the runtime has gone on all
//! the same.

#![expect(unsafe_code, reason = "called by the application in place of the runtime")]

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::call_interface::{Function, Source};
use hsa_sys::bindings::{HSA_STATUS_ERROR, HSA_STATUS_SUCCESS, hsa_status_t};
use hsa_sys::table::Number;

use super::call_events;
use crate::base::api::Tables;
use crate::events::calls::sources;
use crate::intercept::context;

const START: u16 = Number::hsa_init as u16;
const END: u16 = Number::hsa_shut_down as u16;

/// A lower bound on the number of starts that were not ended yet.
static STARTS: Starts = Starts(AtomicUsize::new(0));

#[derive(Debug)]
struct Starts(AtomicUsize);

impl Starts {
    /// Called while the runtime is being loaded.
    fn first(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    /// True if a start is not the first one.
    fn is_further(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    fn further(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Called before the runtime is ended; true if it goes on all the same.
    fn end(&self) -> bool {
        let starts =
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |starts| starts.checked_sub(1));
        starts.is_ok_and(|starts| starts > 1)
    }

    /// Called when the runtime has gone on, so there was a start that was not seen.
    fn goes_on(&self) {
        self.0.fetch_max(1, Ordering::Relaxed);
    }
}

/// True if calls of the function are recorded here, not by a thunk.
pub(super) fn is_hooked(number: usize) -> bool {
    [START, END].map(usize::from).contains(&number)
}

/// Called when the runtime has been loaded. Its end is noticed by [`crate::intercept::hooks`].
pub fn install(tables: &Tables) {
    STARTS.first();
    tables.replace_core(|core| core.hsa_init_fn = Some(init));
}

unsafe extern "C" fn init() -> hsa_status_t {
    let Some(original) = context::get().and_then(|tracer| tracer.api.core.hsa_init_fn) else {
        return HSA_STATUS_ERROR;
    };
    // SAFETY: this is the runtime's own function, which was in the table before this one.
    let original = || unsafe { original() };
    if !STARTS.is_further() {
        return original();
    }
    let status = call_recorded(START, original);
    if status == HSA_STATUS_SUCCESS {
        STARTS.further();
    }
    status
}

/// Shuts the runtime down: by `original`, recorded, where others still use it, and by `last` where this may be the last time.
pub fn shut_down(
    original: impl FnOnce() -> hsa_status_t,
    last: impl FnOnce() -> hsa_status_t,
) -> hsa_status_t {
    if STARTS.end() { call_recorded(END, original) } else { last() }
}

/// Called when a shutdown that might have been the last one was not.
pub fn go_on() {
    STARTS.goes_on();
}

fn call_recorded(number: u16, original: impl FnOnce() -> hsa_status_t) -> hsa_status_t {
    if !sources::is_recorded(Function::new(Source::Hsa, number)) {
        return original();
    }
    let begun = call_events::begin(number);
    let status = original();
    call_events::end(&begun, number, status as i32, None);
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_goes_on_until_it_was_ended_as_often_as_it_was_started() {
        let starts = Starts(AtomicUsize::new(0));
        assert!(!starts.is_further(), "this one will load the library");
        starts.first();
        assert!(starts.is_further());
        starts.further();
        starts.further();
        assert_eq!([starts.end(), starts.end(), starts.end()], [true, true, false]);
        assert!(!starts.is_further() && !starts.end(), "it is ended more often than is known of");
        starts.first();
        assert!(!starts.end());
    }

    #[test]
    fn a_start_that_was_not_seen_is_known_of_once_the_runtime_has_gone_on() {
        let starts = Starts(AtomicUsize::new(0));
        starts.first();
        assert!(!starts.end(), "as far as is known this was the last");
        starts.goes_on();
        starts.further();
        assert_eq!([starts.end(), starts.end()], [true, false]);
        starts.first();
        starts.further();
        starts.goes_on();
        assert_eq!([starts.end(), starts.end()], [true, false], "what is known stays");
    }
}
