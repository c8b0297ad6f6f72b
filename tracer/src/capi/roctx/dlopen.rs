//! Gives this library to programs that open a library of roctx themselves, by any name or path.
//!
//! Where this library is preloaded, its `dlopen` is called in place of the C library's. It passes every call on, with this
//! library's name where the name is that of a library of roctx. It leaves no frame of its own behind: the C library looks at its
//! caller, whose RUNPATH and namespace count.

#![expect(unsafe_code, reason = "stands in front of the C library's dlopen")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The name that this library was linked with (build.rs), by which the loader knows that it is loaded already.
const OWN_LIBRARY: &CStr = c"librtl.so";

/// Beginnings of the names of roctx's libraries; a version may follow.
const ROCTX_LIBRARIES: [&[u8]; 2] = [b"libroctx64.so", b"librocprofiler-sdk-roctx.so"];

/// Name and function that a call of `dlopen` goes on with, returned in two registers.
#[repr(C)]
struct Continuation {
    name: *const c_char,
    open: *mut c_void,
}

/// Opens a library as the C library does, and this one in place of roctx.
///
/// # Safety
/// The requirements are those of the C library's `dlopen`.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
    // The flags are saved on the stack, which that aligns for the call.
    std::arch::naked_asm!(
        "endbr64",
        "push rsi",
        "call {continuation}",
        "pop rsi",
        "mov rdi, rax",
        "jmp rdx",
        continuation = sym continuation,
    )
}

/// # Safety
/// `name` is null or a text that ends with a 0.
#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn continuation(name: *const c_char) -> Continuation {
    let open = original();
    // SAFETY: the caller promised a text that ends with a 0.
    let is_roctx = !name.is_null() && is_roctx(unsafe { CStr::from_ptr(name) }.to_bytes());
    Continuation { name: if is_roctx { OWN_LIBRARY.as_ptr() } else { name }, open }
}

/// True if a file of this name is roctx, wherever it is.
fn is_roctx(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    ROCTX_LIBRARIES.iter().any(|library| {
        name.strip_prefix(*library).is_some_and(|version| version.is_empty() || version.starts_with(b"."))
    })
}

fn original() -> *mut c_void {
    static ORIGINAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut original = ORIGINAL.load(Ordering::Relaxed);
    if original.is_null() {
        // SAFETY: looks a symbol up in the libraries behind this one.
        original = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
        if original.is_null() {
            original = fails as *mut c_void;
        }
        ORIGINAL.store(original, Ordering::Relaxed);
    }
    original
}

/// Called in a process without any other dlopen, which cannot open libraries.
extern "C" fn fails(_name: *const c_char, _flags: c_int) -> *mut c_void {
    ptr::null_mut()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roctx_is_known_by_the_name_of_its_file() {
        for path in [
            "libroctx64.so",
            "libroctx64.so.4",
            "/opt/rocm/lib/libroctx64.so.4.1.0",
            "librocprofiler-sdk-roctx.so.0",
            "../lib/librocprofiler-sdk-roctx.so",
        ] {
            assert!(is_roctx(path.as_bytes()), "{path}");
        }
        for path in ["", "libroctx64.so.4/other.so", "libroctx64.sofa", "my-libroctx64.so", "libroctx64"] {
            assert!(!is_roctx(path.as_bytes()), "{path}");
        }
    }
}
