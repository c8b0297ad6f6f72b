//! Memory of devices: what the allocators of frameworks have in use, what the program has from the runtime, and scratch.

use rtl_schema::table::{AgentKind, MemoryEvent};
use rtl_schema::{AgentId, ProcessId, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::gpu_time::allocations::{self, Use};
use crate::names::labels;

/// Who states the use of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemorySource {
    /// The allocator of a framework, whose blocks need not reach the runtime.
    #[default]
    Framework,
    /// The runtime, of allocations by the program.
    Runtime,
    /// The runtime, of scratch that it holds for kernels.
    Scratch,
}

impl MemorySource {
    fn for_use(of: Use) -> Self {
        match of {
            Use::Allocated => Self::Runtime,
            Use::Scratch => Self::Scratch,
        }
    }
}

/// The memory of one device that one process uses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// `GPU 0` or `host`.
    pub device: String,
    /// The framework or runtime that states the figures.
    #[serde(default)]
    pub source: MemorySource,
    /// The process, if known.
    pub pid: Option<i64>,
    /// The number of allocations.
    pub allocations: u64,
    /// Bytes of all allocations.
    pub allocated_bytes: u64,
    /// The number of releases.
    pub releases: u64,
    /// Bytes of all releases.
    pub released_bytes: u64,
    /// Most bytes in use at one time, where the source states totals.
    pub peak_bytes: Option<u64>,
    /// The first moment of that in ns.
    pub peak_ns: Option<i64>,
    /// Most bytes that the allocator held on the device at one time, where the source states totals.
    pub peak_reserved_bytes: Option<u64>,
    /// Bytes in use after the last event, where the source states totals.
    pub last_bytes: Option<u64>,
    /// Bytes of allocations that were not released within the trace, of addresses that are known.
    pub kept_bytes: u64,
}

/// Memory by process and device, that of frameworks first, then GPUs; `None` where the trace states no use of memory.
pub fn by_device(tables: &Tables) -> Option<Vec<DeviceMemory>> {
    let mut rows = of_frameworks(tables);
    rows.extend(of_runtime(tables));
    (!rows.is_empty()).then_some(rows)
}

/// The events of one allocator on one device, in the order of time.
struct DeviceEvents<'a> {
    device: String,
    pid: Option<i64>,
    events: Vec<&'a MemoryEvent>,
}

fn events_by_device(tables: &Tables) -> Vec<DeviceEvents<'_>> {
    let mut devices: FxHashMap<(ProcessId, Option<AgentId>), Vec<&MemoryEvent>> = FxHashMap::default();
    for event in &tables.memory_events {
        devices.entry((event.process, event.agent)).or_default().push(event);
    }
    let mut devices: Vec<_> = devices.into_iter().collect();
    devices.sort_by_key(|&((process, agent), _)| (order(tables, agent), agent, process));
    let device = |((process, agent), mut events): ((ProcessId, Option<AgentId>), Vec<_>)| {
        // Events of one moment: the source has them in their order, whatever that of its rows.
        events.sort_by_key(|event: &&MemoryEvent| (event.time, event.id, event.address, event.bytes));
        let device = agent.map_or_else(|| "host".to_owned(), |agent| labels::agent(tables, agent));
        DeviceEvents { device, pid: pid(tables, process), events }
    };
    devices.into_iter().map(device).collect()
}

fn of_frameworks(tables: &Tables) -> Vec<DeviceMemory> {
    let memory = |DeviceEvents { device, pid, events }| DeviceMemory { device, pid, ..of_device(&events) };
    events_by_device(tables).into_iter().map(memory).collect()
}

/// The bytes in use of one device over time.
pub(crate) struct Uses {
    pub(crate) device: String,
    pub(crate) source: MemorySource,
    pub(crate) pid: Option<i64>,
    /// Moments in ns and the bytes in use from then on.
    pub(crate) uses: Vec<(i64, u64)>,
}

