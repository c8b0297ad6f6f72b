//! The memory of this process and of its machine. Only Linux states them; elsewhere they are unknown.

use std::fs;
use std::path::Path;

/// The bytes of memory that this process has for itself: pages that are in memory and that no file backs.
pub fn taken() -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, "RssAnon:")
}

/// The bytes of a line such as `MemTotal:  16384 kB`.
fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(value.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// The bytes of memory that this process may have at most: those of the machine, or of its control group where that has fewer.
pub fn available() -> Option<u64> {
    let total = kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    Some(limits(Path::new("/sys/fs/cgroup"), &groups).fold(total, u64::min))
}

/// The limits of control groups: of each of a process and those around it, from the text of `/proc/PID/cgroup`. In a container the
/// innermost one that it sees is the root.
fn limits<'a>(root: &'a Path, groups: &'a str) -> impl Iterator<Item = u64> + 'a {
    groups.lines().flat_map(move |line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let is_memory = controllers.split(',').any(|controller| controller == "memory");
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ => (root.join("memory"), "memory.limit_in_bytes"),
        };
        let path = Path::new(path.trim_start_matches('/'));
        let groups = path.ancestors().filter(|_| is_memory || controllers.is_empty());
        let limits = groups.filter_map(|group| fs::read_to_string(root.join(group).join(file)).ok());
        limits.filter_map(|limit| limit.trim().parse().ok()).collect::<Vec<u64>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_written_to_is_taken() {
        let before = taken().unwrap();
        let pages = vec![1_u8; 64 << 20];
        let after = taken().unwrap();
        assert!(after > before + (48 << 20), "{before} {after} {}", pages.len());
        assert!(available().unwrap() > after);
    }

    #[test]
    fn the_limit_of_a_group_and_of_those_around_it_count_in_both_versions() {
        let root = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = root.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let smallest = |groups: &str| limits(root.path(), groups).min();
        write("job/step/memory.max", "max\n");
        write("job/memory.max", "4096\n");
        write("memory/slurm/job/memory.limit_in_bytes", "2048\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        assert_eq!(smallest("0::/job/step\n"), Some(4096));
        assert_eq!(smallest("0::/\n"), None);
        assert_eq!(smallest("4:cpu,memory:/slurm/job\n1:name=systemd:/job\n"), Some(2048));
        // A container does not see the groups around it.
        assert_eq!(smallest("4:memory:/docker/0f3a\n"), Some(9_223_372_036_854_771_712));
        assert_eq!(smallest("2:cpu:/job\n"), None);
    }
}
