//! Programs that open HIP themselves and ask it for functions, as Python's ctypes does.
//!
//! This library's `dlsym` is called in place of the C library's. Where it is not asked for a function of HIP, it leaves no
//! frame behind: the C library looks at its caller, whose place among the libraries counts for RTLD_NEXT.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

use crate::functions::{NAMES, linked_ones, opened_ones};
use crate::wrap::LookupKind;
use crate::{real, telling};

/// Finds what the C library's finds, and in place of HIP's functions those of this library.
///
/// # Safety
/// As for the C library's.
#[cfg(all(target_arch = "x86_64", not(test)))]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void {
    // Both arguments wait on the stack, which is aligned for the call.
    std::arch::naked_asm!(
        "endbr64",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {onward}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        onward = sym onward,
    )
}

/// The function that answers.
///
/// # Safety
/// `name` is a text of C.
#[cfg_attr(test, expect(dead_code, reason = "only called by the stand-in, which tests do without"))]
unsafe extern "C" fn onward(library: *mut c_void, name: *const c_char) -> *mut c_void {
    let original = real::original();
    if original.is_null() {
        return nothing as *mut c_void;
    }
    if name.is_null() {
        return original;
    }
    // SAFETY: as the caller promised.
    let name = unsafe { CStr::from_ptr(name) };
    match number(name.to_bytes()) {
        None => original,
        Some(_) if library != libc::RTLD_NEXT => find as *mut c_void,
        // Another tool that stands in for HIP asks for what comes behind it, perhaps for what is not there.
        Some(number) if real::find(LookupKind::Linked, number).is_some() => original,
        Some(_) => behind as *mut c_void,
    }
}

extern "C" fn nothing(_library: *mut c_void, _name: *const c_char) -> *mut c_void {
    ptr::null_mut()
}

/// # Safety
/// `name` is a text of C.
unsafe extern "C" fn behind(_library: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: as the caller promised.
    real::symbol(libc::RTLD_NEXT, unsafe { CStr::from_ptr(name) })
}

/// The number of a function of HIP.
fn number(name: &[u8]) -> Option<u16> {
    if !name.starts_with(b"hip") && !name.starts_with(b"__hip") {
        return None;
    }
    // The list is in order.
    let found = NAMES.binary_search_by(|known| known.as_bytes().cmp(name)).ok()?;
    u16::try_from(found).ok()
}

/// Answers who asks for a function of HIP.
///
/// # Safety
/// As for the C library's `dlsym`, with the name of a function of the list.
unsafe extern "C" fn find(library: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: as the caller promised.
    let name: CString = unsafe { CStr::from_ptr(name) }.to_owned();
    let Some(number) = number(name.to_bytes()) else { return real::symbol(library, &name) };
    let linked = ours(LookupKind::Linked, number);
    let found = real::symbol(library, &name);
    if found == linked {
        // A lookup in the whole process finds this library, which has what HIP has.
        let is_there = real::find(LookupKind::Linked, number).is_some();
        return if is_there { linked } else { real::symbol(libc::RTLD_NEXT, &name) };
    }
    if !found.is_null() && telling::tells(number) && real::is_found(number, found) {
        return ours(LookupKind::Opened, number);
    }
    found
}

/// This library's function with this number.
fn ours(lookup: LookupKind, number: u16) -> *mut c_void {
    static LINKED: OnceLock<Box<[usize]>> = OnceLock::new();
    static OPENED: OnceLock<Box<[usize]>> = OnceLock::new();
    let addresses = |ones: [*mut c_void; NAMES.len()]| ones.iter().map(|&one| one as usize).collect();
    let ones = match lookup {
        LookupKind::Linked => LINKED.get_or_init(|| addresses(linked_ones())),
        LookupKind::Opened => OPENED.get_or_init(|| addresses(opened_ones())),
    };
    ones[usize::from(number)] as *mut c_void
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_hip_are_found_by_name_and_no_others() {
        for (at, name) in NAMES.iter().enumerate() {
            assert_eq!(number(name.as_bytes()), u16::try_from(at).ok(), "{name}");
        }
        for name in ["", "hip", "hipMallo", "hipMallocs", "malloc", "hipStartOfSomethingNew"] {
            assert_eq!(number(name.as_bytes()), None, "{name}");
        }
    }
}
