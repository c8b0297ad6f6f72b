use rustc_hash::FxHashMap;

use super::ops::{OpPart, UNNAMED};
use super::{Agents, Processes, Variant, links};
use crate::table::{Copies, Dispatches, Track, Tracks};
use crate::{AgentId, Id, ProblemKind, Problems, ProcessId, ShapeId, Tables, TrackId};

/// Joins the parts of a scan: their local ids become ids of the tables.
#[derive(Debug)]
pub(super) struct Join<'a> {
    pub(super) variant: &'a Variant,
    pub(super) queues: &'a FxHashMap<(i64, i64), (i64, Option<u64>)>,
    pub(super) agents: &'a mut Agents,
    pub(super) processes: &'a mut Processes,
    /// Whether copies join the tables only after the last op.
    pub(super) hold_copies: bool,
    pub(super) met: Met,
}

/// Facts about the parts that no table keeps.
#[derive(Debug, Default)]
pub(super) struct Met {
    /// Whether any dispatch names the call that caused it.
    pub(super) correlated: bool,
    held: Copies,
    /// The call whose bytes a held copy was given, with the copy's position.
    bytes_of_calls: Vec<(Id, usize)>,
    walks: Vec<links::LinkWalk>,
    problems: Problems,
}

impl Join<'_> {
    /// Joins the parts of a scan of the ops, in order: agents get their numbers, tracks and shapes one table.
    pub(super) fn join(&mut self, parts: Vec<OpPart>, tables: &mut Tables) {
        let gpus = parts.iter().flat_map(|part| part.gpus.rows().iter().copied()).collect();
        self.agents.add(gpus, self.variant.gpu_stride, &mut tables.agents);
        let count = |rows: fn(&OpPart) -> usize| parts.iter().map(rows).sum();
        self.copies(tables).reserve(count(|part| part.copies.len()));
        tables.barriers.reserve(count(|part| part.barriers.len()));
        tables.ranges.reserve(count(|part| part.ranges.len()));
        let append = |part: OpPart| {
            let copies = self.met.held.len();
            self.met
                .bytes_of_calls
                .extend(part.bytes_of_calls.iter().map(|&(call, copy)| (call, copies + copy)));
            self.append(part, tables)
        };
        let dispatches = parts.into_iter().map(append).collect();
        tables.dispatches.append_all(dispatches);
    }

    /// Adds the results that need all parts: dangling links, problems, held copies.
    pub(super) fn finish(mut self, links: &links::Links, tables: &mut Tables) {
        if let Some((count, first)) = links::dangling(links, &self.met.walks) {
            tables.problems.add_many(ProblemKind::DanglingLink, "rocpd_api_ops.op_id", first, count);
        }
        tables.problems.append(self.met.problems);
        forget_shared_bytes(self.met.bytes_of_calls, &mut self.met.held);
        if self.hold_copies {
            tables.copies = self.met.held;
        }
    }

    /// Adds all but the dispatches of `part` to the tables. Returns these with their tracks and shapes in the tables.
    fn append(&mut self, mut part: OpPart, tables: &mut Tables) -> (Dispatches, Vec<TrackId>, Vec<ShapeId>) {
        part.dispatches.fill();
        self.met.correlated |=
            !part.dispatches.is_empty() && part.dispatches.correlation.uniform() != Some(0);
        self.met.walks.push(std::mem::take(&mut part.walk));
        let agents: Vec<AgentId> =
            part.gpus.rows().iter().map(|&gpu| self.agents.find(gpu).unwrap_or_default()).collect();
        let agent = |local: AgentId| agents[local.index()];
        let pids: Vec<ProcessId> =
            part.pids.rows().iter().map(|&pid| self.processes.intern(pid, &mut tables.processes)).collect();
        let tracks = self.tracks(&part.tracks, part.gpus.rows(), &agents, &pids, tables);
        // Shapes of launch parameters are in the joint table already, and then there are no others.
        let shapes = if part.shapes.is_empty() {
            (0..tables.shapes.rows().len() as u32).map(ShapeId).collect()
        } else {
            part.shapes.join(&mut tables.shapes)
        };
        let copies = self.copies(tables);
        for mut copy in part.copies {
            copy.track = tracks[copy.track.index()];
            copy.source = copy.source.map(agent);
            copy.destination = copy.destination.map(agent);
            copies.push(copy);
        }
        for mut barrier in part.barriers {
            barrier.track = tracks[barrier.track.index()];
            tables.barriers.push(barrier);
        }
        for mut range in part.ranges {
            range.process = self.process(range.process, &pids, tables);
            tables.ranges.push(range);
        }
        tables.info.range_ids |= part.range_ids;
        tables.extra_links.extend(part.extra_links);
        self.met.problems.append(part.problems);
        (part.dispatches, tracks, shapes)
    }

    /// Where copies are put until the last op is there.
    fn copies<'t>(&'t mut self, tables: &'t mut Tables) -> &'t mut Copies {
        if self.hold_copies { &mut self.met.held } else { &mut tables.copies }
    }

    fn tracks(
        &mut self,
        tracks: &Tracks,
        gpus: &[i64],
        agents: &[AgentId],
        pids: &[ProcessId],
        tables: &mut Tables,
    ) -> Vec<TrackId> {
        let several_machines = tables.agents.iter().any(|agent| agent.node.is_some());
        let stride = self.variant.gpu_stride.filter(|_| several_machines);
        let mut ids = Vec::with_capacity(tracks.rows().len());
        for &track in tracks.rows() {
            let local = track.agent.index();
            let named = self.queues.get(&(gpus[local], track.queue)).copied();
            let (queue, hardware_queue) = match (named, stride) {
                (Some(named), _) => named,
                (None, Some(stride)) if track.queue >= 0 => (track.queue % stride, track.hardware_queue),
                (None, _) => (track.queue, track.hardware_queue),
            };
            let process = self.process(track.process, pids, tables);
            let agent = agents[local];
            ids.push(tables.tracks.intern(Track { process, agent, queue, hardware_queue, ..track }));
        }
        ids
    }

    /// The process that a part calls `local`.
    fn process(&mut self, local: ProcessId, pids: &[ProcessId], tables: &mut Tables) -> ProcessId {
        match (UNNAMED.0 - local.0) as usize {
            0 => self.processes.unnamed(&mut tables.processes),
            below => pids.get(below - 1).copied().unwrap_or(local),
        }
    }
}

/// A call's bytes are those of all its copies: where several ops share them, each one's own is unknown.
fn forget_shared_bytes(mut bytes_of_calls: Vec<(Id, usize)>, copies: &mut Copies) {
    bytes_of_calls.sort_unstable();
    for shared in bytes_of_calls.chunk_by(|one, other| one.0 == other.0).filter(|shared| shared.len() > 1) {
        shared.iter().for_each(|&(_, copy)| copies[copy].bytes = None);
    }
}
