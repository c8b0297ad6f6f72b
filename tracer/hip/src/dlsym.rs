//! Serves programs that open HIP themselves and look its functions up, as Python's ctypes does.
//!
//! This library's `dlsym` is called in place of the C library's. Where it is called for another function than one of HIP, it
//! leaves no frame behind: the C library looks at its caller, whose place among the libraries counts for RTLD_NEXT.

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

use crate::names::NAMES;
use crate::real::LookupKind;
use crate::wrap::{linked_functions, opened_functions};
use crate::{real, reporting};

/// Returns this library's functions in place of HIP's, and otherwise the result of the C library's `dlsym`.
///
/// # Safety
/// The requirements are those of the C library's `dlsym`.
#[cfg(all(target_arch = "x86_64", not(test)))]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void {
    // Both arguments are saved on the stack, which they align for the call.
    std::arch::naked_asm!(
        "endbr64",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {choose}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "jmp rax",
        choose = sym choose,
    )
}

/// Chooses the function that the stand-in jumps to.
///
/// # Safety
/// `name` is a C string.
#[cfg_attr(test, expect(dead_code, reason = "only called by the stand-in, which tests do without"))]
unsafe extern "C" fn choose(library: *mut c_void, name: *const c_char) -> *mut c_void {
    let original = real::original();
    if original.is_null() {
        return find_nothing as *mut c_void;
    }
    if name.is_null() {
        return original;
    }
    // SAFETY: the caller promised a C string.
    let name = unsafe { CStr::from_ptr(name) };
    match number(name.to_bytes()) {
        None => original,
        Some(_) if library != libc::RTLD_NEXT => find as *mut c_void,
        // Another tool that stands in for HIP asks for the next function, which need not exist.
        Some(number) if real::find(LookupKind::Linked, number).is_some() => original,
        Some(_) => find_next as *mut c_void,
    }
}

extern "C" fn find_nothing(_library: *mut c_void, _name: *const c_char) -> *mut c_void {
    ptr::null_mut()
}

/// # Safety
/// `name` is a C string.
unsafe extern "C" fn find_next(_library: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the caller promised a C string.
    real::symbol(libc::RTLD_NEXT, unsafe { CStr::from_ptr(name) })
}

fn number(name: &[u8]) -> Option<u16> {
    if !name.starts_with(b"hip") && !name.starts_with(b"__hip") {
        return None;
    }
    let found = NAMES.binary_search_by(|known| known.as_bytes().cmp(name)).ok()?;
    u16::try_from(found).ok()
}

/// # Safety
/// The requirements are those of the C library's `dlsym`, and `name` is a function of the list.
unsafe extern "C" fn find(library: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: the caller promised a C string.
    let name: CString = unsafe { CStr::from_ptr(name) }.to_owned();
    let Some(number) = number(name.to_bytes()) else { return real::symbol(library, &name) };
    let linked = own_function(LookupKind::Linked, number);
    let found = real::symbol(library, &name);
    if found == linked {
        // A lookup in the whole process finds this library, which has the functions of HIP.
        let is_there = real::find(LookupKind::Linked, number).is_some();
        return if is_there { linked } else { real::symbol(libc::RTLD_NEXT, &name) };
    }
    if !found.is_null() && reporting::is_recorded(number) && real::is_found(number, found) {
        return own_function(LookupKind::Opened, number);
    }
    found
}

fn own_function(lookup: LookupKind, number: u16) -> *mut c_void {
    static LINKED: OnceLock<Box<[usize]>> = OnceLock::new();
    static OPENED: OnceLock<Box<[usize]>> = OnceLock::new();
    let addresses =
        |functions: [*mut c_void; NAMES.len()]| functions.iter().map(|&one| one as usize).collect();
    let functions = match lookup {
        LookupKind::Linked => LINKED.get_or_init(|| addresses(linked_functions())),
        LookupKind::Opened => OPENED.get_or_init(|| addresses(opened_functions())),
    };
    functions[usize::from(number)] as *mut c_void
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
