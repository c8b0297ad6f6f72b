//! The functions of libdrm that the thunk calls, which has no device to open.

#![expect(clippy::missing_safety_doc, reason = "each has the contract of the function that it stands for")]

use std::ffi::{CString, c_char, c_int, c_ulong, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::OnceLock;

use crate::preload::{fail, settings};
use crate::simulator::Simulator;
use crate::topology;

#[cfg_attr(test, expect(non_snake_case, reason = "the name in libdrm"))]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn drmOpenRender(minor: c_int) -> c_int {
    let minor = u32::try_from(minor).unwrap_or(0);
    match topology::node_of_render_minor(settings(), minor) {
        Some(_) => Simulator::get().device.open(),
        None => fail(libc::ENOENT, -1),
    }
}

#[cfg_attr(test, expect(non_snake_case, reason = "the name in libdrm"))]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn drmClose(descriptor: c_int) -> c_int {
    // SAFETY: the descriptor is the program's own.
    unsafe { libc::close(descriptor) }
}

/// Always fails, because no call of a graphics driver is simulated.
#[cfg_attr(test, expect(non_snake_case, reason = "the name in libdrm"))]
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn drmCommandWriteRead(_: c_int, _: c_ulong, _: *mut c_void, _: c_ulong) -> c_int {
    -libc::EINVAL
}

/// A device of libdrm. It has a descriptor of its own, because newer thunks close the one that they gave.
struct DrmDevice(OwnedFd);

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn amdgpu_device_initialize(
    _descriptor: c_int,
    major: *mut u32,
    minor: *mut u32,
    device: *mut *mut c_void,
) -> c_int {
    let number = Simulator::get().device.open();
    if number < 0 {
        return -libc::EMFILE;
    }
    // SAFETY: the descriptor has just been opened, and nobody else knows it.
    let own = unsafe { OwnedFd::from_raw_fd(number) };
    let handle = Box::into_raw(Box::new(DrmDevice(own)));
    // SAFETY: by libdrm's contract this is a place for the result.
    unsafe { major.write(3) };
    // SAFETY: by libdrm's contract this is a place for the result.
    unsafe { minor.write(54) };
    // SAFETY: by libdrm's contract this is a place for the result.
    unsafe { device.write(handle.cast()) };
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn amdgpu_device_initialize2(
    descriptor: c_int,
    _deduplicate: bool,
    major: *mut u32,
    minor: *mut u32,
    device: *mut *mut c_void,
) -> c_int {
    // SAFETY: the contract of the two functions is the same.
    unsafe { amdgpu_device_initialize(descriptor, major, minor, device) }
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn amdgpu_device_deinitialize(device: *mut c_void) -> c_int {
    // SAFETY: by libdrm's contract this is a device from above, given back once.
    drop(unsafe { Box::from_raw(device.cast::<DrmDevice>()) });
    0
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn amdgpu_device_get_fd(device: *mut c_void) -> c_int {
    // SAFETY: by libdrm's contract this is a device from above.
    unsafe { &*device.cast::<DrmDevice>() }.0.as_raw_fd()
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn amdgpu_get_marketing_name(_device: *mut c_void) -> *const c_char {
    static NAME: OnceLock<CString> = OnceLock::new();
    NAME.get_or_init(|| CString::new(settings().model.marketing_name).unwrap_or_default()).as_ptr()
}

/// libdrm's `amdgpu_gpu_info` in its full length, with names for the fields that runtimes read.
#[repr(C)]
struct GpuInfo {
    asic: u32,
    revision: u32,
    external_revision: u32,
    family: u32,
    between: [u32; 14],
    /// In kHz.
    counter_frequency: u32,
    rest: [u32; 85],
}

#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn amdgpu_query_gpu_info(_device: *mut c_void, info: *mut c_void) -> c_int {
    let answer = GpuInfo {
        asic: settings().model.device_id,
        revision: 0,
        external_revision: 0,
        family: settings().model.family,
        between: [0; 14],
        counter_frequency: (crate::clock::TICKS_PER_SECOND / 1_000) as u32,
        rest: [0; 85],
    };
    // SAFETY: by libdrm's contract this is a place for one such structure.
    unsafe { info.cast::<GpuInfo>().write_unaligned(answer) };
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_structure_of_a_gpu_has_the_right_shape() {
        assert_eq!(std::mem::offset_of!(GpuInfo, family), 12);
        assert_eq!(std::mem::offset_of!(GpuInfo, counter_frequency), 72);
        assert_eq!(size_of::<GpuInfo>(), 416);
    }
}
