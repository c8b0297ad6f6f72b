//! How agents, queues and processes are called in reports.

use schema::table::AgentKind;
use schema::{AgentId, ProcessId, Tables};

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
