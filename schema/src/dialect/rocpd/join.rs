//! Parts of a scan of the ops are read on several threads. This joins them in order, so that ids do not depend on the threads.

use std::mem::take;

use rustc_hash::FxHashMap;

use super::ops::{JoinedIds, OpPart, UNNAMED, unlisted, unlisted_position};
use super::{Agents, Processes, Variant, links};
use crate::table::{Copies, Interned, Track, Tracks};
use crate::{AgentId, Id, ProblemKind, Problems, ProcessId, Tables, TrackId};

/// Joins the parts of a scan, in their order: their local ids become ids of the tables.
#[derive(Debug)]
pub(super) struct Join<'a> {
    pub(super) variant: &'a Variant,
    pub(super) queues: &'a FxHashMap<(i64, i64), (i64, Option<u64>)>,
    pub(super) agents: &'a mut Agents,
    pub(super) processes: &'a mut Processes,
    /// When set, copies join the tables only after the last op.
    pub(super) hold_copies: bool,
    /// When set, rows stay in the tables until the last op, and GPUs and processes are numbered then. Otherwise the tables
    /// have no ops before each [`Join::join`].
    pub(super) keeps_rows: bool,
    pub(super) seen: Seen,
}

/// Ids and rows that the joined parts have brought.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// True where a dispatch names the call that caused it.
    pub(super) correlated: bool,
    /// As in a part, but of all.
    pids: Interned<i64, u32>,
    gpus: Interned<i64, AgentId>,
    tracks: Tracks,
    /// Their ids in the tables, where they are assigned.
    process_ids: Vec<ProcessId>,
    agent_ids: Vec<AgentId>,
    track_ids: Vec<TrackId>,
    held: Copies,
    /// How many of these have their ids.
    assigned: usize,
    /// The call whose bytes a held copy was given, with the copy's position.
    bytes_of_calls: Vec<(Id, usize)>,
    walks: Vec<links::LinkWalk>,
    problems: Problems,
}

