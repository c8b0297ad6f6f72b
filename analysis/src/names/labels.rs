//! How agents, queues, processes and launch shapes are called in reports.

use rtl_schema::table::{AgentKind, Shape, Track};
use rtl_schema::{AgentId, ProcessId, Tables};

/// `GPU 0`, `CPU 1`, `agent 2`, `unknown agent`.
pub fn agent(tables: &Tables, id: AgentId) -> String {
    match tables.agents.get(id.index()) {
        Some(agent) => match agent.kind {
            AgentKind::Gpu => format!("GPU {}", agent.number),
            AgentKind::Cpu => format!("CPU {}", agent.number),
            AgentKind::Other => format!("agent {}", agent.number),
            AgentKind::Unknown => "unknown agent".to_owned(),
        },
        None => "unknown agent".to_owned(),
    }
}

/// `GPU 0 queue 2`, and the process where several use a queue of that number on that GPU.
pub fn queue(tables: &Tables, track: Track) -> String {
    let shared = tables.tracks.rows().iter().any(|other| {
        (other.agent, other.queue) == (track.agent, track.queue) && other.process != track.process
    });
    let place = format!("{} queue {}", agent(tables, track.agent), track.queue);
    if shared { format!("{place} of {}", process(tables, track.process)) } else { place }
}

/// `pid 4711`, with `rank 3` or the host before it where several could be meant; `process 0` where nothing is known.
pub fn process(tables: &Tables, id: ProcessId) -> String {
    let Some(process) = tables.processes.get(id.index()) else { return format!("process {}", id.0) };
    let mut words = Vec::new();
    if let Some(rank) = process.rank {
        words.push(format!("rank {rank}"));
    }
    let several_hosts = tables.processes.iter().any(|other| other.host != process.host);
    if let Some(host) = process.host.as_ref().filter(|_| several_hosts) {
        words.push(host.clone());
    }
    match process.pid {
        Some(pid) => words.push(format!("pid {pid}")),
        None if words.is_empty() => words.push(format!("process {}", id.0)),
        None => {}
    }
    words.join(" ")
}

/// `64x1x1 groups of 256x1x1`; unknown parts are left out.
pub fn shape(shape: Option<Shape>) -> String {
    let Some(shape) = shape else { return "unknown shape".to_owned() };
    let mut words = match (shape.groups, shape.workgroup) {
        (Some([x, y, z]), Some([a, b, c])) => format!("{x}x{y}x{z} groups of {a}x{b}x{c}"),
        (Some([x, y, z]), None) => format!("{x}x{y}x{z} groups"),
        (None, Some([a, b, c])) => format!("groups of {a}x{b}x{c}"),
        (None, None) => match shape.items {
            Some([x, y, z]) => format!("{x}x{y}x{z} work-items"),
            None => "unknown shape".to_owned(),
        },
    };
    for (bytes, word) in [(shape.lds, "LDS"), (shape.scratch, "scratch")] {
        if let Some(bytes) = bytes.filter(|&bytes| bytes > 0) {
            words.push_str(&format!(", {bytes} B {word}"));
        }
    }
    words
}
