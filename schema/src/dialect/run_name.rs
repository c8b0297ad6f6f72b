//! The run that a file's name states, for dialects whose runs have several files.

use std::path::{Path, PathBuf};

/// The endings of rocprofv3's CSV files, without `_trace`.
const CSV: [&str; 16] = [
    "kernel",
    "memory_copy",
    "memory_allocation",
    "scratch_memory",
    "hip_api",
    "hsa_api",
    "marker_api",
    "rccl_api",
    "rocdecode_api",
    "rocjpeg_api",
    "agent_info",
    "counter_collection",
    "regions",
    "hip",
    "hsa",
    "marker",
];

/// The endings of roctracer's text files, without `_trace`.
const TEXT: [&str; 7] = ["hip_api", "hsa_api", "kfd_api", "hcc_ops", "async_copy", "roctx", "results"];

/// The run that a file's name states: its folder, and what comes before the ending. A name of another form states none.
pub(crate) fn run_of(path: &Path) -> Option<(PathBuf, String)> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let (stem, endings) = match (name.strip_suffix(".csv"), name.strip_suffix(".txt")) {
        (Some(stem), _) => (stem, &CSV[..]),
        (None, Some(stem)) => (stem, &TEXT[..]),
        (None, None) => return None,
    };
    let stem = stem.strip_suffix("_trace").unwrap_or(stem);
    let prefix = endings.iter().find_map(|ending| stem.strip_suffix(ending))?;
    let is_whole = prefix.is_empty() || prefix.ends_with(['_', '-', '.']);
    is_whole.then(|| (path.parent().unwrap_or(Path::new("")).to_owned(), prefix.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_run_share_what_comes_before_the_ending() {
        let run = |name: &str| run_of(Path::new(name)).map(|(_, prefix)| prefix);
        for name in
            ["12_kernel_trace.csv", "12_hip_api_trace.csv.gz", "12_agent_info.csv", "12_hcc_ops_trace.txt"]
        {
            assert_eq!(run(name).as_deref(), Some("12_"), "{name}");
        }
        assert_eq!(run("kernel_trace.csv").as_deref(), Some(""));
        assert_eq!([run("12_kernel_stats.csv"), run("mykernel.csv"), run("a.db")], [None, None, None]);
    }
}
