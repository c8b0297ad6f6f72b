//! Every function of libroctx64.so.4 and of librocprofiler-sdk-roctx.so.1, under its own name.
//!
//! In roctx.h the names without an A are macros; here they are functions too, for programs that look them up. No function waits.
//! A panic in one only leaves out a record. An exception of a registered callback is not ours to catch: it passes through the
//! functions that call it.

#![expect(unsafe_code, reason = "called by the application in place of roctx")]

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::callback::{self, Callback, Operation};
use crate::base::counters::{Lost, UNHANDED};
use crate::events::ranges::event::RangeEventKind;
use crate::events::ranges::hooks;
use crate::events::ranges::text::LONGEST;
use crate::lifecycle::{control, load};

const DONE: c_int = 0;
const UNSUPPORTED: c_int = -1;

#[inline]
fn guarded<T>(otherwise: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| {
        UNHANDED.lose(Lost::Failure, 1);
        otherwise
    })
}

/// The bytes of a text up to the length that is kept; none where there is no text.
///
/// # Safety
/// `message` is null or the application's text, which ends with a 0 and outlives the result.
#[inline]
unsafe fn bytes<'a>(message: *const c_char) -> &'a [u8] {
    if message.is_null() {
        return &[];
    }
    // SAFETY: the caller promised a text that ends with a 0, and nothing behind the 0 is read.
    let length = unsafe { libc::strnlen(message, LONGEST) };
    // SAFETY: the text has at least this many bytes.
    unsafe { std::slice::from_raw_parts(message.cast(), length) }
}

/// Major version of the roctx that this library stands in for.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_major() -> u32 {
    4
}

/// Minor version of the roctx that this library stands in for.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_minor() -> u32 {
    1
}

/// Records an instant.
///
/// # Safety
/// `message` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxMarkA(message: *const c_char) {
    callback::notify(Operation::Mark, message, 0);
    // SAFETY: the caller promised a text that ends with a 0.
    guarded((), || hooks::mark(unsafe { bytes(message) }, load::begin_with_ranges));
}

/// Does what [`roctxMarkA`] does.
///
/// # Safety
/// The requirements are those of [`roctxMarkA`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxMark(message: *const c_char) {
    // SAFETY: the caller promised the same.
    unsafe { roctxMarkA(message) }
}

/// Begins a range within those that are open in the thread; returns how many those are.
///
/// # Safety
/// `message` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangePushA(message: *const c_char) -> c_int {
    callback::notify(Operation::Push, message, 0);
    // SAFETY: the caller promised a text that ends with a 0.
    guarded(UNSUPPORTED, || hooks::push(unsafe { bytes(message) }, load::begin_with_ranges) as c_int)
}

/// Does what [`roctxRangePushA`] does.
///
/// # Safety
/// The requirements are those of [`roctxRangePushA`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangePush(message: *const c_char) -> c_int {
    // SAFETY: the caller promised the same.
    unsafe { roctxRangePushA(message) }
}

/// Ends the innermost range of the thread; returns what its push returned, or -1 when none is open.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn roctxRangePop() -> c_int {
    callback::notify(Operation::Pop, std::ptr::null(), 0);
    guarded(UNSUPPORTED, || hooks::pop().map_or(UNSUPPORTED, |level| level as c_int))
}

/// Begins a range that any thread may end; returns its id, from 1.
///
/// # Safety
/// `message` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangeStartA(message: *const c_char) -> u64 {
    // SAFETY: the caller promised a text that ends with a 0.
    let id = guarded(0, || hooks::start(unsafe { bytes(message) }, load::begin_with_ranges));
    callback::notify(Operation::Start, message, id);
    id
}

/// Does what [`roctxRangeStartA`] does.
///
/// # Safety
/// The requirements are those of [`roctxRangeStartA`].
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangeStart(message: *const c_char) -> u64 {
    // SAFETY: the caller promised the same.
    unsafe { roctxRangeStartA(message) }
}

/// Ends the range with this id; does nothing when there is none.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn roctxRangeStop(id: u64) {
    callback::notify(Operation::Stop, std::ptr::null(), id);
    guarded((), || hooks::stop(id, load::begin_with_ranges));
}

/// Registers a function that is called at each call of the five above; it replaces the one before.
#[unsafe(no_mangle)]
pub extern "C" fn roctxRegisterTracerCallback(callback: Option<Callback>) {
    callback::register(callback);
}

/// Writes the kernel's number of the calling thread.
///
/// # Safety
/// `tid` is null or points to where the number is to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxGetThreadId(tid: *mut u64) -> c_int {
    if tid.is_null() {
        return UNSUPPORTED;
    }
    let number = guarded(None, || Some(u64::from(crate::events::thread::current().tid)));
    let Some(number) = number else { return UNSUPPORTED };
    // SAFETY: the caller promised room for the number.
    unsafe { *tid = number };
    DONE
}

/// Stops recording until [`roctxProfilerResume`]: of all threads when `tid` is 0, else of the calling one. Another thread cannot
/// be paused.
#[unsafe(no_mangle)]
pub extern "C" fn roctxProfilerPause(tid: u64) -> c_int {
    guarded(UNSUPPORTED, || set_paused(tid, true))
}

/// Ends the pause that [`roctxProfilerPause`] of the same `tid` has begun, and that of RTL_START=stopped.
#[unsafe(no_mangle)]
pub extern "C" fn roctxProfilerResume(tid: u64) -> c_int {
    guarded(UNSUPPORTED, || set_paused(tid, false))
}

fn set_paused(tid: u64, is_paused: bool) -> c_int {
    if tid == 0 {
        control::pause(is_paused);
    } else if tid == u64::from(crate::events::thread::current().tid) {
        hooks::pause(is_paused);
    } else {
        return UNSUPPORTED;
    }
    DONE
}

/// # Safety
/// `name` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameOsThread(name: *const c_char) -> c_int {
    // SAFETY: the caller promised a text that ends with a 0.
    unsafe { give_name(RangeEventKind::NameThread, 0, name) }
}

/// # Safety
/// `name` is null or a text that ends with a 0, `agent` null or an `hsa_agent_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameHsaAgent(name: *const c_char, agent: *const u64) -> c_int {
    // SAFETY: the caller promised an agent, which is its handle.
    let Some(&handle) = (unsafe { agent.as_ref() }) else { return UNSUPPORTED };
    // SAFETY: the caller promised a text that ends with a 0.
    unsafe { give_name(RangeEventKind::NameAgent, handle, name) }
}

/// # Safety
/// `name` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameHipDevice(name: *const c_char, device: c_int) -> c_int {
    // SAFETY: the caller promised a text that ends with a 0.
    unsafe { give_name(RangeEventKind::NameDevice, device as u64, name) }
}

/// # Safety
/// `name` is null or a text that ends with a 0. Nothing is read through `stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameHipStream(name: *const c_char, stream: *const c_void) -> c_int {
    // SAFETY: the caller promised a text that ends with a 0.
    unsafe { give_name(RangeEventKind::NameStream, stream as u64, name) }
}

/// # Safety
/// `name` is null or a text that ends with a 0.
unsafe fn give_name(what: RangeEventKind, number: u64, name: *const c_char) -> c_int {
    // SAFETY: the caller promised a text that ends with a 0.
    guarded((), || hooks::name(what, number, unsafe { bytes(name) }, load::begin_with_ranges));
    DONE
}
