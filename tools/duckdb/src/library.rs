//! Finds and opens the library of DuckDB.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::error::Error as _;
use std::ffi::{CStr, c_void};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::error::{Error, Result, VERSION};
use crate::functions;

/// The file name of the library.
fn name() -> String {
    format!("{DLL_PREFIX}duckdb{DLL_SUFFIX}")
}

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
        None => open(Path::new(&name())).map_err(|error| match error {
            Error::Library { .. } => Error::Missing { name: name() },
            other => other,
        }),
    }
}

/// The version of the opened library: `v1.5.6`.
pub fn version() -> String {
    functions::text(functions::library_version())
}

fn candidates() -> Vec<PathBuf> {
    let (name, program) = (name(), std::env::current_exe().ok());
    let folder = program.as_deref().and_then(Path::parent);
    let beside =
        folder.into_iter().flat_map(|folder| [folder.join(&name), folder.join("../lib").join(&name)]);
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("RTL_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("rtl")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/rtl")));
    beside.chain(cache.map(|cache| cache.join("duckdb").join(VERSION).join(&name))).collect()
}

fn open(path: &Path) -> Result<()> {
    // SAFETY: Constructors of the library run, as those of a linked one do.
    let opened = unsafe { libloading::Library::new(path) };
    let failed = |error: libloading::Error| {
        // Its source is the text of the dynamic linker.
        let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        Error::Library { path: path.to_owned(), reason }
    };
    // It is never closed: its threads may run until the process ends.
    let library = ManuallyDrop::new(opened.map_err(failed)?);
    functions::look_up(path, |name: &CStr| -> *mut c_void {
        // SAFETY: A symbol is taken as a pointer here; its type is for `functions`.
        let symbol = unsafe { library.get::<*mut c_void>(name) };
        symbol.map_or(std::ptr::null_mut(), |symbol| *symbol)
    })
}
