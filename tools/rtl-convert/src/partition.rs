//! A part of a trace: the rows of one GPU, rank or process, which form a trace of their own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rtl_schema::{AgentId, ProcessId, Tables};

/// The key by which rows are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SplitBy {
    /// Ops of one GPU, with all calls and ranges
    Gpu,
    /// Everything of one rank
    Rank,
    /// Everything of one process
    Process,
}

impl SplitBy {
    fn key(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Rank => "rank",
            Self::Process => "process",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    pub by: SplitBy,
    /// The number of the GPU or rank, or the pid; `None` for the rows that have none.
    pub value: Option<i64>,
    /// From 2 for later parts of the same value.
    pub(crate) twin: usize,
    /// The numbers of its agents, else of its processes.
    pub(crate) members: Vec<u32>,
}

impl Partition {
    /// Names the part before the ending: `trace.gpu0.json.gz` for the output `trace.json.gz`.
    pub fn output(&self, output: &Path) -> PathBuf {
        let name = output.file_name().unwrap_or_default().to_string_lossy();
        let lower = name.to_ascii_lowercase();
        let plain = lower.strip_suffix(".gz").unwrap_or(&lower);
        let results = ["_results.json", "_results.db"].iter().find_map(|end| plain.strip_suffix(end));
        let at = results.map_or_else(|| plain.rfind('.'), |head| Some(head.len()));
        // A name that begins with its only dot has no ending.
        let at = at.filter(|&at| at > 0).unwrap_or(name.len());
        let (head, end) = name.split_at_checked(at).unwrap_or((&name, ""));
        output.with_file_name(OsString::from(format!("{head}.{}{end}", self.label())))
    }

    /// The part of rows without a GPU, rank or process.
    pub fn without(by: SplitBy) -> Self {
        Self { by, value: None, twin: 1, members: Vec::new() }
    }

    /// The column that has one value in all rows of the part.
    pub fn column(&self) -> &'static str {
        if self.by == SplitBy::Process { "pid" } else { self.by.key() }
    }

    /// The Hive name of the folder of the part: `gpu=0`.
    pub fn partition(&self) -> String {
        let twin = self.suffix();
        match self.value {
            Some(value) => format!("{}={value}{twin}", self.column()),
            None => format!("{}=__HIVE_DEFAULT_PARTITION__{twin}", self.column()),
        }
    }

    /// `gpu0`, `no-rank`, `process42-2`.
    pub fn label(&self) -> String {
        let (key, twin) = (self.by.key(), self.suffix());
        match self.value {
            Some(value) => format!("{key}{value}{twin}"),
            None => format!("no-{key}{twin}"),
        }
    }

    fn suffix(&self) -> String {
        if self.twin > 1 { format!("-{}", self.twin) } else { String::new() }
    }

    /// Drops the rows of other parts.
    pub fn keep(&self, tables: &mut Tables) {
        // A table that a later version adds must be divided, or named among those that every part has.
        let Tables {
            tracks,
            dispatches,
            copies,
            barriers,
            counters,
            allocations,
            memory_events,
            spans,
            api_calls,
            operators,
            python_frames,
            ranges,
            threads,
            info: _,
            strings: _,
            processes: _,
            agents: _,
            shapes: _,
            collectives: _,
            symbols: _,
            monitors: _,
            stack_frames: _,
            extra_links: _,
            opaque_tables: _,
            problems: _,
        } = tables;
        let by_gpu = self.by == SplitBy::Gpu;
        // A row that names no GPU belongs to all of them.
        let stays = |agent: Option<AgentId>, process: ProcessId| match by_gpu {
            true => agent.is_none_or(|agent| self.members.contains(&agent.0)),
            false => self.members.contains(&process.0),
        };
        let tracks = tracks.rows().iter().map(|track| stays(Some(track.agent), track.process));
        let tracks: Vec<bool> = tracks.collect();
        let kept: Vec<bool> = dispatches.track.iter().map(|track| tracks[track.index()]).collect();
        if kept.contains(&false) {
            dispatches.retain(&kept);
        }
        copies.retain(|row| tracks[row.track.index()]);
        barriers.retain(|row| tracks[row.track.index()]);
        counters.retain(|row| stays(row.agent, row.process));
        allocations.retain(|row| stays(row.agent, row.process));
        memory_events.retain(|row| stays(row.agent, row.process));
        spans.retain(|row| stays(row.agent, row.process));
        if by_gpu {
            return;
        }
        macro_rules! retain {
            ($($columns:ident),*) => {$(
                let kept: Vec<bool> = $columns.process.iter().map(|process| stays(None, process)).collect();
                if kept.contains(&false) {
                    $columns.retain(&kept);
                }
            )*};
        }
        retain!(api_calls, operators, python_frames);
        ranges.retain(|row| stays(None, row.process));
        threads.retain(|row| stays(None, row.process));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(name: &str, value: Option<i64>) -> String {
        let part = Partition { value, ..Partition::without(SplitBy::Gpu) };
        part.output(Path::new(name)).display().to_string()
    }

    #[test]
    fn a_part_is_named_before_the_ending() {
        assert_eq!(output("a/trace.json.gz", Some(5)), "a/trace.gpu5.json.gz");
        assert_eq!(output("trace.rpd", None), "trace.no-gpu.rpd");
        assert_eq!(output("x_results.json", Some(0)), "x.gpu0_results.json");
        assert_eq!(output("plain", Some(0)), "plain.gpu0");
        assert_eq!(output(".hidden", Some(0)), ".hidden.gpu0");
        assert_eq!(output("Ünïcödé.DB", Some(12)), "Ünïcödé.gpu12.DB");
    }
}
