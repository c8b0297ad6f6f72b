//! Lets the ROCm runtime find this library where nobody has set HSA_TOOLS_LIB.
//!
//! The runtime opens the libraries that the variable names when it starts. Newer ones than 5.2 also look through loaded libraries
//! for a certain symbol, but never through the executable, and refuse functions that they find in it under any name
//! (`GetExportAddress` in ROCr's os_linux.cpp). So the variable works with all of them, and a library that is part of an
//! executable cannot be found.

#![expect(unsafe_code, reason = "asks the loader and the runtime, and sets environment variables")]

use std::env;
use std::ffi::{CStr, CString, OsStr, OsString, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use hsa_sys::bindings::{HSA_STATUS_SUCCESS, HSA_SYSTEM_INFO_VERSION_MAJOR, hsa_status_t};

use crate::base::output_sink::MARK;
use crate::lifecycle::load;

/// The variable that names the runtime's tools.
const TOOLS: &str = "HSA_TOOLS_LIB";

/// The HSA runtime of every ROCm so far.
const RUNTIME: &CStr = c"libhsa-runtime64.so.1";

/// Makes the runtime load this library when it starts. False where that is impossible.
pub fn open() -> bool {
    let Some(path) = path() else { return false };
    let tools = tools(env::var_os(TOOLS), path.as_os_str());
    // SAFETY: the header requires that no other thread reads the environment meanwhile.
    unsafe { env::set_var(TOOLS, tools) };
    // SAFETY: no other thread reads the environment, as above.
    unsafe { env::set_var(MARK, "1") };
    true
}

/// Adds this library to the variable's value.
fn tools(before: Option<OsString>, path: &OsStr) -> OsString {
    let mut tools = before.unwrap_or_default();
    if tools.as_bytes().split(|&byte| byte == b' ').any(|tool| tool == path.as_bytes()) {
        return tools;
    }
    if !tools.is_empty() {
        tools.push(" ");
    }
    // The runtime splits the value at spaces.
    let quote = if path.as_bytes().contains(&b' ') { "\"" } else { "" };
    for part in [OsStr::new(quote), path, OsStr::new(quote)] {
        tools.push(part);
    }
    tools
}

/// The path of this library, if the runtime finds its functions by that path.
fn path() -> Option<PathBuf> {
    let ours = load::OnLoad as *const c_void;
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: `dladdr` writes to `found` only.
    let is_found = unsafe { libc::dladdr(ours, found.as_mut_ptr()) } != 0;
    // SAFETY: `dladdr` has written it where it succeeded.
    let name = is_found.then(|| unsafe { found.assume_init() }.dli_fname).filter(|name| !name.is_null())?;
    // SAFETY: the text is the loader's own and stays as long as the library does.
    let name = unsafe { CStr::from_ptr(name) };
    // The process may change its folder before the runtime starts.
    let path = std::path::absolute(OsStr::from_bytes(name.to_bytes())).ok()?;
    // Threads of this library run on when the program closes the library that it is part of, so that must stay loaded.
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    let library = LoadedLibrary::open_with(&name, libc::RTLD_NODELETE)?;
    (library.symbol(c"OnLoad") == ours && !library.symbol(c"OnUnload").is_null()).then_some(path)
}

pub fn is_open_already() -> bool {
    let Some(runtime) = LoadedLibrary::open(RUNTIME) else { return false };
    let get_info = runtime.symbol(c"hsa_system_get_info");
    // SAFETY: a null pointer is `None`, any other is the runtime's function of that name.
    let get_info = unsafe {
        std::mem::transmute::<*const c_void, Option<unsafe extern "C" fn(u32, *mut c_void) -> hsa_status_t>>(
            get_info,
        )
    };
    let mut version = 0_u16;
    // SAFETY: the attribute is of this type. A runtime that does not run returns an error.
    get_info.is_some_and(
        |get_info| unsafe { get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, (&raw mut version).cast()) } == HSA_STATUS_SUCCESS,
    )
}

/// A library that is loaded in this process.
struct LoadedLibrary(*mut c_void);

impl LoadedLibrary {
    /// `None` where the process has not loaded it.
    fn open(name: &CStr) -> Option<Self> {
        Self::open_with(name, 0)
    }

    fn open_with(name: &CStr, more: c_int) -> Option<Self> {
        // SAFETY: the name ends with a 0, and with RTLD_NOLOAD nothing new is loaded.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | more) };
        (!handle.is_null()).then(|| Self(handle))
    }

    fn symbol(&self, name: &CStr) -> *const c_void {
        // SAFETY: the handle is open, and the name ends with a 0.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }
}

impl Drop for LoadedLibrary {
    fn drop(&mut self) {
        // SAFETY: the handle was opened once and is closed once.
        unsafe { libc::dlclose(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_tools_stay_and_none_is_named_twice() {
        let named = |before: Option<&str>, path: &str| tools(before.map(Into::into), OsStr::new(path));
        assert_eq!(named(None, "/lib/librtl.so"), "/lib/librtl.so");
        assert_eq!(named(Some(""), "/lib/librtl.so"), "/lib/librtl.so");
        assert_eq!(named(Some("/a.so /b.so"), "/lib/librtl.so"), "/a.so /b.so /lib/librtl.so");
        assert_eq!(named(Some("/lib/librtl.so /b.so"), "/lib/librtl.so"), "/lib/librtl.so /b.so");
        assert_eq!(named(Some("/a.so"), "/my lib/librtl.so"), "/a.so \"/my lib/librtl.so\"");
    }

    #[test]
    fn a_library_that_is_part_of_an_executable_has_no_door() {
        assert_eq!(path(), None, "this test is one");
    }
}
