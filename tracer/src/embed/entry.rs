//! The functions of `include/rtl.h`. A panic in one is its answer.

#![expect(unsafe_code, reason = "called by the program")]

use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::abi::{Callbacks, Counters, Status};
use super::role::{self, Registered};
use super::{callback, counters, door};
use crate::settings::Mode;
use crate::{control, leave, process, recording, tracer};

fn guarded(act: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(status)) => status,
        Err(_) => Status::Failure,
    }
}

fn unless(is_wrong: bool, status: Status) -> Result<(), Status> {
    if is_wrong { Err(status) } else { Ok(()) }
}

/// Registers callbacks.
///
/// # Safety
/// `callbacks` is null or points to as many bytes as it says, as `rtl.h` asks for; no other thread uses the environment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_set_callbacks(callbacks: *const Callbacks) -> Status {
    guarded(|| {
        // SAFETY: as the caller promised.
        let callbacks = unsafe { registered(callbacks) }.ok_or(Status::Argument)?;
        unless(role::registered().is_some(), Status::Registered)?;
        let has_begun = recording::has_begun() || tracer::get().is_some_and(tracer::Tracer::is_ours);
        unless(has_begun || door::is_open_already(), Status::Late)?;
        unless(!door::open(), Status::Unreachable)?;
        unless(!role::register(callbacks), Status::Registered)?;
        process::own();
        control::renew();
        Ok(())
    })
}

/// What was asked for; `None` where that makes no sense.
///
/// # Safety
/// As for [`rtl_set_callbacks`].
unsafe fn registered(callbacks: *const Callbacks) -> Option<Registered> {
    // SAFETY: as the caller promised; whatever `size` says, it is there.
    let size = if callbacks.is_null() { 0 } else { unsafe { (*callbacks).size } };
    if size != size_of::<Callbacks>() {
        return None;
    }
    // SAFETY: it is as large as it says.
    let Callbacks { size: _, data, mode, kernels, copies, ranges, calls } = unsafe { *callbacks };
    let mode = match mode.is_null() {
        true => None,
        // SAFETY: as the caller promised, a text that ends with a 0.
        false => Some(Mode::named(unsafe { CStr::from_ptr(mode) }.to_str().ok()?)?),
    };
    let is_any = kernels.is_some() || copies.is_some() || ranges.is_some() || calls.is_some();
    is_any.then_some(Registered { data, mode, kernels, copies, ranges, calls })
}

fn after(milliseconds: u32) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds.into())
}

/// Has everything delivered that has completed.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_flush(milliseconds: u32) -> Status {
    guarded(|| {
        unless(callback::is_running(), Status::Callback)?;
        // A file is up to date soon enough by itself.
        let is_delivered = role::registered().is_none() || leave::settle_until(after(milliseconds));
        unless(!is_delivered, Status::Timeout)
    })
}

/// Ends the recording for good.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_stop(milliseconds: u32) -> Status {
    guarded(|| {
        unless(callback::is_running(), Status::Callback)?;
        let deadline = after(milliseconds);
        // Whoever waits for a kernel that still runs may need the collector for it, so that goes on as long as the runtime.
        control::pause(true);
        role::end();
        let is_delivered = leave::settle_until(deadline);
        callback::stop();
        unless(!(is_delivered && leave::settle_until(deadline)), Status::Timeout)
    })
}

/// What became of everything.
///
/// # Safety
/// `into` is null or points to as many bytes as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_get_counters(into: *mut Counters) -> Status {
    guarded(|| {
        unless(into.is_null(), Status::Argument)?;
        // SAFETY: as the caller promised.
        unless(unsafe { (*into).size } != size_of::<Counters>(), Status::Argument)?;
        // SAFETY: as large as that.
        unsafe { *into = counters::now() };
        Ok(())
    })
}

/// What a status means.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_status_text(status: c_int) -> *const c_char {
    let text = match status {
        0 => c"ok",
        1 => c"an argument is missing or makes no sense",
        2 => c"too late: the ROCm runtime runs already, or something has been recorded",
        3 => c"callbacks are registered already",
        4 => {
            c"the ROCm runtime cannot load this library: it is part of an executable, or hides its functions"
        }
        5 => c"not done in time",
        6 => c"called by a callback",
        7 => c"the tracer failed",
        _ => c"no such status",
    };
    text.as_ptr()
}
