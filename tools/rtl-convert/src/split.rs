//! One trace as several: a part for each GPU, rank or process, each of which is a trace of its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use cli::Failure;
use rtl_schema::table::AgentKind;
use rtl_schema::{AgentId, ProcessId, Select, Tables, TrackId};

use crate::source::{Source, stream_failure};

/// What each part is about.
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

/// A part: what it keeps, and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// `gpu`, `rank` or `process`.
    pub key: &'static str,
    /// The number of the GPU or rank, or the pid; `None` for the rows that have none.
    pub value: Option<i64>,
    /// Told apart from earlier parts of the same value by this, from 2.
    twin: usize,
    keeps: Keeps,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Keeps {
    /// Ops of these agents.
    Agents(Vec<AgentId>),
    /// Rows of these processes.
    Processes(Vec<ProcessId>),
}

impl Partition {
    /// The output of this part where the whole would be `output`: `trace.gpu0.json.gz` for `trace.json.gz`.
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

    /// The part of what belongs to no GPU, rank or process.
    pub fn without(by: SplitBy) -> Self {
        let keeps = match by {
            SplitBy::Gpu => Keeps::Agents(Vec::new()),
            SplitBy::Rank | SplitBy::Process => Keeps::Processes(Vec::new()),
        };
        Self { key: by.key(), value: None, twin: 1, keeps }
    }

    /// The column that all rows of the part agree in, but for those without a value.
    pub fn column(&self) -> &'static str {
        if self.key == "process" { "pid" } else { self.key }
    }

    /// The folder of the part in a data set, as Hive names it: `gpu=0`.
    pub fn partition(&self) -> String {
        let twin = if self.twin > 1 { format!("-{}", self.twin) } else { String::new() };
        match self.value {
            Some(value) => format!("{}={value}{twin}", self.column()),
            None => format!("{}=__HIVE_DEFAULT_PARTITION__{twin}", self.column()),
        }
    }

    /// `gpu0`, `no-rank`, `process42-2`.
    pub fn label(&self) -> String {
        let twin = if self.twin > 1 { format!("-{}", self.twin) } else { String::new() };
        match self.value {
            Some(value) => format!("{}{value}{twin}", self.key),
            None => format!("no-{}{twin}", self.key),
        }
    }

    /// Drops the rows that belong to other parts.
    pub fn keep(&self, tables: &mut Tables) {
        match &self.keeps {
            Keeps::Agents(agents) => {
                let stays = |agent: AgentId| agents.contains(&agent);
                keep_ops(tables, |tables, track| stays(tables.tracks.get(track).agent));
                tables.counters.retain(|row| row.agent.is_none_or(stays));
                tables.allocations.retain(|row| row.agent.is_none_or(stays));
            }
            Keeps::Processes(processes) => {
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

/// The parts of a trace, in the order of their values; the one without a value comes last. Together they hold every op
/// once. One pass over the trace finds them.
///
/// # Errors
/// Where the trace cannot be read, or none of its processes has a rank.
pub fn parts(source: &Source, by: SplitBy) -> Result<Vec<Partition>, Failure> {
    let select = Select { args: false, secondary: false, ..Select::everything() };
    let tables = source.stream(&select, |_| Ok::<(), std::io::Error>(()));
    let tables = tables.map_err(|stopped| stream_failure(stopped, "cannot read the trace"))?;
    let values: Vec<Option<i64>> = match by {
        SplitBy::Gpu => gpus(&tables),
        SplitBy::Rank => tables.processes.iter().map(|process| process.rank.map(i64::from)).collect(),
        SplitBy::Process => tables.processes.iter().map(|process| process.pid).collect(),
    };
    if by == SplitBy::Rank && values.iter().all(Option::is_none) {
        return Err(Failure::usage("no process of the trace states its rank")
            .with_hint("--split process makes a part of each process"));
    }
    // Processes of one pid are several, those of one rank belong together.
    let mut parts: Vec<Partition> = Vec::new();
    for (at, &value) in values.iter().enumerate() {
        let is_used = by != SplitBy::Gpu || is_used(&tables, AgentId(at as u32));
        let known = parts.iter_mut().rev().find(|part| part.value == value);
        match (known, by) {
            _ if !is_used => {}
            (Some(part), SplitBy::Gpu | SplitBy::Rank) => part.keeps.add(at as u32),
            (known, _) => {
                let twin = known.map_or(1, |part| part.twin + 1);
                let mut part = Partition { value, twin, ..Partition::without(by) };
                part.keeps.add(at as u32);
                parts.push(part);
            }
        }
    }
    if parts.is_empty() {
        // Nothing ran on a GPU: what there is belongs to none.
        parts.push(Partition::without(by));
    }
    parts.sort_by_key(|part| (part.value.is_none(), part.value, part.twin));
    Ok(parts)
}

impl Keeps {
    fn add(&mut self, at: u32) {
        match self {
            Self::Agents(agents) => agents.push(AgentId(at)),
            Self::Processes(processes) => processes.push(ProcessId(at)),
        }
    }
}

/// The number of each agent that is a GPU.
fn gpus(tables: &Tables) -> Vec<Option<i64>> {
    let number =
        |agent: &rtl_schema::table::Agent| Some(agent.number).filter(|_| agent.kind == AgentKind::Gpu);
    tables.agents.iter().map(number).collect()
}

fn is_used(tables: &Tables, agent: AgentId) -> bool {
    tables.tracks.rows().iter().any(|track| track.agent == agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(name: &str, value: Option<i64>) -> String {
        let part = Partition { key: "gpu", value, twin: 1, keeps: Keeps::Agents(Vec::new()) };
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
