//! Finds the functions of HIP that the program would have called without this library.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::names::NAMES;

/// The way in which a program finds a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LookupKind {
    /// The loader finds it: the program or a library of it is linked with HIP.
    Linked,
    /// `dlsym` finds it, in a library that the program has opened.
    Opened,
}

/// Beginnings of the names of libraries that have functions of HIP; a version follows.
const LIBRARIES: [&[u8]; 2] = [b"libamdhip64.so", b"libhiprtc.so"];

/// The real functions by kind of lookup and number; null until one is found.
static FOUND: [[AtomicPtr<c_void>; NAMES.len()]; 2] =
    [const { [const { AtomicPtr::new(ptr::null_mut()) }; NAMES.len()] }; 2];

#[inline]
pub(crate) fn find(lookup: LookupKind, number: u16) -> Option<*mut c_void> {
    let found = FOUND[lookup as usize][usize::from(number)].load(Ordering::Acquire);
    if found.is_null() { look_for(lookup, number) } else { Some(found) }
}

/// A library that the program is linked with comes after this one in the loader's order. One that was loaded with an opened
/// library is in no global order and is found by its name.
#[cold]
fn look_for(lookup: LookupKind, number: u16) -> Option<*mut c_void> {
    if lookup == LookupKind::Opened {
        // `dlsym` found the real function before it returned the one that is calling here.
        return None;
    }
    let name = name(number);
    let mut found = symbol(libc::RTLD_NEXT, &name);
    if found.is_null() {
        found = loaded().into_iter().map(|library| symbol(library, &name)).find(|found| !found.is_null())?;
    }
    FOUND[lookup as usize][usize::from(number)].store(found, Ordering::Release);
    Some(found)
}

/// True if this library's function calls `real`, which a lookup in an opened library has found. False where the process opened
/// another HIP before.
pub(crate) fn is_found(number: u16, real: *mut c_void) -> bool {
    let place = &FOUND[LookupKind::Opened as usize][usize::from(number)];
    match place.compare_exchange(ptr::null_mut(), real, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => true,
        Err(other) => other == real,
    }
}

fn name(number: u16) -> std::ffi::CString {
    std::ffi::CString::new(NAMES[usize::from(number)]).unwrap_or_default()
}

fn loaded() -> Vec<*mut c_void> {
    let mut paths: Vec<Vec<u8>> = Vec::new();
    unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, paths: *mut c_void) -> c_int {
        // SAFETY: the loader passes on the vector that `loaded` has given it.
        let paths = unsafe { &mut *paths.cast::<Vec<Vec<u8>>>() };
        // SAFETY: the loader's entry is valid while this callback runs.
        let name = unsafe { (*info).dlpi_name };
        if !name.is_null() {
            // SAFETY: the name is the loader's own C string, valid while this callback runs.
            let path = unsafe { CStr::from_ptr(name) };
            if is_hip(path.to_bytes()) {
                paths.push(path.to_bytes_with_nul().to_vec());
            }
        }
        0
    }
    // SAFETY: the loader calls `each` for each library before this returns, with the vector behind `paths`.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut paths).cast()) };
    let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
    // SAFETY: the path is a C string, and with RTLD_NOLOAD nothing new is loaded.
    let open = |path: &Vec<u8>| unsafe { libc::dlopen(path.as_ptr().cast(), flags) };
    paths.iter().map(open).filter(|library| !library.is_null()).collect()
}

fn is_hip(path: &[u8]) -> bool {
    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    LIBRARIES.iter().any(|library| name.starts_with(library))
}

pub(crate) fn symbol(library: *mut c_void, name: &CStr) -> *mut c_void {
    type Dlsym = unsafe extern "C" fn(*mut c_void, *const std::ffi::c_char) -> *mut c_void;
    let original = original();
    if original.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the symbol `dlsym` has this type.
    let original = unsafe { std::mem::transmute::<*mut c_void, Dlsym>(original) };
    // SAFETY: `library` is an opened library or one of the loader's constants, and `name` a C string.
    unsafe { original(library, name.as_ptr()) }
}

/// The C library's `dlsym`, which comes after this library's in the loader's order.
pub(crate) fn original() -> *mut c_void {
    static ORIGINAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    let mut original = ORIGINAL.load(Ordering::Acquire);
    if original.is_null() {
        // SAFETY: looks a symbol up in the libraries behind this one. Every C library for x86-64 has this version of it.
        original = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), c"GLIBC_2.2.5".as_ptr()) };
        ORIGINAL.store(original, Ordering::Release);
    }
    original
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_hip_are_known_by_their_names() {
        for path in ["libamdhip64.so.7", "/opt/rocm/lib/libamdhip64.so", "a/libhiprtc.so.6.4.43484"] {
            assert!(is_hip(path.as_bytes()), "{path}");
        }
        for path in ["", "libamdhip64.so.7/libc.so", "libhiprtc-builtins.so.6", "my-libamdhip64.so"] {
            assert!(!is_hip(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn there_is_no_hip_in_this_process() {
        assert!(loaded().is_empty());
        assert_eq!(find(LookupKind::Linked, 0), None);
        assert_eq!(find(LookupKind::Opened, 0), None);
    }
}
