//! Finds and opens `libduckdb.so`.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::{Error, Result, VERSION};
use crate::functions;

const NAME: &str = "libduckdb.so";

/// Opens the library, once a process: that of `RTL_DUCKDB`, else one beside the program or in its `../lib`, else the one that
/// `scripts/fetch/duckdb` has fetched, else that of the system.
///
/// # Errors
/// Where no library is found, or a found one cannot be used.
pub fn load() -> Result<()> {
    static LOADING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOADING.lock();
    if functions::are_known() {
        return Ok(());
    }
    if let Some(path) = std::env::var_os("RTL_DUCKDB") {
        return open(Path::new(&path));
    }
    match candidates().into_iter().find(|path| path.is_file()) {
        Some(path) => open(&path),
        None => open(Path::new(NAME)).map_err(|error| match error {
            Error::Library { .. } => Error::Missing,
            other => other,
        }),
    }
}

/// The version of the opened library: `v1.5.6`.
pub fn version() -> String {
    functions::text(functions::library_version())
}

fn candidates() -> Vec<PathBuf> {
    let program = std::env::current_exe().ok();
    let folder = program.as_deref().and_then(Path::parent);
    let beside = folder.into_iter().flat_map(|folder| [folder.join(NAME), folder.join("../lib").join(NAME)]);
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("RTL_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("rtl")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/rtl")));
    beside.chain(cache.map(|cache| cache.join("duckdb").join(VERSION).join(NAME))).collect()
}

fn open(path: &Path) -> Result<()> {
    let file = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: The path ends with NUL. Constructors of the library run, as those of a linked one do.
    let library = unsafe { libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_LOCAL) };
    if library.is_null() {
        // SAFETY: After a failure this is a text of the dynamic linker, of this thread.
        let reason = functions::text(unsafe { libc::dlerror() });
        return Err(Error::Library { path: path.to_owned(), reason });
    }
    // It is never closed: its threads may run until the process ends.
    functions::look_up(path, |name: &CStr| -> *mut c_void {
        // SAFETY: The library is open, the name ends with NUL.
        unsafe { libc::dlsym(library, name.as_ptr()) }
    })
}