impl Join<'_> {
    /// Moves the rows of `part` to the tables.
    pub(super) fn join(&mut self, part: &mut OpPart, tables: &mut Tables) {
        let seen = &mut self.seen;
        let dispatches = part.dispatches.finish();
        seen.correlated |= !dispatches.is_empty() && dispatches.correlation.uniform() != Some(0);
        seen.walks.push(take(&mut part.walk));
        let JoinedIds { pids, gpus, tracks, shapes } = &mut part.joined;
        extend(pids, part.pids.rows(), |pid| unlisted(seen.pids.intern(pid)));
        extend(gpus, part.gpus.rows(), |gpu| seen.gpus.intern(gpu));
        let process = |local| unlisted_position(local).map_or(local, |position| pids[position]);
        extend(tracks, part.tracks.rows(), |track| {
            let (process, agent) = (process(track.process), gpus[track.agent.index()]);
            seen.tracks.intern(Track { process, agent, ..track })
        });
        // Where launch parameters give the shapes, these are those of the tables, and the part has none.
        extend(shapes, part.shapes.rows(), |shape| tables.shapes.intern(shape));

        let copies = if self.hold_copies { &mut seen.held } else { &mut tables.copies };
        let before = copies.len();
        seen.bytes_of_calls.extend(part.bytes_of_calls.drain(..).map(|(call, copy)| (call, before + copy)));
        for copy in moved(&mut part.copies, copies) {
            copy.track = tracks[copy.track.index()];
            copy.source = copy.source.map(|gpu| gpus[gpu.index()]);
            copy.destination = copy.destination.map(|gpu| gpus[gpu.index()]);
        }
        for barrier in moved(&mut part.barriers, &mut tables.barriers) {
            barrier.track = tracks[barrier.track.index()];
        }
        for range in moved(&mut part.ranges, &mut tables.ranges) {
            range.process = process(range.process);
        }
        tables.info.range_ids |= part.range_ids;
        tables.extra_links.append(&mut part.extra_links);
        seen.problems.append(take(&mut part.problems));
        tables.dispatches.append(dispatches, tracks, shapes);
        if !self.keeps_rows {
            self.assign_ids(tables);
        }
    }

    /// Gives processes, GPUs and tracks their ids in the tables, and these to the rows.
    fn assign_ids(&mut self, tables: &mut Tables) {
        let new = self.seen.gpus.rows()[self.seen.agent_ids.len()..].to_vec();
        self.agents.add(new, self.variant.gpu_stride, &mut tables.agents);
        let Self { variant, queues, agents, processes, seen, .. } = self;
        let Seen { pids, gpus, tracks, process_ids, agent_ids, track_ids, held, assigned, .. } = seen;
        extend(process_ids, pids.rows(), |pid| processes.intern(pid, &mut tables.processes));
        let mut process = |process| match unlisted_position(process) {
            _ if process == UNNAMED => processes.unnamed(&mut tables.processes),
            Some(position) => process_ids[position],
            None => process,
        };
        extend(agent_ids, gpus.rows(), |gpu| agents.find(gpu).unwrap_or_default());

        let several_machines = tables.agents.iter().any(|agent| agent.node.is_some());
        let stride = variant.gpu_stride.filter(|_| several_machines);
        extend(track_ids, tracks.rows(), |track| {
            let position = track.agent.index();
            let named = queues.get(&(gpus.rows()[position], track.queue)).copied();
            let (queue, hardware_queue) = match (named, stride) {
                (Some(named), _) => named,
                (None, Some(stride)) if track.queue >= 0 => (track.queue % stride, track.hardware_queue),
                (None, _) => (track.queue, track.hardware_queue),
            };
            let (process, agent) = (process(track.process), agent_ids[position]);
            tables.tracks.intern(Track { process, agent, queue, hardware_queue, ..track })
        });

        tables.dispatches.renumber_tracks(track_ids);
        tables.ranges.iter_mut().for_each(|range| range.process = process(range.process));
        tables.barriers.iter_mut().for_each(|barrier| barrier.track = track_ids[barrier.track.index()]);
        let agent = |position: AgentId| agent_ids[position.index()];
        let copies = if self.hold_copies { &mut held[*assigned..] } else { tables.copies.as_mut_slice() };
        for copy in copies {
            copy.track = track_ids[copy.track.index()];
            copy.source = copy.source.map(agent);
            copy.destination = copy.destination.map(agent);
        }
        *assigned = held.len();
    }

    /// Adds the results that need all parts: ids of GPUs, dangling links, problems, held copies.
    pub(super) fn finish(mut self, links: &links::Links, tables: &mut Tables) {
        if self.keeps_rows {
            self.assign_ids(tables);
        }
        if let Some((count, first)) = links::dangling(links, &self.seen.walks) {
            tables.problems.add_many(ProblemKind::DanglingLink, "rocpd_api_ops.op_id", first, count);
        }
        tables.problems.append(self.seen.problems);
        forget_shared_bytes(self.seen.bytes_of_calls, &mut self.seen.held);
        if self.hold_copies {
            tables.copies = self.seen.held;
        }
    }
}

/// Moves rows to the end of others, without a copy where there are none, and returns them there.
fn moved<'t, T>(rows: &mut Vec<T>, to: &'t mut Vec<T>) -> &'t mut [T] {
    let first = to.len();
    if first == 0 {
        std::mem::swap(rows, to);
    } else {
        to.append(rows);
    }
    &mut to[first..]
}

/// Adds the ids of the values behind those that have one.
fn extend<T: std::marker::Copy, I>(ids: &mut Vec<I>, values: &[T], id: impl FnMut(T) -> I) {
    ids.extend(values[ids.len()..].iter().copied().map(id));
}

/// A call's bytes are those of all its copies: where several ops share them, each one's own is unknown.
fn forget_shared_bytes(mut bytes_of_calls: Vec<(Id, usize)>, copies: &mut Copies) {
    bytes_of_calls.sort_unstable();
    for shared in bytes_of_calls.chunk_by(|one, other| one.0 == other.0).filter(|shared| shared.len() > 1) {
        shared.iter().for_each(|&(_, copy)| copies[copy].bytes = None);
    }
}
