//! What a file holds, by the names of its columns, and which run it belongs to, by its own name.

use std::path::{Path, PathBuf};

use crate::csv::{Csv, Record};

/// The kinds of files, in the order of reading: the first ones know the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Agents,
    Calls,
    Counters,
    Dispatches,
    Copies,
    Allocations,
    Scratch,
}

/// The names of columns, in lower case.
#[derive(Debug, Clone)]
pub(super) struct Header(Vec<String>);

impl Header {
    pub(super) fn of(record: Record<'_>) -> Self {
        let name = |at| record.text(Some(at)).unwrap_or_default().trim().to_ascii_lowercase();
        Self((0..record.len()).map(name).collect())
    }

    /// The header of a text with this beginning.
    pub(super) fn of_text(head: &[u8]) -> Option<Self> {
        let line = head.split(|&byte| byte == b'\n').next()?;
        Csv::new(line).ok()?.record().ok()?.map(Self::of)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The position of the first of `names` that is a column.
    pub(super) fn at(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.0.iter().position(|column| column == name))
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        let has = |name| self.at(&[name]).is_some();
        let is_timed = has("start_timestamp") && has("end_timestamp");
        if has("node_id") && has("agent_type") {
            Some(Kind::Agents)
        } else if has("counter_name") && has("counter_value") && has("dispatch_id") {
            Some(Kind::Counters)
        } else if !is_timed {
            None
        } else if has("kernel_name") {
            Some(Kind::Dispatches)
        } else if has("alloc_flags") {
            Some(Kind::Scratch)
        } else if has("allocation_size") && has("operation") {
            Some(Kind::Allocations)
        } else if has("direction") || has("source_agent_id") {
            Some(Kind::Copies)
        } else {
            (has("function") && has("domain")).then_some(Kind::Calls)
        }
    }
}

/// The endings of names that rocprofv3 gives its files, without `_trace`.
const ENDINGS: [&str; 16] = [
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

/// The run that a file's name states: its folder, and what comes before the ending. A name of another form states none.
pub(crate) fn run_of(path: &Path) -> Option<(PathBuf, String)> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".csv")?;
    let stem = stem.strip_suffix("_trace").unwrap_or(stem);
    let prefix = ENDINGS.iter().find_map(|ending| stem.strip_suffix(ending))?;
    let is_whole = prefix.is_empty() || prefix.ends_with(['_', '-', '.']);
    is_whole.then(|| (path.parent().unwrap_or(Path::new("")).to_owned(), prefix.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_run_share_what_comes_before_the_ending() {
        let run = |name: &str| run_of(Path::new(name)).map(|(_, prefix)| prefix);
        for name in [
            "12_kernel_trace.csv",
            "12_hip_api_trace.csv.gz",
            "12_agent_info.csv",
            "12_counter_collection.csv",
        ] {
            assert_eq!(run(name).as_deref(), Some("12_"), "{name}");
        }
        assert_eq!(run("kernel_trace.csv").as_deref(), Some(""));
        assert_eq!([run("12_kernel_stats.csv"), run("mykernel.csv"), run("a.db")], [None, None, None]);
    }
}
