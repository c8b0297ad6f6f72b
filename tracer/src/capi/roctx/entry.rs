//! Every function of libroctx64.so.4 and of librocprofiler-sdk-roctx.so.1, under its own name.
//!
//! In roctx.h the names without an A are macros; here they are functions too, for who looks them up. None of them waits,
//! and a panic in one changes nothing but that something is not recorded. An exception of a registered callback is not
//! ours to catch: it passes through those functions that call it.

#![expect(unsafe_code, reason = "called by the application in place of roctx")]

use std::ffi::{c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::callback::{self, Callback, Operation};
use crate::base::counters::{Lost, UNHANDED};
use crate::events::ranges::event::What;
use crate::events::ranges::hooks;
use crate::events::ranges::text::LONGEST;
use crate::lifecycle::{control, load};

/// What was asked for was done.
const DONE: c_int = 0;

/// It cannot be done.
const UNSUPPORTED: c_int = -1;

#[inline]
fn guarded<T>(otherwise: T, act: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|_| {
        UNHANDED.lose(Lost::Failure, 1);
        otherwise
    })
}

/// The bytes of a text, as far as they are kept; none where there is no text.
///
/// # Safety
/// `message` is null or the application's text, which ends with a 0 and outlives the result.
#[inline]
unsafe fn bytes<'a>(message: *const c_char) -> &'a [u8] {
    if message.is_null() {
        return &[];
    }
    // SAFETY: as the caller promised; it looks at nothing behind the 0.
    let length = unsafe { libc::strnlen(message, LONGEST) };
    // SAFETY: the bytes are there.
    unsafe { std::slice::from_raw_parts(message.cast(), length) }
}

/// The version of roctx that this stands in for.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_major() -> u32 {
    4
}

/// The version of roctx that this stands in for.
#[unsafe(no_mangle)]
pub extern "C" fn roctx_version_minor() -> u32 {
    1
}

/// An instant.
///
/// # Safety
/// `message` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxMarkA(message: *const c_char) {
    callback::tell(Operation::Mark, message, 0);
    // SAFETY: as the caller promised.
    guarded((), || hooks::mark(unsafe { bytes(message) }, load::begin_with_ranges));
}

/// As [`roctxMarkA`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxMark(message: *const c_char) {
    // SAFETY: as the caller promised.
    unsafe { roctxMarkA(message) }
}

/// A range begins within those that are open in the thread. How many those are.
///
/// # Safety
/// `message` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangePushA(message: *const c_char) -> c_int {
    callback::tell(Operation::Push, message, 0);
    // SAFETY: as the caller promised.
    guarded(UNSUPPORTED, || hooks::push(unsafe { bytes(message) }, load::begin_with_ranges) as c_int)
}

/// As [`roctxRangePushA`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangePush(message: *const c_char) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { roctxRangePushA(message) }
}

/// The innermost range of the thread ends. What its push has returned; -1 when none is open.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn roctxRangePop() -> c_int {
    callback::tell(Operation::Pop, std::ptr::null(), 0);
    guarded(UNSUPPORTED, || hooks::pop().map_or(UNSUPPORTED, |level| level as c_int))
}

/// A range begins that any thread may end. Its id, from 1.
///
/// # Safety
/// `message` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangeStartA(message: *const c_char) -> u64 {
    // SAFETY: as the caller promised.
    let id = guarded(0, || hooks::start(unsafe { bytes(message) }, load::begin_with_ranges));
    callback::tell(Operation::Start, message, id);
    id
}

/// As [`roctxRangeStartA`].
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn roctxRangeStart(message: *const c_char) -> u64 {
    // SAFETY: as the caller promised.
    unsafe { roctxRangeStartA(message) }
}

/// The range with this id ends; nothing happens when there is none.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn roctxRangeStop(id: u64) {
    callback::tell(Operation::Stop, std::ptr::null(), id);
    guarded((), || hooks::stop(id, load::begin_with_ranges));
}

/// Has a function called at each call of the five above. One at most.
#[unsafe(no_mangle)]
pub extern "C" fn roctxRegisterTracerCallback(callback: Option<Callback>) {
    callback::register(callback);
}

/// Writes the number that the kernel gives the calling thread.
///
/// # Safety
/// `tid` is null or points to where it is to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxGetThreadId(tid: *mut u64) -> c_int {
    if tid.is_null() {
        return UNSUPPORTED;
    }
    let number = guarded(None, || Some(u64::from(crate::events::thread::current().tid)));
    let Some(number) = number else { return UNSUPPORTED };
    // SAFETY: as the caller promised.
    unsafe { *tid = number };
    DONE
}

/// Nothing is recorded until [`roctxProfilerResume`]: of no thread when `tid` is 0, else of the calling one. Another thread
/// cannot be paused.
#[unsafe(no_mangle)]
pub extern "C" fn roctxProfilerPause(tid: u64) -> c_int {
    guarded(UNSUPPORTED, || set_paused(tid, true))
}

/// Ends what [`roctxProfilerPause`] of the same `tid` has begun, and what RTL_START=stopped asks for.
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

/// Names the calling thread.
///
/// # Safety
/// `name` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameOsThread(name: *const c_char) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { give_name(What::NameThread, 0, name) }
}

/// Names an agent.
///
/// # Safety
/// `name` is null or a text that ends with a 0, `agent` null or an `hsa_agent_t`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameHsaAgent(name: *const c_char, agent: *const u64) -> c_int {
    // SAFETY: as the caller promised; an agent is its handle.
    let Some(&handle) = (unsafe { agent.as_ref() }) else { return UNSUPPORTED };
    // SAFETY: as the caller promised.
    unsafe { give_name(What::NameAgent, handle, name) }
}

/// Names a device of HIP.
///
/// # Safety
/// `name` is null or a text that ends with a 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameHipDevice(name: *const c_char, device: c_int) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { give_name(What::NameDevice, device as u64, name) }
}

/// Names a stream of HIP.
///
/// # Safety
/// `name` is null or a text that ends with a 0. Nothing is read through `stream`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn roctxNameHipStream(name: *const c_char, stream: *const c_void) -> c_int {
    // SAFETY: as the caller promised.
    unsafe { give_name(What::NameStream, stream as u64, name) }
}

/// # Safety
/// `name` is null or a text that ends with a 0.
unsafe fn give_name(what: What, number: u64, name: *const c_char) -> c_int {
    // SAFETY: as the caller promised.
    guarded((), || hooks::name(what, number, unsafe { bytes(name) }, load::begin_with_ranges));
    DONE
}
