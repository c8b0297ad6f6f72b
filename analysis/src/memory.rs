//! Memory of devices as a framework's allocator sees it.

use rtl_schema::table::MemoryEvent;
use rtl_schema::{AgentId, ProcessId, Tables};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::labels;

/// The memory of one device that one process uses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceMemory {
    /// `GPU 0` or `host`.
    pub device: String,
    /// The process, if known.
    pub pid: Option<i64>,
    /// Allocations.
    pub allocations: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
    /// Releases.
    pub releases: u64,
    /// Their bytes.
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

/// Memory by process and device, GPUs first; `None` where the trace has no memory events.
pub fn by_device(tables: &Tables) -> Option<Vec<DeviceMemory>> {
    if tables.memory_events.is_empty() {
        return None;
    }
    let mut devices: FxHashMap<(ProcessId, Option<AgentId>), Vec<&MemoryEvent>> = FxHashMap::default();
    for event in &tables.memory_events {
        devices.entry((event.process, event.agent)).or_default().push(event);
    }
    let order = |agent: Option<AgentId>| match agent.and_then(|agent| tables.agents.get(agent.index())) {
        Some(agent) => (0, agent.number),
        None => (1, 0),
    };
    let mut keys: Vec<_> = devices.keys().copied().collect();
    keys.sort_unstable_by_key(|&(process, agent)| (order(agent), agent, process));
    let device = |key: (ProcessId, Option<AgentId>)| {
        let mut events = devices.remove(&key)?;
        // Events of one moment: the source has them in their order, whatever that of its rows.
        events.sort_by_key(|event| (event.time, event.id, event.address, event.bytes));
        let name = key.1.map_or_else(|| "host".to_owned(), |agent| labels::agent(tables, agent));
        let pid = tables.processes.get(key.0.index()).and_then(|process| process.pid);
        Some(DeviceMemory { device: name, pid, ..of_device(&events) })
    };
    Some(keys.into_iter().filter_map(device).collect())
}

/// The figures of events in the order of time.
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
    use super::*;

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
