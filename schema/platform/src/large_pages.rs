//! Memory in large pages, which only Linux gives on request.

/// The size of a large page in bytes.
const PAGE: usize = 2 << 20;

/// Less memory has few large pages in it.
const LEAST: usize = 2 * PAGE;

/// The same vector, whose memory the system takes in large pages where it has such: it then clears and maps one instead of 512. For
/// memory that is not written yet; of a short vector nothing changes.
#[must_use]
pub fn wanted<T>(vector: Vec<T>) -> Vec<T> {
    if vector.capacity().saturating_mul(size_of::<T>()) >= LEAST {
        advice::large_pages(&vector);
    }
    vector
}

#[cfg(not(target_os = "linux"))]
mod advice {
    pub(super) fn large_pages<T>(_: &Vec<T>) {}
}

#[cfg(target_os = "linux")]
mod advice {
    use std::path::Path;
    use std::sync::OnceLock;

    use rustix::mm::{Advice, madvise};

    use super::PAGE;

    /// Advises the system, whose refusal leaves small pages.
    #[expect(unsafe_code, reason = "rustix states the advice for addresses")]
    pub(super) fn large_pages<T>(vector: &Vec<T>) {
        static IS_DEAR: OnceLock<bool> = OnceLock::new();
        if *IS_DEAR.get_or_init(|| gives_back(Path::new("/sys/bus/virtio/devices"))) {
            return;
        }
        let memory = vector.as_ptr().cast_mut().cast::<u8>();
        let bytes = vector.capacity() * size_of::<T>();
        let before = memory.align_offset(PAGE);
        let pages = bytes.saturating_sub(before) / PAGE;
        let first = memory.wrapping_add(before);
        // SAFETY: the pages lie within the memory of the vector, and the advice changes the content of no byte.
        let _refused = unsafe { madvise(first.cast(), pages * PAGE, Advice::LinuxHugepage) };
    }

    /// Whether a virtual machine gives free memory back to its host, in pieces that are as long as large pages: of these each is then
    /// missing from the host's page tables, which takes ten times as long as the small pages that the system keeps. Devices and
    /// features are those of section 5.5 of the specification of virtio.
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
    fn a_vector_keeps_its_values_and_its_room() {
        for length in [0, 1, LEAST / 8 - 1, LEAST / 8, LEAST] {
            let half = length as u64 / 2;
            let mut vector: Vec<u64> = Vec::with_capacity(length);
            vector.extend((0..half).map(|value| 3 * value));
            let (address, room) = (vector.as_ptr(), vector.capacity());
            let mut vector = wanted(vector);
            assert_eq!((vector.as_ptr(), vector.capacity()), (address, room));
            vector.extend(half..length as u64);
            let expected = (0..half).map(|value| 3 * value).chain(half..length as u64);
            assert!(vector.into_iter().eq(expected));
        }
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
