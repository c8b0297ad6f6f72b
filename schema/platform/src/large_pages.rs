//! Memory in large pages, which only Linux gives on request.

/// The size of a large page in bytes.
const PAGE: usize = 2 << 20;

/// Less memory has few large pages in it.
const LEAST: usize = 2 * PAGE;

/// The same vector, whose memory the system takes in large pages where it has such: it then clears and maps one instead of 512. For
/// memory that is not written yet; of a short vector nothing changes.
#[must_use]
pub fn wanted<T>(vector: Vec<T>) -> Vec<T> {
    if vector.capacity().saturating_mul(size_of::<T>()) >= LEAST && advice::is_worth_it() {
        advice::give(&vector);
    }
    vector
}

/// Makes room for `capacity` values altogether, in such memory where there is less.
pub fn reserve_to<T>(values: &mut Vec<T>, capacity: usize) {
    if values.capacity() < capacity {
        let first = std::mem::replace(values, wanted(Vec::with_capacity(capacity)));
        values.extend(first);
    }
}

#[cfg(not(target_os = "linux"))]
mod advice {
    pub(super) fn is_worth_it() -> bool {
        false
    }

    pub(super) fn give<T>(_: &Vec<T>) {}
}

#[cfg(target_os = "linux")]
mod advice {
    use std::path::Path;
    use std::sync::OnceLock;

    use rustix::mm::{Advice, madvise};

    use super::PAGE;

    /// Whether a large page costs less than the small ones.
    pub(super) fn is_worth_it() -> bool {
        static IS_WORTH_IT: OnceLock<bool> = OnceLock::new();
        *IS_WORTH_IT.get_or_init(|| !gives_back(Path::new("/sys/bus/virtio/devices")))
    }

    /// Advises the system, whose refusal leaves small pages. The vector has two large pages or more.
    #[expect(unsafe_code, reason = "rustix states the advice for addresses")]
    pub(super) fn give<T>(vector: &Vec<T>) {
        let memory = vector.as_ptr().cast_mut().cast::<u8>();
        let bytes = vector.capacity() * size_of::<T>();
        let before = memory.align_offset(PAGE);
        let pages = bytes.saturating_sub(before) / PAGE;
        let first = memory.wrapping_add(before);
        // SAFETY: the pages lie within the memory of the vector, and the advice changes the content of no byte.
        let _refused = unsafe { madvise(first.cast(), pages * PAGE, Advice::LinuxHugepage) };
    }

    /// Whether this is a virtual machine that reports free memory to its host, which takes it back in pieces of a large page. The next use
    /// of such a piece waits for the host, ten times as long as for the small pages that the machine has kept. The id of the device
    /// and the bit of its feature are those of the specification of virtio, section 5.5.
    pub(super) fn gives_back(devices: &Path) -> bool {
        const BALLOON: &str = "0x0005";
        const REPORTS_FREE_PAGES: usize = 5;
        let gives_back = |device: &Path| {
            let read = |name| std::fs::read_to_string(device.join(name)).unwrap_or_default();
            read("device").trim() == BALLOON
                && read("features").as_bytes().get(REPORTS_FREE_PAGES) == Some(&b'1')
        };
        std::fs::read_dir(devices)
            .is_ok_and(|devices| devices.flatten().any(|device| gives_back(&device.path())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_with_more_room_keeps_its_values() {
        for (length, capacity) in [(0, 0), (3, 2), (3, 5), (LEAST / 8, LEAST / 4), (5, LEAST)] {
            let mut vector: Vec<u64> = (0..length as u64).collect();
            reserve_to(&mut vector, capacity);
            assert!(vector.capacity() >= capacity);
            let address = vector.as_ptr();
            vector.extend(length as u64..capacity as u64);
            assert_eq!(vector.as_ptr(), address, "the room is enough");
            assert!(vector.into_iter().eq(0..length.max(capacity) as u64));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn advice_keeps_values_and_reaches_the_memory_of_the_vector() {
        let vector: Vec<usize> = (0..2 * LEAST / size_of::<usize>()).collect();
        advice::give(&vector);
        assert!(vector.iter().copied().eq(0..vector.len()));
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        // The flag of memory that was advised so: proc_pid_smaps(5).
        let middle = vector.as_ptr() as usize + LEAST;
        let mappings = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let is_in = |line: &str| {
            let (begin, end) = line.split(' ').next()?.split_once('-')?;
            let address = |text| usize::from_str_radix(text, 16).ok();
            Some((address(begin)?..address(end)?).contains(&middle))
        };
        let of_middle = mappings.lines().skip_while(|line| is_in(line) != Some(true));
        let flags = of_middle.into_iter().find(|line| line.starts_with("VmFlags:")).unwrap();
        assert!(flags.split(' ').any(|flag| flag == "hg"), "{flags}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_balloon_that_reports_free_pages_is_found_among_devices() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!advice::gives_back(&folder.path().join("absent")));
        let device = |name: &str, id: &str, features: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("device"), format!("{id}\n")).unwrap();
            std::fs::write(path.join("features"), format!("{features}\n")).unwrap();
        };
        device("virtio0", "0x0002", "00000100");
        device("virtio1", "0x0005", "01100001");
        assert!(!advice::gives_back(folder.path()));
        device("virtio2", "0x0005", "01100101");
        assert!(advice::gives_back(folder.path()));
    }
}
