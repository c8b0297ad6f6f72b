//! Functions that return the status of a file without opening it, for the files that the driver shows.

#![expect(clippy::missing_safety_doc, reason = "each has the contract of the function that it stands for")]

use std::ffi::{c_char, c_int};

use crate::preload::{PathKind, fail, meaning, real};

/// The major numbers of /dev/kfd, which the kernel chooses, and of graphics devices.
const KFD_MAJOR: u32 = 235;

type Status = unsafe extern "C" fn(*const c_char, *mut libc::stat) -> c_int;
type StatusAt = unsafe extern "C" fn(c_int, *const c_char, *mut libc::stat, c_int) -> c_int;
type Access = unsafe extern "C" fn(*const c_char, c_int) -> c_int;
type AccessAt = unsafe extern "C" fn(c_int, *const c_char, c_int, c_int) -> c_int;

/// Kind and permissions of the driver's file at a path: `None` for a path that is not the driver's, an error number of the kernel
/// where there is no file.
fn mode(path: *const c_char) -> Option<Result<libc::mode_t, c_int>> {
    match meaning(path) {
        PathKind::Device => Some(Ok(libc::S_IFCHR | 0o666)),
        PathKind::Folder => Some(Ok(libc::S_IFDIR | 0o555)),
        PathKind::Shown(Some(_)) => Some(Ok(libc::S_IFREG | 0o444)),
        PathKind::Shown(None) => Some(Err(libc::ENOENT)),
        PathKind::Other => None,
    }
}

/// Fills the caller's structure, or lets the real function do it.
fn status(path: *const c_char, place: *mut libc::stat, real: impl FnOnce() -> c_int) -> c_int {
    let mode = match mode(path) {
        Some(Ok(mode)) => mode,
        Some(Err(errno)) => return fail(errno, -1),
        None => return real(),
    };
    // SAFETY: zeros are a valid status.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    status.st_mode = mode;
    status.st_nlink = 1;
    status.st_blksize = 4096;
    if mode & libc::S_IFMT == libc::S_IFCHR {
        status.st_rdev = libc::makedev(KFD_MAJOR, 0);
    }
    // SAFETY: this is the caller's place for one status.
    unsafe { place.write(status) };
    0
}

/// 0 if the caller has these rights on a driver's file, or the result of the real function.
fn access_as(path: *const c_char, wanted: c_int, real: impl FnOnce() -> c_int) -> c_int {
    match mode(path) {
        // All users have the same rights, and the last three bits have the order of the caller's.
        Some(Ok(mode)) if wanted & !(mode as c_int) & 0o7 == 0 => 0,
        Some(Ok(_)) => fail(libc::EACCES, -1),
        Some(Err(errno)) => fail(errno, -1),
        None => real(),
    }
}

/// Defines functions of the C library that return a status. On this machine the longer structure is the same.
macro_rules! status_functions {
    ($($name:ident),*) => {$(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name(path: *const c_char, place: *mut libc::stat) -> c_int {
            let real = real!($name as Status);
            // SAFETY: the arguments are those of the program.
            status(path, place, || unsafe { real(path, place) })
        }
    )*};
}

/// Defines functions that take a folder's descriptor. The driver's files have absolute paths, so it is not used for them.
macro_rules! status_at_functions {
    ($($name:ident),*) => {$(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name(
            folder: c_int,
            path: *const c_char,
            place: *mut libc::stat,
            flags: c_int,
        ) -> c_int {
            let real = real!($name as StatusAt);
            // SAFETY: the arguments are those of the program.
            status(path, place, || unsafe { real(folder, path, place, flags) })
        }
    )*};
}

status_functions!(stat, stat64, lstat, lstat64);
status_at_functions!(fstatat, fstatat64);

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn access(path: *const c_char, wanted: c_int) -> c_int {
    let real = real!(access as Access);
    // SAFETY: the arguments are those of the program.
    access_as(path, wanted, || unsafe { real(path, wanted) })
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn faccessat(folder: c_int, path: *const c_char, wanted: c_int, flags: c_int) -> c_int {
    let real = real!(faccessat as AccessAt);
    // SAFETY: the arguments are those of the program.
    access_as(path, wanted, || unsafe { real(folder, path, wanted, flags) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_driver_shows_is_a_device_a_folder_or_a_file() {
        let kind =
            |path: &std::ffi::CStr| mode(path.as_ptr()).map(|mode| mode.map(|mode| mode & libc::S_IFMT));
        assert_eq!(kind(c"/dev/kfd"), Some(Ok(libc::S_IFCHR)));
        assert_eq!(kind(c"/sys/class/kfd/kfd/topology/nodes/1"), Some(Ok(libc::S_IFDIR)));
        assert_eq!(kind(c"/sys/class/kfd/kfd/topology/nodes/1/name"), Some(Ok(libc::S_IFREG)));
        assert_eq!(kind(c"/sys/class/kfd/kfd/topology/nodes/9"), Some(Err(libc::ENOENT)));
        assert_eq!(kind(c"/"), None);
    }

    #[test]
    fn a_device_can_be_written_and_a_file_of_the_driver_cannot() {
        let accessed = |path: &std::ffi::CStr, wanted| access_as(path.as_ptr(), wanted, || 7);
        assert_eq!(accessed(c"/dev/kfd", libc::R_OK | libc::W_OK), 0);
        assert_eq!(accessed(c"/sys/class/kfd/kfd/topology/generation_id", libc::R_OK), 0);
        assert_eq!(accessed(c"/sys/class/kfd/kfd/topology/generation_id", libc::W_OK), -1);
        assert_eq!(accessed(c"/etc", libc::F_OK), 7);
    }
}
