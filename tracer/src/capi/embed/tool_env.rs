//! How the ROCm runtime finds its way to this library where nobody has set HSA_TOOLS_LIB.
//!
//! The runtime opens what that variable names when it starts. Newer ones than 5.2 also look through loaded libraries for a
//! certain symbol, but never through the executable, and refuse functions that they find in it under any name
//! (`GetExportAddress` in ROCr's os_linux.cpp). So the variable is the way in on all of them, and a library that is
//! part of an executable has none.

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

/// Has the runtime load this library when it starts. False where it could not.
pub fn open() -> bool {
    let Some(path) = path() else { return false };
    let tools = tools(env::var_os(TOOLS), path.as_os_str());
    // SAFETY: the header asks for this to be called while no other thread reads the environment.
    unsafe { env::set_var(TOOLS, tools) };
    // SAFETY: as above.
    unsafe { env::set_var(MARK, "1") };
    true
}

/// The variable's value with this library in it.
fn tools(before: Option<OsString>, path: &OsStr) -> OsString {
    let mut tools = before.unwrap_or_default();
    if tools.as_bytes().split(|&byte| byte == b' ').any(|tool| tool == path.as_bytes()) {
        return tools;
    }
    if !tools.is_empty() {
        tools.push(" ");
    }
    // Several are separated by spaces.
    let quote = if path.as_bytes().contains(&b' ') { "\"" } else { "" };
    for part in [OsStr::new(quote), path, OsStr::new(quote)] {
        tools.push(part);
    }
    tools
}

/// Where this library is, if the runtime finds its functions by that name.
fn path() -> Option<PathBuf> {
    let ours = load::OnLoad as *const c_void;
    let mut found = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: writes what it is given.
    let is_found = unsafe { libc::dladdr(ours, found.as_mut_ptr()) } != 0;
    // SAFETY: written where it was found.
    let name = is_found.then(|| unsafe { found.assume_init() }.dli_fname).filter(|name| !name.is_null())?;
    // SAFETY: the loader's own text, which stays as long as the library does.
    let name = unsafe { CStr::from_ptr(name) };
    // The process may go to another folder before the runtime starts.
    let path = std::path::absolute(OsStr::from_bytes(name.to_bytes())).ok()?;
    // A library that this is part of stays for good: its threads run on when the program closes it.
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    let library = Loaded::open_with(&name, libc::RTLD_NODELETE)?;
    (library.symbol(c"OnLoad") == ours && !library.symbol(c"OnUnload").is_null()).then_some(path)
}

/// True while the runtime runs.
pub fn is_open_already() -> bool {
    let Some(runtime) = Loaded::open(RUNTIME) else { return false };
    let ask = runtime.symbol(c"hsa_system_get_info");
    // SAFETY: a null pointer is `None`, any other is the runtime's function of that name.
    let ask = unsafe {
        std::mem::transmute::<*const c_void, Option<unsafe extern "C" fn(u32, *mut c_void) -> hsa_status_t>>(
            ask,
        )
    };
    let mut version = 0_u16;
    // SAFETY: the answer is of this type. A runtime that does not run says so.
    ask.is_some_and(
        |ask| unsafe { ask(HSA_SYSTEM_INFO_VERSION_MAJOR, (&raw mut version).cast()) } == HSA_STATUS_SUCCESS,
    )
}

/// A library that the process has.
struct Loaded(*mut c_void);

impl Loaded {
    /// `None` where it has not.
    fn open(name: &CStr) -> Option<Self> {
        Self::open_with(name, 0)
    }

    fn open_with(name: &CStr, more: c_int) -> Option<Self> {
        // SAFETY: a text that ends with a 0; nothing is loaded.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD | more) };
        (!handle.is_null()).then(|| Self(handle))
    }

    fn symbol(&self, name: &CStr) -> *const c_void {
        // SAFETY: an open handle, and a text that ends with a 0.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: opened once, closed once.
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
