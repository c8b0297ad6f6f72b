//! roctxRegisterTracerCallback, by which roctracer and with it PyTorch's profiler learn of each call.

#![expect(unsafe_code, reason = "calls what another tool has registered")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// Takes the domain, the function's number in it, and the arguments of the call. As with AMD's library, an exception of the
/// callback passes through to the caller of the function.
pub type Callback = unsafe extern "C-unwind" fn(domain: u32, operation: u32, data: *mut c_void) -> c_int;

/// The number of roctx among roctracer's domains.
const DOMAIN: u32 = 6;

/// Functions of roctx in roctracer's order.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Operation {
    /// `roctxMarkA`
    Mark,
    /// `roctxRangePushA`
    Push,
    /// `roctxRangePop`
    Pop,
    /// `roctxRangeStartA`
    Start,
    /// `roctxRangeStop`
    Stop,
}

/// The struct that the last argument of a callback points to.
#[repr(C)]
struct Data {
    message: *const c_char,
    id: u64,
}

static CALLBACK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Replaces the callback; null ends it.
pub fn register(callback: Option<Callback>) {
    let pointer = callback.map_or(ptr::null_mut(), |callback| callback as *mut c_void);
    CALLBACK.store(pointer, Ordering::Release);
}

/// Calls the registered callback, if there is one.
#[inline]
pub fn notify(operation: Operation, message: *const c_char, id: u64) {
    if !CALLBACK.load(Ordering::Relaxed).is_null() {
        notify_now(operation, message, id);
    }
}

#[cold]
fn notify_now(operation: Operation, message: *const c_char, id: u64) {
    let callback = CALLBACK.load(Ordering::Acquire);
    // SAFETY: a null pointer is `None`, any other is the function that `register` was given.
    let callback = unsafe { std::mem::transmute::<*mut c_void, Option<Callback>>(callback) };
    let mut data = Data { message, id };
    if let Some(callback) = callback {
        // SAFETY: the function has this type, and the data live until it returns.
        unsafe { callback(DOMAIN, operation as u32, (&raw mut data).cast()) };
    }
}
