//! Changes of memory by allocations, releases and scratch events, in order of time.

use rtl_schema::table::{Allocation, AllocationKind, AllocationLevel};
use rtl_schema::{AgentId, ProcessId, Tables};
use rustc_hash::FxHashMap;

/// The kind of memory that a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Use {
    /// Memory that the program allocates from the runtime.
    Allocated,
    /// Scratch that the runtime holds for the kernels of a queue.
    Scratch,
}

/// A change of the memory in use on an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// The end of the call or event in ns.
    pub time: i64,
    /// The process that allocates.
    pub process: ProcessId,
    /// The device whose memory it is.
    pub agent: AgentId,
    /// The kind of memory.
    pub of: Use,
    /// Bytes, negative for a release.
    pub bytes: i128,
}

/// The changes of all allocations whose agent and address are known. A release finds its block by its address, because
/// it states neither agent nor size; one of a block from before the recording changes nothing. Address space without
/// memory (VMEM) is left out.
pub fn changes(tables: &Tables) -> Vec<Change> {
    let mut rows: Vec<&Allocation> = tables.allocations.iter().collect();
    rows.sort_by_key(|row| (row.start, row.id));
    let mut blocks: FxHashMap<(ProcessId, u64), (AgentId, u64)> = FxHashMap::default();
    let mut scratch: FxHashMap<(ProcessId, AgentId, Option<i64>), u64> = FxHashMap::default();
    let mut changes = Vec::new();
    for row in rows {
        let process = row.process;
        let takes = matches!(row.kind, AllocationKind::Allocate | AllocationKind::Reallocate);
        let time = row.start.saturating_add(row.duration.unwrap_or(0).max(0));
        let mut change =
            |agent: AgentId, of: Use, bytes: i128| changes.push(Change { time, process, agent, of, bytes });
        match (row.level, row.agent, row.address) {
            (AllocationLevel::Scratch, Some(agent), _) => {
                let held = scratch.entry((process, agent, row.queue)).or_default();
                let now = if takes { row.bytes } else { 0 };
                change(agent, Use::Scratch, i128::from(now) - i128::from(*held));
                *held = now;
            }
            (AllocationLevel::Real, agent, Some(address)) => {
                if let Some((agent, bytes)) = blocks.remove(&(process, address)) {
                    change(agent, Use::Allocated, -i128::from(bytes));
                }
                if let Some(agent) = agent.filter(|_| takes) {
                    blocks.insert((process, address), (agent, row.bytes));
                    change(agent, Use::Allocated, i128::from(row.bytes));
                }
            }
            _ => {}
        }
    }
    changes
}