/// The bytes in use of each device where the source states totals, in the order of [`by_device`].
pub(crate) fn uses(tables: &Tables) -> Vec<Uses> {
    let of_framework = |DeviceEvents { device, pid, events }| {
        let uses = events.iter().filter_map(|event: &&MemoryEvent| Some((event.time, event.allocated?)));
        Uses { device, source: MemorySource::Framework, pid, uses: uses.collect() }
    };
    let mut all: Vec<Uses> = events_by_device(tables).into_iter().map(of_framework).collect();
    let mut totals: FxHashMap<RuntimeKey, i128> = FxHashMap::default();
    let mut devices: FxHashMap<RuntimeKey, Vec<_>> = FxHashMap::default();
    for change in allocations::changes(tables) {
        let key = (change.of, change.process, change.agent);
        let total = totals.entry(key).or_default();
        *total += change.bytes;
        devices.entry(key).or_default().push((change.time, u64::try_from(*total).unwrap_or(0)));
    }
    let mut devices: Vec<_> = devices.into_iter().collect();
    devices.sort_by_key(|&((of, process, agent), _)| (of, order(tables, Some(agent)), agent, process));
    all.extend(devices.into_iter().map(|((of, process, agent), uses)| Uses {
        device: labels::agent(tables, agent),
        source: MemorySource::for_use(of),
        pid: pid(tables, process),
        uses,
    }));
    all.retain(|of| !of.uses.is_empty());
    all
}

/// Sorts GPUs by their numbers, before the host.
fn order(tables: &Tables, agent: Option<AgentId>) -> (u8, i64) {
    match agent.and_then(|agent| tables.agents.get(agent.index())) {
        Some(agent) if agent.kind != AgentKind::Cpu => (0, agent.number),
        Some(agent) => (1, agent.number),
        None => (2, 0),
    }
}

fn pid(tables: &Tables, process: ProcessId) -> Option<i64> {
    tables.processes.get(process.index()).and_then(|process| process.pid)
}

type RuntimeKey = (Use, ProcessId, AgentId);

/// Memory as the runtime states it. Totals count from the start of the recording.
fn of_runtime(tables: &Tables) -> Vec<DeviceMemory> {
    let mut devices: FxHashMap<RuntimeKey, (i128, DeviceMemory)> = FxHashMap::default();
    for change in allocations::changes(tables) {
        let key = (change.of, change.process, change.agent);
        let (total, memory) = devices.entry(key).or_default();
        *total += change.bytes;
        let bytes = u64::try_from(change.bytes.unsigned_abs()).unwrap_or(u64::MAX);
        let (count, sum) = match change.bytes < 0 {
            true => (&mut memory.releases, &mut memory.released_bytes),
            false => (&mut memory.allocations, &mut memory.allocated_bytes),
        };
        *count += 1;
        *sum = sum.saturating_add(bytes);
        let now = u64::try_from(*total).unwrap_or(0);
        if Some(now) > memory.peak_bytes {
            (memory.peak_bytes, memory.peak_ns) = (Some(now), Some(change.time));
        }
        (memory.last_bytes, memory.kept_bytes) = (Some(now), now);
    }
    let mut devices: Vec<_> = devices.into_iter().collect();
    devices.sort_by_key(|&((of, process, agent), _)| (of, order(tables, Some(agent)), agent, process));
    let device = |((of, process, agent), (_, memory)): (RuntimeKey, (i128, DeviceMemory))| {
        let source = MemorySource::for_use(of);
        DeviceMemory { device: labels::agent(tables, agent), source, pid: pid(tables, process), ..memory }
    };
    devices.into_iter().map(device).collect()
}

