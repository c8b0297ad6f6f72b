use std::borrow::Cow;

use serde_json::Value;

use super::devices::Devices;
use super::reading::Reading;
use crate::sqlite::scanned;
use crate::table::{AgentKind, Allocation, AllocationKind, AllocationLevel, Copy, Direction, Track};
use crate::{AgentId, NameId, ProblemKind, Result, Tables};

impl Reading<'_> {
    pub(super) fn copies(&mut self) -> Result<()> {
        const TABLE: &str = "rocpd_memory_copy";
        scanned!(columns: id, pid, tid, start, end, event_id, name_id, dst_agent_id, dst_address, src_agent_id,
            src_address, size, queue_id, stream_id, extdata);
        let (set, select) = (self.set, self.select);
        set.database.scan(&set.table(TABLE), &columns, |row| {
            let at = [id, pid, tid, start, end, event_id];
            let Some(timed) = self.timed(TABLE, row, at) else { return };
            let destination = row.int(dst_agent_id).map(|id| self.agent(TABLE, "dst_agent_id", timed.id, id));
            let source = row.int(src_agent_id).map(|id| self.agent(TABLE, "src_agent_id", timed.id, id));
            let problems = &mut self.tables.problems;
            let name = self.references.names.checked(
                row.int(name_id),
                problems,
                "rocpd_memory_copy.name_id",
                timed.id,
            );
            let direction = direction(self.tables, name, source, destination);
            let place = Track {
                process: timed.process,
                agent: owner(self.tables, self.devices, direction, source, destination),
                queue: row.int(queue_id).unwrap_or(0),
                stream: row.int(stream_id),
                hardware_queue: None,
            };
            let track = self.tables.tracks.intern(place);
            self.tables.copies.push(Copy {
                id: if select.ids { timed.id } else { 0 },
                name,
                track,
                start: timed.start,
                duration: timed.duration,
                direction,
                bytes: row
                    .int(size)
                    .map(|bytes| bytes as u64)
                    .filter(|&bytes| bytes != 0 || !is_unknown(row.text(extdata))),
                source,
                destination,
                source_address: row.int(src_address).map(|address| address as u64),
                destination_address: row.int(dst_address).map(|address| address as u64),
                tid: timed.tid.filter(|_| select.links),
                correlation: if select.links { timed.correlation } else { 0 },
                ..Copy::default()
            });
        })
    }

    /// Reads the allocations and scratch events.
    pub(super) fn allocations(&mut self) -> Result<()> {
        const TABLE: &str = "rocpd_memory_allocate";
        scanned!(columns: id, pid, tid, start, end, event_id, agent_id, kind = "type", level, address, size, queue_id,
            stream_id, extdata);
        let set = self.set;
        set.database.scan(&set.table(TABLE), &columns, |row| {
            let at = [id, pid, tid, start, end, event_id];
            let Some(timed) = self.timed(TABLE, row, at) else { return };
            let agent = row.int(agent_id).map(|id| self.agent(TABLE, "agent_id", timed.id, id));
            let problems = &mut self.tables.problems;
            let kind = row.text(kind).as_deref().and_then(AllocationKind::parse).unwrap_or_else(|| {
                problems.add_in(ProblemKind::BadValue, TABLE, "type", timed.id);
                AllocationKind::default()
            });
            let level = row.text(level).as_deref().and_then(AllocationLevel::parse).unwrap_or_else(|| {
                problems.add_in(ProblemKind::BadValue, TABLE, "level", timed.id);
                AllocationLevel::default()
            });
            let extdata: Option<Value> = row.text(extdata).and_then(|text| serde_json::from_str(&text).ok());
            // The flags of a scratch event: text or a number.
            let flags = extdata.and_then(|extdata| match &extdata["flags"] {
                Value::String(text) => text.parse().ok(),
                other => other.as_i64(),
            });
            self.tables.allocations.push(Allocation {
                id: timed.id,
                process: timed.process,
                tid: timed.tid,
                agent,
                queue: row.int(queue_id),
                stream: row.int(stream_id),
                kind,
                level,
                start: timed.start,
                duration: timed.duration,
                address: row.int(address).map(|address| address as u64),
                bytes: row.int(size).unwrap_or(0) as u64,
                flags,
                correlation: timed.correlation,
            });
        })
    }
}

/// The direction that a copy's name states, else the one that its agents do.
pub(crate) fn direction(
    tables: &Tables,
    name: NameId,
    source: Option<AgentId>,
    destination: Option<AgentId>,
) -> Direction {
    let kind = |agent: Option<AgentId>| agent.map(|agent| tables.agent(agent).kind);
    match (Direction::parse(tables.strings.get(name)).unwrap_or_default(), kind(source), kind(destination)) {
        (Direction::Unknown, Some(AgentKind::Cpu), Some(AgentKind::Gpu)) => Direction::HostToDevice,
        (Direction::Unknown, Some(AgentKind::Gpu), Some(AgentKind::Cpu)) => Direction::DeviceToHost,
        // One agent at both ends may stand for an end that is unknown.
        (Direction::Unknown, Some(AgentKind::Gpu), Some(AgentKind::Gpu)) if source != destination => {
            Direction::DeviceToDevice
        }
        (stated, ..) => stated,
    }
}

/// The size column must have a value: details of a copy say where it is unknown.
fn is_unknown(extdata: Option<Cow<'_, str>>) -> bool {
    let extdata: Option<Value> = extdata.and_then(|text| serde_json::from_str(&text).ok());
    extdata.is_some_and(|extdata| extdata.get("size") == Some(&Value::Null))
}

/// The agent that a copy belongs to: the source of one to the host, else the destination; whichever is
/// known if only one is.
pub(crate) fn owner(
    tables: &mut Tables,
    devices: &mut Devices,
    direction: Direction,
    source: Option<AgentId>,
    destination: Option<AgentId>,
) -> AgentId {
    let towards_host = match direction {
        Direction::DeviceToHost => true,
        Direction::Unknown => destination.is_some_and(|agent| tables.agent(agent).kind == AgentKind::Cpu),
        _ => false,
    };
    let (first, second) = if towards_host { (source, destination) } else { (destination, source) };
    first.or(second).unwrap_or_else(|| devices.unknown(&mut tables.agents))
}
