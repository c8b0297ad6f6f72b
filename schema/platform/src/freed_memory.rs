//! Memory that was freed, for what is allocated next. Only glibc is asked to keep it.

/// Keeps freed memory in the process, up to 2 GiB at the end of the heap: for a program that needs as much again, as one that reads one
/// trace after the other. The system then need not take pages back and clear them anew. Called before other threads start.
pub fn keep() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    allocator::keep();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator {
    use libc::{M_MMAP_MAX, M_TRIM_THRESHOLD, c_int, mallopt};

    /// Large blocks come from the heap, too, which gives nothing back.
    #[expect(unsafe_code, reason = "the options of the allocator are a function of C")]
    pub(super) fn keep() {
        for (option, value) in [(M_MMAP_MAX, 0), (M_TRIM_THRESHOLD, c_int::MAX)] {
            // SAFETY: the function takes its lock and changes where later blocks come from, never a block.
            let _accepted = unsafe { mallopt(option, value) };
        }
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Whether the system has memory of this process there: proc_pid_maps(5).
    fn is_mapped(address: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let is_in = |line: &str| {
            let (begin, end) = line.split(' ').next()?.split_once('-')?;
            let address_of = |text| usize::from_str_radix(text, 16).ok();
            Some((address_of(begin)?..address_of(end)?).contains(&address))
        };
        maps.lines().any(|line| is_in(line) == Some(true))
    }

    #[test]
    fn a_freed_block_of_megabytes_stays_with_the_process() {
        keep();
        let block = vec![1_u8; 24 << 20];
        let middle = block.as_ptr() as usize + block.len() / 2;
        drop(block);
        assert!(is_mapped(middle));
    }
}
