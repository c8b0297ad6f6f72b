//! A part of a trace: the rows of one GPU, rank or process, which form a trace of their own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use rtl_schema::{AgentId, ProcessId, Tables, TrackId};

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

/// A part: its rows and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// `gpu`, `rank` or `process`.
    pub key: &'static str,
    /// The number of the GPU or rank, or the pid; `None` for the rows that have none.
    pub value: Option<i64>,
    /// From 2 for later parts of the same value.
    pub(crate) twin: usize,
    pub(crate) members: Members,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Members {
    /// Ops of these agents.
    Agents(Vec<AgentId>),
    /// Rows of these processes.
    Processes(Vec<ProcessId>),
}

impl Partition {
    /// The output of this part: `trace.gpu0.json.gz` for the output `trace.json.gz`.
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
        let members = match by {
            SplitBy::Gpu => Members::Agents(Vec::new()),
            SplitBy::Rank | SplitBy::Process => Members::Processes(Vec::new()),
        };
        Self { key: by.key(), value: None, twin: 1, members }
    }

    /// The column that has one value in all rows of the part.
    pub fn column(&self) -> &'static str {
        if self.key == "process" { "pid" } else { self.key }
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
        let twin = self.suffix();
        match self.value {
            Some(value) => format!("{}{value}{twin}", self.key),
            None => format!("no-{}{twin}", self.key),
        }
    }

    fn suffix(&self) -> String {
        if self.twin > 1 { format!("-{}", self.twin) } else { String::new() }
    }

    /// Drops the rows of other parts.
    pub fn keep(&self, tables: &mut Tables) {
        match &self.members {
            Members::Agents(agents) => {
                let stays = |agent: AgentId| agents.contains(&agent);
                keep_ops(tables, |tables, track| stays(tables.tracks.get(track).agent));
                tables.counters.retain(|row| row.agent.is_none_or(stays));
                tables.allocations.retain(|row| row.agent.is_none_or(stays));
            }
            Members::Processes(processes) => {
                let stays = |process: ProcessId| processes.contains(&process);
                keep_ops(tables, |tables, track| stays(tables.tracks.get(track).process));
                let calls: Vec<bool> = tables.api_calls.process.iter().map(stays).collect();
                if calls.contains(&false) {
                    tables.api_calls.retain(&calls);
                }
                tables.ranges.retain(|row| stays(row.process));
                tables.counters.retain(|row| stays(row.process));
                tables.allocations.retain(|row| stays(row.process));
                tables.threads.retain(|row| stays(row.process));
            }
        }
    }
}

fn keep_ops(tables: &mut Tables, stays: impl Fn(&Tables, TrackId) -> bool) {
    let tracks: Vec<bool> =
        (0..tables.tracks.rows().len()).map(|track| stays(tables, TrackId(track as u32))).collect();
    let stays = |track: TrackId| tracks[track.index()];
    let dispatches: Vec<bool> = tables.dispatches.track.iter().map(|&track| stays(track)).collect();
    if dispatches.contains(&false) {
        tables.dispatches.retain(&dispatches);
    }
    tables.copies.retain(|row| stays(row.track));
    tables.barriers.retain(|row| stays(row.track));
}

impl Members {
    /// Adds the agent or process of that number.
    pub(crate) fn add(&mut self, at: u32) {
        match self {
            Self::Agents(agents) => agents.push(AgentId(at)),
            Self::Processes(processes) => processes.push(ProcessId(at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(name: &str, value: Option<i64>) -> String {
        let part = Partition { key: "gpu", value, twin: 1, members: Members::Agents(Vec::new()) };
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
