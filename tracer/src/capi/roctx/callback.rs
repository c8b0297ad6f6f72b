//! roctxRegisterTracerCallback: who else wants to be told of each call. roctracer does, and with it PyTorch's profiler.

#![expect(unsafe_code, reason = "calls what another tool has registered")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// What is registered: the domain, the function's number in it, and what it was called with. As through AMD's library, an
/// exception of its own passes through to the caller of the function.
pub type Callback = unsafe extern "C-unwind" fn(domain: u32, operation: u32, data: *mut c_void) -> c_int;

/// roctx among roctracer's domains.
const DOMAIN: u32 = 6;

/// The functions in roctracer's order.
#[derive(Clone, Copy, Debug)]
#[repr(u32)]
pub enum Operation {
    /// roctxMarkA.
    Mark,
    /// roctxRangePushA.
    Push,
    /// roctxRangePop.
    Pop,
    /// roctxRangeStartA.
    Start,
    /// roctxRangeStop.
    Stop,
}

/// What a callback finds behind its last argument.
#[repr(C)]
struct Data {
    message: *const c_char,
    id: u64,
}

static CALLBACK: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Registers a callback in place of the one before; null ends it.
pub fn register(callback: Option<Callback>) {
    let pointer = callback.map_or(ptr::null_mut(), |callback| callback as *mut c_void);
    CALLBACK.store(pointer, Ordering::Release);
}

/// Tells of a call, where anyone wants to know.
#[inline]
pub fn tell(operation: Operation, message: *const c_char, id: u64) {
    if !CALLBACK.load(Ordering::Relaxed).is_null() {
        tell_now(operation, message, id);
    }
}

#[cold]
fn tell_now(operation: Operation, message: *const c_char, id: u64) {
    let callback = CALLBACK.load(Ordering::Acquire);
    // SAFETY: a null pointer is `None`, any other is what `register` was given.
    let callback = unsafe { std::mem::transmute::<*mut c_void, Option<Callback>>(callback) };
    let mut data = Data { message, id };
    if let Some(callback) = callback {
        // SAFETY: who registered it wants to be called so, with data that live until it returns.
        unsafe { callback(DOMAIN, operation as u32, (&raw mut data).cast()) };
    }
}
