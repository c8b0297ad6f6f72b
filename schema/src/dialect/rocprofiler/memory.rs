use serde::Deserialize;

use super::devices::Devices;
use super::events::Events;
use super::references::References;
use super::set::Set;
use crate::table::{AgentKind, Allocation, AllocationKind, AllocationLevel, Copy, Direction, Track};
use crate::{AgentId, Id, ProblemKind, Result, Select, Tables};

/// The flags of a scratch event: text or a number.
#[derive(Deserialize)]
struct Flags {
    flags: Option<serde_json::Value>,
}

/// Reads the copies of one set.
pub(super) fn copies(
    set: Set<'_>,
    select: &Select,
    references: &mut References,
    events: &Events,
    devices: &mut Devices,
    tables: &mut Tables,
) -> Result<()> {
    let columns = [
        "id",
        "pid",
        "tid",
        "start",
        "end",
        "name_id",
        "dst_agent_id",
        "dst_address",
        "src_agent_id",
        "src_address",
        "size",
        "queue_id",
        "stream_id",
        "event_id",
    ];
    set.database.scan(&set.table("rocpd_memory_copy"), &columns, |row| {
        let id = row.int(0).unwrap_or(row.id());
        let Some(start) = row.int(3) else {
            tables.problems.add(ProblemKind::MissingStart, "rocpd_memory_copy.start", id);
            return;
        };
        let mut agent = |place, at, tables: &mut Tables| {
            row.int(at).map(|agent| described(references, devices, tables, place, id, agent))
        };
        let destination = agent("rocpd_memory_copy.dst_agent_id", 6, tables);
        let source = agent("rocpd_memory_copy.src_agent_id", 8, tables);
        let problems = &mut tables.problems;
        let name = references.name(problems, "rocpd_memory_copy.name_id", id, row.int(5));
        let process = references.process(problems, "rocpd_memory_copy.pid", id, row.int(1));
        let tid = references.tid(problems, "rocpd_memory_copy.tid", id, row.int(2));
        let correlation = events.correlation(problems, "rocpd_memory_copy.event_id", id, row.int(13));
        let direction = Direction::parse(tables.strings.get(name)).unwrap_or_default();
        let place = Track {
            process,
            agent: owner(tables, devices, direction, source, destination),
            queue: row.int(11).unwrap_or(0),
            stream: row.int(12),
            hardware_queue: None,
        };
        let track = tables.tracks.intern(place);
        tables.copies.push(Copy {
            id: if select.ids { id } else { 0 },
            name,
            track,
            start,
            duration: row.int(4).and_then(|end| end.checked_sub(start)),
            direction,
            bytes: row.int(10).map(|bytes| bytes as u64),
            source,
            destination,
            source_address: row.int(9).map(|address| address as u64),
            destination_address: row.int(7).map(|address| address as u64),
            tid: tid.filter(|_| select.links),
            correlation: if select.links { correlation } else { 0 },
            ..Copy::default()
        });
    })
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

/// Reads the allocations and scratch events of one set.
pub(super) fn allocations(
    set: Set<'_>,
    references: &mut References,
    events: &Events,
    devices: &mut Devices,
    tables: &mut Tables,
) -> Result<()> {
    let columns = [
        "id",
        "pid",
        "tid",
        "agent_id",
        "type",
        "level",
        "start",
        "end",
        "address",
        "size",
        "queue_id",
        "stream_id",
        "event_id",
        "extdata",
    ];
    set.database.scan(&set.table("rocpd_memory_allocate"), &columns, |row| {
        let id = row.int(0).unwrap_or(row.id());
        let Some(start) = row.int(6) else {
            tables.problems.add(ProblemKind::MissingStart, "rocpd_memory_allocate.start", id);
            return;
        };
        let place = "rocpd_memory_allocate.agent_id";
        let agent = row.int(3).map(|agent| described(references, devices, tables, place, id, agent));
        let problems = &mut tables.problems;
        let kind = row.text(4).as_deref().and_then(kind).unwrap_or_else(|| {
            problems.add(ProblemKind::BadValue, "rocpd_memory_allocate.type", id);
            AllocationKind::default()
        });
        let level = row.text(5).as_deref().and_then(level).unwrap_or_else(|| {
            problems.add(ProblemKind::BadValue, "rocpd_memory_allocate.level", id);
            AllocationLevel::default()
        });
        let flags = row.text(13).and_then(|text| serde_json::from_str::<Flags>(&text).ok()?.flags);
        tables.allocations.push(Allocation {
            id,
            process: references.process(problems, "rocpd_memory_allocate.pid", id, row.int(1)),
            tid: references.tid(problems, "rocpd_memory_allocate.tid", id, row.int(2)),
            agent,
            queue: row.int(10),
            stream: row.int(11),
            kind,
            level,
            start,
            duration: row.int(7).and_then(|end| end.checked_sub(start)),
            address: row.int(8).map(|address| address as u64),
            bytes: row.int(9).unwrap_or(0) as u64,
            flags: flags.and_then(|flags| match flags {
                serde_json::Value::String(text) => text.parse().ok(),
                other => other.as_i64(),
            }),
            correlation: events.correlation(problems, "rocpd_memory_allocate.event_id", id, row.int(12)),
        });
    })
}

fn described(
    references: &mut References,
    devices: &mut Devices,
    tables: &mut Tables,
    place: &str,
    row: Id,
    agent: Id,
) -> AgentId {
    references.agent(agent).unwrap_or_else(|| {
        tables.problems.add(ProblemKind::DanglingReference, place, row);
        references.add_agent(agent, AgentKind::Unknown, devices, tables)
    })
}

fn kind(text: &str) -> Option<AllocationKind> {
    match text {
        "ALLOC" => Some(AllocationKind::Allocate),
        "FREE" => Some(AllocationKind::Free),
        "REALLOC" => Some(AllocationKind::Reallocate),
        "RECLAIM" => Some(AllocationKind::Reclaim),
        _ => None,
    }
}

fn level(text: &str) -> Option<AllocationLevel> {
    match text {
        "REAL" => Some(AllocationLevel::Real),
        "VIRTUAL" => Some(AllocationLevel::Virtual),
        "SCRATCH" => Some(AllocationLevel::Scratch),
        _ => None,
    }
}