fn of_device(events: &[&MemoryEvent]) -> DeviceMemory {
    let mut memory = DeviceMemory::default();
    let mut live: FxHashMap<u64, u64> = FxHashMap::default();
    for event in events {
        let bytes = event.bytes.unsigned_abs();
        let (count, sum) = match event.bytes < 0 {
            true => (&mut memory.releases, &mut memory.released_bytes),
            false => (&mut memory.allocations, &mut memory.allocated_bytes),
        };
        *count += 1;
        *sum = sum.saturating_add(bytes);
        if let Some(address) = event.address {
            match event.bytes < 0 {
                true => live.remove(&address),
                false => live.insert(address, bytes),
            };
        }
        if event.allocated > memory.peak_bytes {
            (memory.peak_bytes, memory.peak_ns) = (event.allocated, Some(event.time));
        }
        memory.peak_reserved_bytes = memory.peak_reserved_bytes.max(event.reserved);
        memory.last_bytes = event.allocated.or(memory.last_bytes);
    }
    memory.kept_bytes = live.values().fold(0, |sum: u64, &bytes| sum.saturating_add(bytes));
    memory
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Agent, Allocation, AllocationKind, AllocationLevel};

    use super::*;

    #[test]
    fn memory_of_the_runtime_is_what_its_allocations_leave_in_use() {
        let gpu = Some(AgentId(0));
        let row = |start, kind, agent, address, bytes| Allocation {
            start,
            duration: Some(5),
            kind,
            agent,
            address: Some(address),
            bytes,
            ..Allocation::default()
        };
        let (allocate, free) = (AllocationKind::Allocate, AllocationKind::Free);
        let scratch = |start, kind, bytes| Allocation {
            level: AllocationLevel::Scratch,
            address: None,
            ..row(start, kind, gpu, 0, bytes)
        };
        let tables = Tables {
            agents: vec![Agent { kind: AgentKind::Gpu, number: 3, ..Agent::default() }],
            allocations: vec![
                row(30, free, None, 0x10, 0),
                row(10, allocate, gpu, 0x10, 100),
                row(20, allocate, gpu, 0x20, 50),
                // Allocated before the recording.
                row(5, free, None, 0x99, 0),
                scratch(40, allocate, 7),
                scratch(50, AllocationKind::Reclaim, 0),
            ],
            ..Tables::default()
        };
        let [runtime, scratch] = by_device(&tables).unwrap().try_into().unwrap();
        assert_eq!((runtime.device.as_str(), runtime.source), ("GPU 3", MemorySource::Runtime));
        assert_eq!((runtime.allocations, runtime.allocated_bytes), (2, 150));
        assert_eq!((runtime.releases, runtime.released_bytes, runtime.kept_bytes), (1, 100, 50));
        assert_eq!(
            (runtime.peak_bytes, runtime.peak_ns, runtime.last_bytes),
            (Some(150), Some(25), Some(50))
        );
        assert_eq!(runtime.peak_reserved_bytes, None);
        assert_eq!(
            (scratch.source, scratch.peak_bytes, scratch.last_bytes),
            (MemorySource::Scratch, Some(7), Some(0))
        );
    }

    fn event(time: i64, address: u64, bytes: i64, allocated: u64) -> MemoryEvent {
        let (address, allocated) = (Some(address), Some(allocated));
        MemoryEvent { time, address, bytes, allocated, reserved: Some(1000), ..MemoryEvent::default() }
    }

    #[test]
    fn a_device_has_its_peak_and_what_was_kept() {
        let rows =
            [event(30, 1, -100, 240), event(10, 1, 100, 300), event(20, 2, 40, 340), event(40, 9, -5, 235)];
        let tables = Tables { memory_events: rows.to_vec(), ..Tables::default() };
        let [host] = by_device(&tables).unwrap().try_into().unwrap();
        assert_eq!((host.device.as_str(), host.allocations, host.releases), ("host", 2, 2));
        assert_eq!((host.allocated_bytes, host.released_bytes, host.kept_bytes), (140, 105, 40));
        assert_eq!((host.peak_bytes, host.peak_ns, host.last_bytes), (Some(340), Some(20), Some(235)));
        assert_eq!(host.peak_reserved_bytes, Some(1000));
        assert_eq!(by_device(&Tables::default()), None);
    }
}
