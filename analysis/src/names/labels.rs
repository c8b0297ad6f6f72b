//! How agents, queues, processes and launch shapes are called in reports.

use rtl_schema::table::{AgentKind, Shape, Track};
use rtl_schema::{AgentId, ProcessId, Tables};
use rustc_hash::{FxHashMap, FxHashSet};

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

/// The names of queues and processes. Whether a name needs more words depends on all others, which are looked at once.
#[derive(Debug)]
pub struct Labels<'a> {
    tables: &'a Tables,
    /// Queues whose number several processes use on that GPU.
    shared: FxHashSet<(AgentId, i64)>,
    several_hosts: bool,
}

impl<'a> Labels<'a> {
    /// Looks at all queues and processes of a trace.
    #[must_use]
    pub fn new(tables: &'a Tables) -> Self {
        let mut users: FxHashMap<(AgentId, i64), ProcessId> = FxHashMap::default();
        let mut shared = FxHashSet::default();
        for &Track { process, agent, queue, .. } in tables.tracks.rows() {
            if *users.entry((agent, queue)).or_insert(process) != process {
                shared.insert((agent, queue));
            }
        }
        let several_hosts = tables.processes.windows(2).any(|pair| pair[0].host != pair[1].host);
        Self { tables, shared, several_hosts }
    }

    /// `GPU 0 queue 2`, and the process where several use a queue of that number on that GPU.
    #[must_use]
    pub fn queue(&self, track: Track) -> String {
        let place = format!("{} queue {}", agent(self.tables, track.agent), track.queue);
        match self.shared.contains(&(track.agent, track.queue)) {
            true => format!("{place} of {}", self.process(track.process)),
            false => place,
        }
    }

    /// `pid 4711`, with `rank 3` or the host before it where several could be meant; `process 0` where nothing is known.
    #[must_use]
    pub fn process(&self, id: ProcessId) -> String {
        let Some(process) = self.tables.processes.get(id.index()) else { return format!("process {}", id.0) };
        let mut words = Vec::new();
        if let Some(rank) = process.rank {
            words.push(format!("rank {rank}"));
        }
        if let Some(host) = process.host.as_ref().filter(|_| self.several_hosts) {
            words.push(host.clone());
        }
        match process.pid {
            Some(pid) => words.push(format!("pid {pid}")),
            None if words.is_empty() => words.push(format!("process {}", id.0)),
            None => {}
        }
        words.join(" ")
    }
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
