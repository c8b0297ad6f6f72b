//! Functions that the program calls in place of the C library's to open, list and control files. Calls that are not about the
//! simulated driver go on to the real function.
//!
//! `open`, `openat` and `ioctl` are variadic in C. The caller passes variadic arguments in the registers of ordinary ones, so
//! they are ordinary here.

#![expect(clippy::missing_safety_doc, reason = "each has the contract of the function that it stands for")]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};
use std::io::{Seek, Write};
use std::os::fd::{FromRawFd, IntoRawFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::ioctl;
use crate::process;
use crate::settings::Settings;
use crate::simulator::Simulator;
use crate::topology;

/// The real function of a name, as a function of this type; it must exist.
macro_rules! real {
    ($name:ident as $type:ty) => {{
        static REAL: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        let address = *REAL.get_or_init(|| $crate::preload::next(concat!(stringify!($name), "\0")));
        // SAFETY: this is the next definition of a C function of this type.
        unsafe { std::mem::transmute::<usize, $type>(address) }
    }};
}
pub(crate) use real;

/// The next definition of a name, which ends with a zero.
pub(crate) fn next(name: &str) -> usize {
    // SAFETY: the name ends with a zero.
    let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast()) };
    assert!(!address.is_null(), "no {name:?} behind the simulator");
    address as usize
}

type Open = unsafe extern "C" fn(*const c_char, c_int, libc::mode_t) -> c_int;
type OpenAt = unsafe extern "C" fn(c_int, *const c_char, c_int, libc::mode_t) -> c_int;
type OpenStream = unsafe extern "C" fn(*const c_char, *const c_char) -> *mut libc::FILE;
type OpenFolder = unsafe extern "C" fn(*const c_char) -> *mut libc::DIR;
type ReadFolder = unsafe extern "C" fn(*mut libc::DIR) -> *mut libc::dirent;
type CloseFolder = unsafe extern "C" fn(*mut libc::DIR) -> c_int;
type Control = unsafe extern "C" fn(c_int, c_ulong, *mut c_void) -> c_int;

/// The simulator's view of a path.
pub(crate) enum PathKind {
    /// The driver itself, or the render node of one of its GPUs.
    Device,
    /// A folder of the driver's tree.
    Folder,
    /// A file that the driver shows, with its content; `None` when it shows no such file.
    Shown(Option<String>),
    /// A path that is not the driver's.
    Other,
}

pub(crate) fn meaning(path: *const c_char) -> PathKind {
    let Some(path) = text(path) else { return PathKind::Other };
    if path == "/dev/kfd" {
        return PathKind::Device;
    }
    if path == "/sys/module/amdgpu/initstate" {
        return PathKind::Shown(Some("live\n".to_owned()));
    }
    if let Some(minor) = path.strip_prefix("/dev/dri/renderD").and_then(|minor| minor.parse().ok()) {
        let exists = topology::node_of_render_minor(settings(), minor).is_some();
        return if exists { PathKind::Device } else { PathKind::Shown(None) };
    }
    if !topology::owns(path) {
        return PathKind::Other;
    }
    match topology::folder(settings(), path) {
        Some(_) => PathKind::Folder,
        None => PathKind::Shown(topology::file(settings(), path)),
    }
}

pub(crate) fn settings() -> &'static Settings {
    &Simulator::get().settings
}

fn text<'a>(path: *const c_char) -> Option<&'a str> {
    if path.is_null() {
        return None;
    }
    // SAFETY: a path of the program is a C string that lives as long as the call.
    unsafe { CStr::from_ptr(path) }.to_str().ok()
}

pub(crate) fn fail<T>(errno: c_int, result: T) -> T {
    // SAFETY: the C library has such a place for every thread.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: that place is the thread's own.
    unsafe { *place = errno };
    result
}

/// A descriptor to read this text from.
fn descriptor(text: &str) -> Option<c_int> {
    // SAFETY: the name is a C string.
    let number = unsafe { libc::memfd_create(c"kfd-sim".as_ptr(), libc::MFD_CLOEXEC) };
    if number < 0 {
        return None;
    }
    // SAFETY: the descriptor has just been opened, and nobody else knows it.
    let mut file = unsafe { std::fs::File::from_raw_fd(number) };
    file.write_all(text.as_bytes()).and_then(|()| file.rewind()).ok()?;
    Some(file.into_raw_fd())
}

fn open_as(path: *const c_char, real: impl FnOnce() -> c_int) -> c_int {
    match meaning(path) {
        PathKind::Device => Simulator::get().device.open(),
        PathKind::Folder => fail(libc::EISDIR, -1),
        PathKind::Shown(Some(text)) => descriptor(&text).unwrap_or(-1),
        PathKind::Shown(None) => fail(libc::ENOENT, -1),
        PathKind::Other => real(),
    }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    let real = real!(open as Open);
    // SAFETY: the arguments are those of the program.
    open_as(path, || unsafe { real(path, flags, mode) })
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    let real = real!(open64 as Open);
    // SAFETY: the arguments are those of the program.
    open_as(path, || unsafe { real(path, flags, mode) })
}

/// Looks at absolute paths only, because those of the driver's files are.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn openat(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: libc::mode_t,
) -> c_int {
    let real = real!(openat as OpenAt);
    // SAFETY: the arguments are those of the program.
    open_as(path, || unsafe { real(folder, path, flags, mode) })
}

