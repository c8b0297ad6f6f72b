//! Programs that open a library of roctx themselves, by any name or path, get this library.
//!
//! Where this library is preloaded, its `dlopen` is called in place of the C library's. It passes every call on, with
//! another name where the name is that of a library of roctx. It leaves no frame of its own behind: the C library looks
//! at its caller, whose RUNPATH and namespace count.

#![expect(unsafe_code, reason = "stands in front of the C library's dlopen")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// This library, which is loaded already: the name that it was linked with (build.rs).
const OURS: &CStr = c"librtl.so";

/// How the names of roctx's libraries begin; a version may follow.
const THEIRS: [&[u8]; 2] = [b"libroctx64.so", b"librocprofiler-sdk-roctx.so"];

/// How a call goes on.
#[repr(C)]
struct Onward {
    /// What is opened.
    name: *const c_char,
    /// The C library's dlopen.
    open: *mut c_void,
}

/// Opens a library as the C library does, and this one in place of roctx.
///
/// # Safety
/// As for the C library's.
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
    // The flags wait on the stack, which that aligns for the call, while it is found out how to go on.
    std::arch::naked_asm!(
        "endbr64",
        "push rsi",
        "call {onward}",
        "pop rsi",
        "mov rdi, rax",
        "jmp rdx",
        onward = sym onward,
    )
}

/// # Safety
/// `name` is null or a text that ends with a 0.
#[cfg(target_arch = "x86_64")]
unsafe extern "C" fn onward(name: *const c_char) -> Onward {
    let open = original();
    // SAFETY: as the caller promised.
    let is_roctx = !name.is_null() && is_roctx(unsafe { CStr::from_ptr(name) }.to_bytes());
    Onward { name: if is_roctx { OURS.as_ptr() } else { name }, open }
}

/// Whether a file of this name is roctx, wherever it is.
fn is_roctx(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    THEIRS.iter().any(|library| {
        name.strip_prefix(*library).is_some_and(|version| version.is_empty() || version.starts_with(b"."))
    })
}

/// The dlopen behind ours.
fn original() -> *mut c_void {
    static ORIGINAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut original = ORIGINAL.load(Ordering::Relaxed);
    if original.is_null() {
        // SAFETY: asks for a symbol of the libraries behind this one.
        original = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
        if original.is_null() {
            original = fails as *mut c_void;
        }
        ORIGINAL.store(original, Ordering::Relaxed);
    }
    original
}

/// A process without any other dlopen cannot open libraries.
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
