//! The functions of `tracer/include/rtl.h`. A panic in one of them becomes its status.

#![expect(unsafe_code, reason = "called by the program")]

use std::ffi::{CStr, c_char, c_int};
use std::mem::offset_of;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::time::{Duration, Instant};

use super::tool_env;
use crate::base::abi::{ARGUMENTS, Callbacks, Counters, ENQUEUED, Status};
use crate::base::output_sink::{self, Registration};
use crate::base::process;
use crate::base::recording_state;
use crate::base::settings::Mode;
use crate::intercept::context::{self, Context};
use crate::lifecycle::{control, exit_hooks, recording};
use crate::write::{callback, callback_counters};

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

/// # Safety
/// `callbacks` is null or points to as many bytes as its size says, as `rtl.h` requires; no other thread uses the environment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_set_callbacks(callbacks: *const Callbacks) -> Status {
    guarded(|| {
        // SAFETY: the caller promised a struct of the size that it states.
        let callbacks = unsafe { read(callbacks) }?;
        // SAFETY: the caller promised that the struct's text ends with a 0.
        let callbacks = unsafe { registered(callbacks) }?;
        unless(output_sink::registered().is_some(), Status::Registered)?;
        let has_begun = recording::has_begun() || context::get().is_some_and(Context::is_ours);
        unless(has_begun || tool_env::is_open_already(), Status::Late)?;
        unless(!tool_env::open(), Status::Unreachable)?;
        unless(!output_sink::register(callbacks), Status::Registered)?;
        process::own();
        recording_state::renew();
        Ok(())
    })
}

/// Accepts sizes from that of the struct in the first header which declared it up to an implausible one, and only those at which
/// a pointer could begin, so that no pointer is cut.
fn is_possible(size: usize, first: usize) -> bool {
    (first..4096).contains(&size) && size.is_multiple_of(align_of::<Callbacks>())
}

/// Reads the struct of a program that was compiled with any version of the header.
///
/// # Safety
/// The requirements are those of [`rtl_set_callbacks`].
unsafe fn read(callbacks: *const Callbacks) -> Result<Callbacks, Status> {
    unless(callbacks.is_null(), Status::Argument)?;
    // SAFETY: the caller promised that the first field is there, whatever it says.
    let size = unsafe { (*callbacks).size };
    unless(!is_possible(size, offset_of!(Callbacks, barriers)), Status::Argument)?;
    // SAFETY: the caller promised a struct of the size that it states.
    let bytes = unsafe { std::slice::from_raw_parts(callbacks.cast::<u8>(), size) };
    let (known, unknown) = bytes.split_at(size.min(size_of::<Callbacks>()));
    unless(unknown.iter().any(|&byte| byte != 0), Status::Unsupported)?;
    let mut read = Callbacks::default();
    // SAFETY: `known` is no longer than `read`, and they do not overlap. Every field is the program's or 0, since the size cuts
    // none; the pointers are functions of their types, as the caller promised.
    unsafe { ptr::copy_nonoverlapping(known.as_ptr(), (&raw mut read).cast(), known.len()) };
    Ok(read)
}

/// Checks options and mode.
///
/// # Safety
/// `mode` is null or a text that ends with a 0.
unsafe fn registered(callbacks: Callbacks) -> Result<Registration, Status> {
    let Callbacks { mode, options, reserved, .. } = callbacks;
    unless(options & !(ENQUEUED | ARGUMENTS) != 0 || reserved != 0, Status::Unsupported)?;
    let mode = match mode.is_null() {
        true => None,
        false => {
            // SAFETY: the caller promised a text that ends with a 0.
            let name = unsafe { CStr::from_ptr(mode) };
            Some(name.to_str().ok().and_then(Mode::named).ok_or(Status::Argument)?)
        }
    };
    let registered = Registration { callbacks, mode };
    unless(!registered.is_any(), Status::Argument)?;
    Ok(registered)
}

fn after(milliseconds: u32) -> Instant {
    Instant::now() + Duration::from_millis(milliseconds.into())
}

/// Waits until everything that has completed is delivered.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_flush(milliseconds: u32) -> Status {
    guarded(|| {
        unless(callback::is_running(), Status::Callback)?;
        // A file is written often enough without a request.
        let is_delivered =
            output_sink::registered().is_none() || exit_hooks::complete_until(after(milliseconds));
        unless(!is_delivered, Status::Timeout)
    })
}

/// Ends the recording for good.
#[unsafe(no_mangle)]
pub extern "C" fn rtl_stop(milliseconds: u32) -> Status {
    guarded(|| {
        unless(callback::is_running(), Status::Callback)?;
        let deadline = after(milliseconds);
        // A thread that waits for a running kernel may need the collector for it, so that goes on as long as the runtime.
        control::pause(true);
        output_sink::end();
        let is_delivered = exit_hooks::complete_until(deadline);
        callback::stop();
        unless(!(is_delivered && exit_hooks::complete_until(deadline)), Status::Timeout)
    })
}

/// # Safety
/// `into` is null or points to as many bytes as its size says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rtl_get_counters(into: *mut Counters) -> Status {
    guarded(|| {
        unless(into.is_null(), Status::Argument)?;
        // SAFETY: the caller promised that the first field is there.
        let size = unsafe { (*into).size };
        unless(!is_possible(size, offset_of!(Counters, barriers)), Status::Argument)?;
        let now = Counters { size, ..callback_counters::now() };
        // SAFETY: the length is at most that of either side, and any bytes are valid counters.
        unsafe {
            ptr::copy_nonoverlapping((&raw const now).cast::<u8>(), into.cast(), size.min(size_of_val(&now)))
        };
        Ok(())
    })
}

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
        8 => c"the library is older than the program, which asks for something that it does not know",
        _ => c"no such status",
    };
    text.as_ptr()
}

const _: () = assert!(
    align_of::<Callbacks>() == size_of::<*const ()>() && align_of::<Counters>() == align_of::<Callbacks>()
);