/// Looks at absolute paths only, because those of the driver's files are.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn openat64(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mode: libc::mode_t,
) -> c_int {
    let real = real!(openat64 as OpenAt);
    // SAFETY: the arguments are those of the program.
    open_as(path, || unsafe { real(folder, path, flags, mode) })
}

fn stream_as(real: OpenStream, path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    let number = match meaning(path) {
        PathKind::Device => Simulator::get().device.open(),
        PathKind::Shown(Some(text)) => descriptor(&text).unwrap_or(-1),
        PathKind::Folder => return fail(libc::EISDIR, std::ptr::null_mut()),
        PathKind::Shown(None) => return fail(libc::ENOENT, std::ptr::null_mut()),
        // SAFETY: the arguments are those of the program.
        PathKind::Other => return unsafe { real(path, mode) },
    };
    if number < 0 {
        return std::ptr::null_mut();
    }
    // SAFETY: the descriptor is open, and the mode is the program's.
    unsafe { libc::fdopen(number, mode) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn fopen(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    stream_as(real!(fopen as OpenStream), path, mode)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn fopen64(path: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    stream_as(real!(fopen64 as OpenStream), path, mode)
}

/// rocminfo runs lsmod to see if the driver is loaded, and gets an output that says so.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut libc::FILE {
    let asks =
        text(command).is_some_and(|command| command.starts_with("lsmod") && command.contains("amdgpu"));
    let command = if asks { c"echo amdgpu".as_ptr() } else { command };
    let real = real!(popen as OpenStream);
    // SAFETY: the arguments are the program's, or a constant C string.
    unsafe { real(command, mode) }
}

/// An open folder of the driver's tree, which a `DIR` of the program points to.
struct Listing {
    left: std::vec::IntoIter<String>,
    entry: libc::dirent,
}

/// Open listings by address.
type Listings = HashMap<usize, Box<Listing>>;

/// Makes reading any other folder cost only one load.
static OPEN_LISTINGS: AtomicUsize = AtomicUsize::new(0);

fn listings() -> MutexGuard<'static, Listings> {
    static LISTINGS: OnceLock<Mutex<Listings>> = OnceLock::new();
    LISTINGS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut libc::DIR {
    let Some(shown) = text(path).filter(|path| topology::owns(path)) else {
        let real = real!(opendir as OpenFolder);
        // SAFETY: the argument is the program's.
        return unsafe { real(path) };
    };
    let Some(names) = topology::folder(settings(), shown) else {
        return fail(libc::ENOENT, std::ptr::null_mut());
    };
    // SAFETY: zeros are a valid entry.
    let entry = unsafe { std::mem::zeroed() };
    let mut listing = Box::new(Listing { left: names.into_iter(), entry });
    let address: *mut Listing = &raw mut *listing;
    listings().insert(address as usize, listing);
    OPEN_LISTINGS.fetch_add(1, Ordering::AcqRel);
    address.cast()
}

fn read_as(real: ReadFolder, folder: *mut libc::DIR) -> *mut libc::dirent {
    if OPEN_LISTINGS.load(Ordering::Acquire) > 0
        && let Some(listing) = listings().get_mut(&(folder as usize))
    {
        let Some(name) = listing.left.next() else { return std::ptr::null_mut() };
        let entry = &mut listing.entry;
        // This can be any number but 0, which marks an entry to skip.
        entry.d_ino = 1;
        entry.d_type = libc::DT_DIR;
        entry.d_name.fill(0);
        for (place, byte) in entry.d_name.iter_mut().zip(name.bytes()) {
            *place = byte as c_char;
        }
        return &raw mut *entry;
    }
    // SAFETY: the argument is the program's.
    unsafe { real(folder) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn readdir(folder: *mut libc::DIR) -> *mut libc::dirent {
    read_as(real!(readdir as ReadFolder), folder)
}

/// On this machine the longer entry is the same.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn readdir64(folder: *mut libc::DIR) -> *mut libc::dirent {
    read_as(real!(readdir64 as ReadFolder), folder)
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn closedir(folder: *mut libc::DIR) -> c_int {
    if OPEN_LISTINGS.load(Ordering::Acquire) > 0 && listings().remove(&(folder as usize)).is_some() {
        OPEN_LISTINGS.fetch_sub(1, Ordering::AcqRel);
        return 0;
    }
    let real = real!(closedir as CloseFolder);
    // SAFETY: the argument is the program's.
    unsafe { real(folder) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn ioctl(descriptor: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    let letter = request >> 8 & 0xff;
    let is_drivers = letter == c_ulong::from(b'K');
    if is_drivers && process::inherited().is_some_and(|parents| parents.device.is_ours(descriptor)) {
        return fail(libc::EBADF, -1);
    }
    if is_drivers && Simulator::get().device.is_ours(descriptor) {
        // SAFETY: the program passes this argument to its driver.
        let answer = unsafe { ioctl::answer(Simulator::get(), request, argument.cast()) };
        return answer.map_or_else(|errno| fail(errno, -1), |()| 0);
    }
    let real = real!(ioctl as Control);
    // SAFETY: the arguments are those of the program.
    unsafe { real(descriptor, request, argument) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_the_driver_mean_something() {
        assert!(matches!(meaning(c"/dev/kfd".as_ptr()), PathKind::Device));
        assert!(matches!(meaning(c"/dev/dri/renderD999".as_ptr()), PathKind::Shown(None)));
        assert!(matches!(meaning(c"/etc/passwd".as_ptr()), PathKind::Other));
    }
}
