//! The file behind every open `/dev/kfd` and render node: one large, sparse file in memory, so that the program's own mmap of an
//! offset in it works.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Bytes of one GPU's doorbells: 1024 of 8 bytes.
pub(crate) const DOORBELL_PAGE: u64 = 8 << 10;

/// Offset of a GPU's doorbells, for each node. The thunk of ROCm 5.2 takes the low half of the first offset that it sees for the
/// place in the page, before it knows how long a page is, so the low half has to be that place alone.
const BETWEEN_DOORBELLS: u64 = 1 << 32;

/// Nodes that can be GPUs.
const NODES: std::ops::RangeInclusive<u64> = 1..=64;

/// Offset of a page of event slots; the thunk only maps it when it has no GPU memory for one.
pub(crate) const EVENT_PAGE: u64 = 1 << 20;

/// Offset of allocations, behind the last doorbell.
pub(crate) const ALLOCATIONS: u64 = 128 * BETWEEN_DOORBELLS;

/// Larger than the allocations of any program; only touched pages take memory.
const SIZE: libc::off_t = 1 << 44;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doorbell {
    pub(crate) node: u32,
    pub(crate) slot: u32,
}

impl Doorbell {
    /// Number of doorbells of a GPU.
    pub(crate) const COUNT: u32 = 1024;

    fn offset(self) -> u64 {
        u64::from(self.slot) * DOORBELL_PAGE / u64::from(Self::COUNT)
    }

    /// Offset of the doorbell in the device's file.
    pub(crate) fn file_offset(self) -> u64 {
        u64::from(self.node) * BETWEEN_DOORBELLS + self.offset()
    }
}

/// The file, and the simulator's own mapping of the doorbells in it.
#[derive(Debug)]
pub(crate) struct Device {
    file: OwnedFd,
    identity: (libc::dev_t, libc::ino_t),
    /// Address of the first page; the others follow.
    doorbells: u64,
}

impl Device {
    pub(crate) fn new() -> Result<Self, String> {
        // SAFETY: the name is a C string.
        let number = unsafe { libc::memfd_create(c"kfd-sim".as_ptr(), libc::MFD_CLOEXEC) };
        if number < 0 {
            return Err(format!("memfd_create: {}", std::io::Error::last_os_error()));
        }
        // SAFETY: the descriptor has just been opened, and nobody else knows it.
        let file = unsafe { OwnedFd::from_raw_fd(number) };
        // SAFETY: the descriptor is open.
        if unsafe { libc::ftruncate(number, SIZE) } != 0 {
            return Err(format!("ftruncate: {}", std::io::Error::last_os_error()));
        }
        let doorbells = map_doorbells(number)?;
        let identity = identity(number).ok_or("fstat of an own file failed")?;
        Ok(Self { file, identity, doorbells })
    }

    /// A descriptor that belongs to the program; -1 with errno set when there is none.
    pub(crate) fn open(&self) -> libc::c_int {
        // SAFETY: the descriptor is open.
        unsafe { libc::fcntl(self.file.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 0) }
    }

    /// True if a descriptor of the program is one of this file.
    pub(crate) fn is_ours(&self, descriptor: libc::c_int) -> bool {
        identity(descriptor) == Some(self.identity)
    }

    /// Address of a doorbell in the simulator's own mapping.
    pub(crate) fn doorbell(&self, place: Doorbell) -> u64 {
        self.doorbells + (u64::from(place.node) - NODES.start()) * DOORBELL_PAGE + place.offset()
    }

    /// Reads bytes whether the program has mapped them or not; `None` when they cannot be read.
    pub(crate) fn read(&self, offset: u64, count: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; count];
        let place = bytes.as_mut_ptr().cast();
        // SAFETY: the descriptor is open, and the buffer has `count` bytes.
        let read = unsafe { libc::pread(self.file.as_raw_fd(), place, count, offset as libc::off_t) };
        (usize::try_from(read) == Ok(count)).then_some(bytes)
    }

    /// Gives the memory behind a range back.
    pub(crate) fn discard(&self, offset: u64, size: u64) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the descriptor is open.
        unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset as i64, size as i64) };
    }
}

/// Makes one mapping of every GPU's doorbells.
fn map_doorbells(file: libc::c_int) -> Result<u64, String> {
    let page = DOORBELL_PAGE as usize;
    let length = page * NODES.count();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: this is a new mapping at a place that the kernel chooses.
    let first = unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_NONE, flags, -1, 0) };
    if first == libc::MAP_FAILED {
        return Err(format!("mmap: {}", std::io::Error::last_os_error()));
    }
    for node in NODES {
        let at = first.wrapping_byte_add(page * (node - NODES.start()) as usize);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED;
        let offset = (node * BETWEEN_DOORBELLS) as libc::off_t;
        // SAFETY: this replaces a part of the mapping above, which nobody knows yet.
        if unsafe { libc::mmap(at, page, access, flags, file, offset) } == libc::MAP_FAILED {
            return Err(format!("mmap of doorbells: {}", std::io::Error::last_os_error()));
        }
    }
    Ok(first as u64)
}

fn identity(descriptor: libc::c_int) -> Option<(libc::dev_t, libc::ino_t)> {
    // SAFETY: zeros are a valid `stat`.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel checks the descriptor and writes one `stat`.
    let result = unsafe { libc::fstat(descriptor, &raw mut status) };
    (result == 0).then_some((status.st_dev, status.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_half_of_a_doorbells_offset_is_its_place_in_the_page() {
        for node in 1..=8 {
            let offset = Doorbell { node, slot: 3 }.file_offset();
            assert_eq!((offset & 0xffff_ffff, offset >> 32), (24, u64::from(node)));
        }
    }

    #[test]
    fn doorbells_of_different_gpus_are_different_memory() {
        let device = Device::new().unwrap();
        let place = |node, slot| device.doorbell(Doorbell { node, slot });
        assert_eq!(place(1, 1) - place(1, 0), 8);
        assert_eq!(place(8, Doorbell::COUNT - 1) + 8 - place(1, 0), 8 * DOORBELL_PAGE);
    }
}
