use super::devices::Devices;
use super::events::Events;
use super::references::References;
use super::set::Set;
use crate::sqlite::Row;
use crate::table::{AgentKind, Dispatch, Dispatches, Shape, Shapes, Symbol, Track, Tracks};
use crate::{AgentId, Id, NameId, ProblemKind, Problems, Result, Select, Tables, TrackId};

/// The columns of a dispatch: the ones that are always read, then those of [`Select::launch`].
const COLUMNS: [&str; 19] = [
    "id",
    "pid",
    "tid",
    "agent_id",
    "kernel_id",
    "queue_id",
    "stream_id",
    "start",
    "end",
    "event_id",
    "graph_exec_id",
    "workgroup_size_x",
    "workgroup_size_y",
    "workgroup_size_z",
    "grid_size_x",
    "grid_size_y",
    "grid_size_z",
    "group_segment_size",
    "private_segment_size",
];
const LAUNCH: usize = 11;

/// One thread's share of the rows. Agents that no row describes are numbered past all known ones until
/// the parts come together.
#[derive(Debug, Default)]
struct Part {
    dispatches: Dispatches,
    tracks: Tracks,
    shapes: Shapes,
    problems: Problems,
    undescribed: Vec<Id>,
}

/// The tables that all threads look up.
struct Lookup<'a> {
    select: &'a Select,
    references: &'a References,
    events: &'a Events,
    symbols: &'a [Symbol],
    agents: u32,
}

/// Reads the kernel launches of one set.
pub(super) fn read(
    set: Set<'_>,
    select: &Select,
    references: &mut References,
    events: &Events,
    devices: &mut Devices,
    tables: &mut Tables,
) -> Result<()> {
    let agents = tables.agents.len() as u32;
    let lookup = Lookup { select, references, events, symbols: &tables.symbols, agents };
    let columns = if select.any_shape() { &COLUMNS[..] } else { &COLUMNS[..LAUNCH] };
    let parts = set.database.scan_parts(
        &set.table("rocpd_kernel_dispatch"),
        columns,
        Part::default,
        |part, row| lookup.push(part, row),
    )?;
    for part in parts {
        let added: Vec<AgentId> = part
            .undescribed
            .iter()
            .map(|&id| references.add_agent(id, AgentKind::Gpu, devices, tables))
            .collect();
        let tracks: Vec<TrackId> = part
            .tracks
            .rows()
            .iter()
            .map(|&track| {
                let position = track.agent.0.checked_sub(agents);
                let agent = position.map_or(track.agent, |position| added[position as usize]);
                tables.tracks.intern(Track { agent, ..track })
            })
            .collect();
        let shapes = tables.shapes.append(&part.shapes);
        tables.dispatches.append(part.dispatches, &tracks, &shapes);
        tables.problems.append(part.problems);
    }
    Ok(())
}

impl Lookup<'_> {
    fn push(&self, part: &mut Part, row: &Row<'_>) {
        let Self { references, events, .. } = self;
        let problems = &mut part.problems;
        let id = row.int(0).unwrap_or(row.id());
        let Some(start) = row.int(7) else {
            problems.add(ProblemKind::MissingStart, "rocpd_kernel_dispatch.start", id);
            return;
        };
        let track = Track {
            process: references.process(problems, "rocpd_kernel_dispatch.pid", id, row.int(1)),
            agent: self.agent(&mut part.undescribed, problems, id, row.int(3).unwrap_or(-1)),
            queue: row.int(5).unwrap_or(0),
            stream: row.int(6),
            hardware_queue: None,
        };
        let symbol = row.int(4).and_then(|kernel| references.symbol(kernel));
        if symbol.is_none() {
            problems.add(ProblemKind::DanglingReference, "rocpd_kernel_dispatch.kernel_id", id);
        }
        let (tid, correlation) = if self.select.links {
            (
                references.tid(problems, "rocpd_kernel_dispatch.tid", id, row.int(2)),
                events.correlation(problems, "rocpd_kernel_dispatch.event_id", id, row.int(9)),
            )
        } else {
            (None, 0)
        };
        part.dispatches.push(Dispatch {
            id: if self.select.ids { id } else { 0 },
            name: symbol.map_or(NameId::DANGLING, |symbol| self.symbols[symbol.index()].name),
            track: part.tracks.intern(track),
            start,
            duration: row.int(8).and_then(|end| end.checked_sub(start)),
            tid,
            correlation,
            shape: self.select.any_shape().then(|| part.shapes.intern(shape(row))),
            symbol: symbol.filter(|_| self.select.launch),
            graph: row.int(10).is_some_and(|graph| graph != 0),
            ..Dispatch::default()
        });
    }

    fn agent(&self, undescribed: &mut Vec<Id>, problems: &mut Problems, row: Id, id: Id) -> AgentId {
        self.references.agent(id).unwrap_or_else(|| {
            problems.add(ProblemKind::DanglingReference, "rocpd_kernel_dispatch.agent_id", row);
            let position = undescribed.iter().position(|&known| known == id).unwrap_or_else(|| {
                undescribed.push(id);
                undescribed.len() - 1
            });
            AgentId(self.agents + position as u32)
        })
    }
}

/// rocprofv3 stores work-items. A work-group of no work-items is an unknown one: its columns must have a value.
fn shape(row: &Row<'_>) -> Shape {
    let small = |at: usize| row.int(at).and_then(|value| u32::try_from(value).ok());
    let large = |at: usize| row.int(at).and_then(|value| u64::try_from(value).ok());
    let workgroup = small(11).zip(small(12)).zip(small(13)).map(|((x, y), z)| [x, y, z]);
    let items = large(14).zip(large(15)).zip(large(16)).map(|((x, y), z)| [x, y, z]);
    let workgroup = workgroup.filter(|group| group[0] != 0);
    let items = items.filter(|items| items[0] != 0);
    let extent = match (workgroup, items) {
        (Some(workgroup), Some(items)) => Shape::from_items(workgroup, items),
        _ => Shape { workgroup, items, ..Shape::default() },
    };
    Shape { lds: small(17), scratch: small(18), ..extent }
}
