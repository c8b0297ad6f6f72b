//! Processes by the pid that rows carry. RPD packs the number of the machine into pids.

use rustc_hash::FxHashMap;

use crate::table::Process;
use crate::{ProcessId, Tables};

/// The processes of a file by the pid that its rows carry.
#[derive(Debug, Clone, Default)]
pub(crate) struct Processes {
    by_pid: FxHashMap<i64, ProcessId>,
    unknown: Option<ProcessId>,
    /// The factor that separates the machines in packed pids (RPD's `pid_stride`).
    stride: Option<i64>,
}

impl Processes {
    /// Starts from the processes of the metadata; `aliases` replace pids that two processes share.
    pub(crate) fn of(tables: &Tables, aliases: &[(i64, ProcessId)], stride: Option<i64>) -> Self {
        let by_pid = aliases.iter().copied().collect();
        let mut processes = Self { by_pid, stride, ..Self::default() };
        for (row, process) in tables.processes.iter().enumerate() {
            if let Some(pid) = process.pid {
                processes.by_pid.entry(pid).or_insert(ProcessId(row as u32));
            }
        }
        processes
    }

    /// The process that rows with this pid belong to, if it is known by now.
    pub(crate) fn find(&self, pid: i64) -> Option<ProcessId> {
        self.by_pid.get(&pid).copied()
    }

    /// The process that rows with this pid belong to; a new one where there is none yet.
    pub(crate) fn intern(&mut self, pid: i64, tables: &mut Vec<Process>) -> ProcessId {
        let stride = self.stride;
        *self.by_pid.entry(pid).or_insert_with(|| {
            let (pid, node) = match stride {
                Some(stride) if pid >= 0 => (pid % stride, u32::try_from(pid / stride).ok()),
                _ => (pid, None),
            };
            tables.push(Process { pid: Some(pid), node, ..Process::default() });
            ProcessId(tables.len() as u32 - 1)
        })
    }

    /// The thread id in a packed one.
    pub(crate) fn tid(&self, tid: i64) -> i64 {
        self.stride.filter(|_| tid >= 0).map_or(tid, |stride| tid % stride)
    }

    /// The process of rows that name none: the only one there is, else one of which nothing is known.
    pub(crate) fn unnamed(&mut self, tables: &mut Vec<Process>) -> ProcessId {
        if tables.len() == 1 && self.unknown.is_none() {
            return ProcessId(0);
        }
        *self.unknown.get_or_insert_with(|| {
            tables.push(Process::default());
            ProcessId(tables.len() as u32 - 1)
        })
    }
}
