use super::ops::{NO_GPU, OpPart, UNNAMED};
use super::{Layout, Processes, links};
use crate::table::{Agent, AgentKind, Copies, Lane};
use crate::{AgentId, Id, ProblemKind, ProcessId, ShapeId, Tables};

/// Joins the parts of a scan of the ops, in order: agents get their numbers, lanes and shapes one table.
pub(super) fn join(
    parts: Vec<OpPart>,
    links: &links::Links,
    layout: &Layout,
    processes: &mut Processes,
    tables: &mut Tables,
) {
    if let Some((count, first)) = links::dangling(links, parts.iter().map(|part| &part.walk)) {
        tables.problems.add_many(ProblemKind::DanglingLink, "rocpd_api_ops.op_id", first, count);
    }
    add_agents(&parts, layout, tables);
    let rows = parts.iter().map(|part| part.dispatches.len()).sum();
    tables.dispatches.name.reserve_exact(rows);
    tables.dispatches.lane.reserve_exact(rows);
    tables.dispatches.start.reserve_exact(rows);
    let mut bytes_of_calls = Vec::new();
    for part in parts {
        let copies = tables.copies.len();
        bytes_of_calls.extend(part.bytes_of_calls.iter().map(|&(call, copy)| (call, copies + copy)));
        append(part, layout, processes, tables);
    }
    forget_shared_bytes(bytes_of_calls, &mut tables.copies);
}

fn append(part: OpPart, layout: &Layout, processes: &mut Processes, tables: &mut Tables) {
    let agents: Vec<AgentId> = part.gpus.iter().map(|&gpu| agent_of(gpu, tables)).collect();
    let agent = |local: AgentId| agents[local.index()];
    let pids: Vec<ProcessId> =
        part.pids.iter().map(|&pid| processes.intern(pid, &mut tables.processes)).collect();
    let mut process = |local: ProcessId, tables: &mut Tables| match local {
        UNNAMED => processes.unnamed(&mut tables.processes),
        ProcessId(number) => pids.get((UNNAMED.0 - number) as usize - 1).copied().unwrap_or(local),
    };
    let stride = layout.gpu_stride.filter(|_| tables.agents.iter().any(|agent| agent.node.is_some()));
    let mut lanes = Vec::with_capacity(part.lanes.rows().len());
    for &lane in part.lanes.rows() {
        let process = process(lane.process, tables);
        let queue = stride.filter(|_| lane.queue >= 0).map_or(lane.queue, |stride| lane.queue % stride);
        lanes.push(tables.lanes.intern(Lane { process, agent: agent(lane.agent), queue, ..lane }));
    }
    // Shapes that calls asked for are in the joint table already, and then there are no others.
    let shapes = if part.shapes.rows().is_empty() {
        (0..tables.shapes.rows().len() as u32).map(ShapeId).collect()
    } else {
        tables.shapes.append(&part.shapes)
    };
    tables.copies.reserve(part.copies.len());
    for mut copy in part.copies {
        copy.lane = lanes[copy.lane.index()];
        copy.source = copy.source.map(agent);
        copy.destination = copy.destination.map(agent);
        tables.copies.push(copy);
    }
    for mut barrier in part.barriers {
        barrier.lane = lanes[barrier.lane.index()];
        tables.barriers.push(barrier);
    }
    for mut range in part.ranges {
        range.process = process(range.process, tables);
        tables.ranges.push(range);
    }
    tables.dispatches.append(part.dispatches, &lanes, &shapes);
    tables.about.range_ids |= part.range_ids;
    tables.extra_links.extend(part.extra_links);
    tables.problems.append(part.problems);
}

/// Lists the GPUs that ops name and the metadata does not, in the order of their numbers.
fn add_agents(parts: &[OpPart], layout: &Layout, tables: &mut Tables) {
    let mut numbers: Vec<i64> = parts.iter().flat_map(|part| part.gpus.iter().copied()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let stride =
        layout.gpu_stride.filter(|&stride| stride > 0 && numbers.last().is_some_and(|&last| last >= stride));
    // The one that stands for "none named" sorts first but belongs behind the real ones.
    let (real, absent): (Vec<i64>, Vec<i64>) = numbers.into_iter().partition(|&number| number >= 0);
    for number in real.into_iter().chain(absent) {
        if tables.agents.iter().any(|agent| is_agent(agent, number)) {
            continue;
        }
        tables.agents.push(match stride {
            _ if number < 0 => Agent {
                kind: AgentKind::Unknown,
                number: if number == NO_GPU { -1 } else { number },
                source_id: number,
                ..Agent::default()
            },
            Some(stride) => Agent {
                number,
                node: u32::try_from(number / stride).ok(),
                source_id: number,
                type_index: Some(number % stride),
                ..Agent::default()
            },
            None => Agent { number, source_id: number, type_index: Some(number), ..Agent::default() },
        });
    }
}

fn agent_of(number: i64, tables: &Tables) -> AgentId {
    AgentId(tables.agents.iter().position(|agent| is_agent(agent, number)).unwrap_or(0) as u32)
}

fn is_agent(agent: &Agent, number: i64) -> bool {
    match agent.kind {
        AgentKind::Unknown => agent.source_id == number,
        AgentKind::Gpu => agent.number == number,
        AgentKind::Cpu | AgentKind::Other => false,
    }
}

/// A call's bytes are those of all its copies: where several ops share them, each one's own is unknown.
fn forget_shared_bytes(mut bytes_of_calls: Vec<(Id, usize)>, copies: &mut Copies) {
    bytes_of_calls.sort_unstable();
    for shared in bytes_of_calls.chunk_by(|one, other| one.0 == other.0).filter(|shared| shared.len() > 1) {
        shared.iter().for_each(|&(_, copy)| copies[copy].bytes = None);
    }
}
