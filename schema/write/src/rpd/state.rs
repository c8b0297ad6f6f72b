//! The state of the writer between pieces.

use crate::native::numbering::Renumbered;
use rtl_schema::layout::rpd::from_rocprofiler_sdk;
use rtl_schema::layout::tags::{LAUNCHES, LAUNCHES_EXECUTED, SOURCE_PREFIX};
use rtl_schema::table::{AgentKind, Direction};
use rtl_schema::{AgentId, Id, NameId, ProcessId, ShapeId, Tables, TrackId};

/// The distance between machines in numbers of GPUs.
pub(super) const GPU_STRIDE: i64 = 1_000;
/// The distance between machines in pids and tids.
pub(super) const PID_STRIDE: i64 = 10_000_000;

/// The calls of the trace in the file.
#[derive(Debug, Default)]
pub(super) struct Calls {
    /// The first call of each space and correlation id.
    pub(super) by_correlation: Renumbered,
    pub(super) ids: Renumbered,
}

impl Calls {
    #[inline]
    pub(super) fn with_correlation(&self, space: u32, correlation: Id) -> Option<i64> {
        if correlation == 0 { None } else { self.by_correlation.get(space, correlation) }
    }
}

/// The numbers of processes and GPUs, with their machine where a trace has several.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    /// The pid of each process, and what is added to its tids.
    processes: Vec<(i64, i64)>,
    gpus: Vec<i64>,
}

impl Numbers {
    pub(super) fn extend(&mut self, tables: &Tables) {
        for process in &tables.processes[self.processes.len()..] {
            let machine = i64::from(process.node.unwrap_or(0)).saturating_mul(PID_STRIDE);
            self.processes.push((process.pid.unwrap_or(0).saturating_add(machine), machine));
        }
        for (at, agent) in tables.agents.iter().enumerate().skip(self.gpus.len()) {
            let machine = i64::from(agent.node.unwrap_or(0)).saturating_mul(GPU_STRIDE);
            self.gpus.push(match agent.kind {
                // A number from a file of RPD's has its machine already.
                AgentKind::Gpu if agent.number < machine => machine + agent.number,
                AgentKind::Gpu => agent.number,
                // Other agents get a number that no GPU has; -1 would be a range.
                _ => -2 - at as i64,
            });
        }
    }

    #[inline]
    pub(super) fn pid(&self, process: ProcessId) -> i64 {
        self.processes.get(process.index()).map_or(0, |&(pid, _)| pid)
    }

    /// The thread, 0 if it is unknown.
    #[inline]
    pub(super) fn tid(&self, process: ProcessId, tid: Option<i64>) -> i64 {
        let machine = self.processes.get(process.index()).map_or(0, |&(_, machine)| machine);
        tid.map_or(0, |tid| tid.saturating_add(machine))
    }

    #[inline]
    pub(super) fn gpu(&self, agent: AgentId) -> i64 {
        self.gpus.get(agent.index()).copied().unwrap_or(-2)
    }
}

/// Where the rows come from.
#[derive(Debug, Default)]
pub(super) enum LaunchSource {
    /// Nothing is known yet.
    #[default]
    Unknown,
    /// The source has such rows, and they are written as they were.
    Recorded {
        /// They repeat what was executed, not the arguments of the call.
        executed: bool,
    },
    /// From the ops, as they come.
    Ops,
    /// From the ops, which come in another order than their calls.
    OpsLater,
}

/// Launches that are not written yet.
#[derive(Debug, Default)]
pub(super) struct Launches {
    pub(super) source: LaunchSource,
    /// Kernels with their calls, as the copies. These are many: 24 bytes each.
    pub(super) kernels: Vec<(i64, KernelLaunch)>,
    pub(super) copies: Vec<(i64, CopyLaunch)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct KernelLaunch {
    pub(super) name: NameId,
    pub(super) shape: Option<ShapeId>,
    pub(super) track: TrackId,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct CopyLaunch {
    pub(super) direction: Direction,
    pub(super) bytes: Option<u64>,
    /// The destination comes first, then the source.
    pub(super) addresses: [Option<u64>; 2],
    pub(super) gpus: [i64; 2],
    pub(super) stream: Option<i64>,
}

impl Launches {
    /// Decides where the rows come from; true the first time.
    pub(super) fn begin(&mut self, piece: &Tables) -> bool {
        if !matches!(self.source, LaunchSource::Unknown) {
            return false;
        }
        let from_ops = piece.info.metadata.iter().any(|(tag, value)| {
            tag.strip_prefix(SOURCE_PREFIX).unwrap_or(tag) == LAUNCHES && value == LAUNCHES_EXECUTED
        });
        self.source = if !piece.api_calls.launches.is_empty() && !from_ops {
            LaunchSource::Recorded { executed: from_rocprofiler_sdk(&piece.strings) }
        } else if piece.api_calls.is_empty() {
            LaunchSource::Ops
        } else {
            LaunchSource::OpsLater
        };
        true
    }

    pub(super) fn are_recorded(&self) -> bool {
        matches!(self.source, LaunchSource::Recorded { .. })
    }
}
