//! Objects that DuckDB keeps for callbacks, and callbacks themselves.

use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A pointer to an object of a trait, whose own pointer takes two words.
pub(crate) fn into_pointer<T: ?Sized>(object: Box<T>) -> *mut c_void {
    Box::into_raw(Box::new(object)).cast()
}

/// The object behind a pointer of [`into_pointer`] that DuckDB has kept.
///
/// # Safety
/// The pointer was made of a `Box<T>` and is not freed.
pub(crate) unsafe fn object<'a, T: ?Sized>(pointer: *mut c_void) -> &'a T {
    // SAFETY: As the caller states.
    unsafe { &*pointer.cast::<Box<T>>() }
}

/// Frees a pointer of [`into_pointer`].
///
/// # Safety
/// The pointer was made of a `Box<T>` and is used no more.
pub(crate) unsafe extern "C" fn delete<T: ?Sized>(pointer: *mut c_void) {
    // SAFETY: DuckDB frees a pointer of `into_pointer` once.
    drop(unsafe { Box::from_raw(pointer.cast::<Box<T>>()) });
}

/// Runs a callback: a panic must not unwind into C++.
pub(crate) fn guarded(run: impl FnOnce() -> std::result::Result<(), String>) -> Option<CString> {
    let result = catch_unwind(AssertUnwindSafe(run));
    let message = result.unwrap_or_else(|_| Err("internal error".to_owned())).err()?;
    Some(CString::new(message.replace('\0', " ")).unwrap_or_default())
}
