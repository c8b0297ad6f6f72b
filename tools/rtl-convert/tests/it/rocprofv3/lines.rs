//! Rows as lines, with what a format of rocprofv3 can hold of them.

use rtl_schema::table::{AgentKind, Direction, Dispatch, RangeKind};
use rtl_schema::{AgentId, NameId, Tables};

/// Ids that rtl-convert gives to ranges without one begin here.
const OWN_IDS: i64 = 1 << 52;

/// Every row with a valid end as a line without ids of the file, in order of the text.
pub(crate) fn held(tables: &Tables) -> Vec<String> {
    let mut lines = Vec::new();
    let text = |id: NameId| if id.is_some() { tables.strings.get(id) } else { "" };
    let dispatches: Vec<Dispatch> = tables.dispatches.iter().collect();
    let gpu = |id: AgentId| match tables.agent(id).kind {
        AgentKind::Gpu => format!("GPU {}", tables.agent(id).number),
        kind => format!("{kind:?}"),
    };
    for row in tables.dispatches.iter().filter(|row| is_valid(row.duration)) {
        let track = tables.tracks.get(row.track);
        let shape = row.shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default();
        let symbol = row.symbol.map(|symbol| tables.symbols[symbol.index()]).unwrap_or_default();
        let name = rtl_schema::identity(tables.strings.get(row.name));
        let name = rtl_schema::demangle(name).unwrap_or_else(|| name.to_owned());
        lines.push(format!(
            "dispatch {name} {} {} {:?} {} {:?} {:?} {} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
            gpu(track.agent),
            track.queue,
            track.stream,
            row.start,
            row.duration,
            row.tid,
            row.correlation,
            shape.workgroup,
            shape.items,
            shape.lds,
            shape.scratch,
            symbol.vgprs,
            symbol.agprs,
            symbol.sgprs,
            row.graph,
        ));
    }
    for row in tables.copies.iter().filter(|row| is_valid(row.duration)) {
        let track = tables.tracks.get(row.track);
        let agent = if row.direction == Direction::HostToHost { String::new() } else { gpu(track.agent) };
        let peer = match row.direction {
            Direction::DeviceToDevice => row.source.map(gpu),
            _ => None,
        };
        lines.push(format!(
            "copy {:?} {agent} {peer:?} {:?} {} {:?} {:?} {:?} {}",
            row.direction, track.stream, row.start, row.duration, row.bytes, row.tid, row.correlation
        ));
    }
    for row in tables.ranges.iter().filter(|row| is_valid(row.duration) || row.is_marker()) {
        let known = if row.correlation > OWN_IDS { 0 } else { row.correlation };
        let process_range = row.kind == RangeKind::Process || row.tid.is_none();
        let kind = if row.is_marker() {
            "marker"
        } else if process_range {
            "process"
        } else {
            "thread"
        };
        let duration = if row.is_marker() { Some(0) } else { row.duration };
        let name = tables.strings.get(row.name);
        lines.push(format!("{kind} {name} {:?} {} {duration:?} {known}", row.tid, row.start));
    }
    for row in tables.api_calls.iter().filter(|row| is_valid(row.duration)) {
        lines.push(format!(
            "call {} {} {:?} {} {:?} {} {} {:?}",
            text(row.name),
            text(row.args),
            row.tid,
            row.start,
            row.duration,
            row.correlation,
            row.parent,
            row.stream
        ));
    }
    for row in tables.allocations.iter().filter(|row| is_valid(row.duration)) {
        lines.push(format!(
            "allocation {:?} {:?} {:?} {:?} {} {:?} {:?} {} {}",
            row.kind,
            row.level,
            row.agent.map(gpu),
            row.tid,
            row.start,
            row.duration,
            row.address,
            row.bytes,
            row.correlation
        ));
    }
    for value in &tables.counters {
        let same = |row: &&Dispatch| {
            row.id == value.dispatch && tables.tracks.get(row.track).process == value.process
        };
        let start = dispatches.iter().find(same).map(|row| row.start);
        let agent = value.agent.map(gpu);
        lines.push(format!("counter {} {agent:?} {} during {start:?}", text(value.name), value.value));
    }
    lines.sort();
    lines
}

fn is_valid(duration: Option<i64>) -> bool {
    duration.is_some_and(|duration| duration >= 0)
}
