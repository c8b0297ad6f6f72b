use super::reading::Reading;
use crate::sqlite::scanned;
use crate::table::{AgentKind, Dispatch, Dispatches, Interned, Shape, Shapes, Track, Tracks, all};
use crate::{AgentId, Id, NameId, ProblemKind, Problems, Result, TrackId};

/// One thread's share of the rows. Agents that no row describes are numbered past all known ones until
/// the parts come together.
#[derive(Debug, Default)]
struct Part {
    dispatches: Dispatches,
    tracks: Tracks,
    shapes: Shapes,
    problems: Problems,
    undescribed: Interned<Id, u32>,
    replays: u64,
}

impl Reading<'_> {
    /// Reads the kernel launches.
    pub(super) fn dispatches(&mut self) -> Result<()> {
        const TABLE: &str = "rocpd_kernel_dispatch";
        scanned!(columns: id, pid, tid, start, end, event_id, agent_id, kernel_id, queue_id, stream_id, graph_exec_id,
            replay_pass, workgroup_size_x, workgroup_size_y, workgroup_size_z, grid_size_x, grid_size_y, grid_size_z,
            group_segment_size, private_segment_size);
        let (set, select) = (self.set, *self.select);
        let columns = if select.any_shape() { &columns[..] } else { &columns[..workgroup_size_x] };
        let (references, events, symbols) = (&self.references, &self.events, &self.tables.symbols);
        let agents = self.tables.agents.len() as u32;
        let first_pass = set.first_pass()?;
        let parts = set.database.scan_parts(&set.table(TABLE), columns, Part::default, |part, row| {
            let Part { dispatches, tracks, shapes, problems, undescribed, replays } = part;
            if row.int(replay_pass) > first_pass {
                *replays += 1;
                return;
            }
            let at = [id, pid, tid, start, end, event_id];
            let Some(timed) = events.timed(references, problems, TABLE, row, at, select.links) else {
                return;
            };
            let agent = row.int(agent_id).unwrap_or(-1);
            let agent = references.agents.get(&agent).copied().unwrap_or_else(|| {
                problems.add_in(ProblemKind::DanglingReference, TABLE, "agent_id", timed.id);
                AgentId(agents + undescribed.intern(agent))
            });
            let symbol = row.int(kernel_id).and_then(|kernel| references.symbols.get(kernel));
            if symbol.is_none() {
                problems.add_in(ProblemKind::DanglingReference, TABLE, "kernel_id", timed.id);
            }
            let track = Track {
                process: timed.process,
                agent,
                queue: row.int(queue_id).unwrap_or(0),
                stream: row.int(stream_id),
                hardware_queue: None,
            };
            let shape = || {
                // A work-group of no work-items is an unknown one: its columns must have a value.
                let workgroup = [workgroup_size_x, workgroup_size_y, workgroup_size_z];
                let workgroup = all(workgroup.map(|at| row.unsigned(at))).filter(|sizes| sizes[0] != 0);
                let items = all([grid_size_x, grid_size_y, grid_size_z].map(|at| row.unsigned(at)));
                let (lds, scratch) = (row.unsigned(group_segment_size), row.unsigned(private_segment_size));
                let items = items.filter(|sizes| sizes[0] != 0);
                Shape { lds, scratch, ..Shape::of_items(workgroup, items) }
            };
            dispatches.push(Dispatch {
                id: if select.ids { timed.id } else { 0 },
                name: symbol.map_or(NameId::DANGLING, |symbol| symbols[symbol.index()].name),
                track: tracks.intern(track),
                start: timed.start,
                duration: timed.duration,
                tid: timed.tid,
                correlation: timed.correlation,
                shape: select.any_shape().then(|| shapes.intern(shape())),
                symbol: symbol.filter(|_| select.launch),
                graph: row.int(graph_exec_id).is_some_and(|graph| graph != 0),
                ..Dispatch::default()
            });
        })?;
        for mut part in parts {
            let added: Vec<AgentId> = part
                .undescribed
                .rows()
                .iter()
                .map(|&id| self.references.add_agent(id, AgentKind::Gpu, self.devices, self.tables))
                .collect();
            let place = |track: &Track| {
                let position = track.agent.0.checked_sub(agents);
                let agent = position.map_or(track.agent, |position| added[position as usize]);
                self.tables.tracks.intern(Track { agent, ..*track })
            };
            let tracks: Vec<TrackId> = part.tracks.rows().iter().map(place).collect();
            let shapes = self.tables.shapes.append(&part.shapes);
            self.tables.dispatches.append(&mut part.dispatches, &tracks, &shapes);
            self.tables.problems.append(part.problems);
            self.tables.info.replays += part.replays;
        }
        Ok(())
    }
}
