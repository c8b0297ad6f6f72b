//! Facts about a trace beside the rows of its tables, as JSON beside the manifest: readers of traces need it, engines do not.

use std::collections::BTreeMap;

use rtl_analysis::facts::DEVICES;
use rtl_schema::table::{Agent, AgentKind, Process, Thread};
use rtl_schema::{ProblemKind, ProcessId, Tables};
use serde::{Deserialize, Serialize};

/// The name of its file in the folder of the run.
pub(crate) const FACTS: &str = "_trace.json";

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Facts {
    schema_version: Option<String>,
    mode: Option<String>,
    losses: Vec<(String, u64)>,
    linked: bool,
    range_ids: bool,
    left_journal: bool,
    trailing_bytes: bool,
    compressed_cut_off: bool,
    replays: u64,
    problems: Vec<Problem>,
    processes: Vec<Process>,
    agents: Vec<Device>,
    threads: Vec<NamedThread>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Problem {
    kind: String,
    place: String,
    count: u64,
    first: i64,
}

/// An agent with what its own form leaves out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Device {
    kind: String,
    process: Option<u32>,
    #[serde(flatten)]
    agent: Agent,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct NamedThread {
    process: u32,
    tid: i64,
    name: Option<String>,
}

const KINDS: [(AgentKind, &str); 4] = [
    (AgentKind::Gpu, "gpu"),
    (AgentKind::Cpu, "cpu"),
    (AgentKind::Other, "other"),
    (AgentKind::Unknown, "unknown"),
];

const PROBLEMS: [(ProblemKind, &str); 5] = [
    (ProblemKind::DanglingName, "dangling name"),
    (ProblemKind::DanglingLink, "dangling link"),
    (ProblemKind::DanglingReference, "dangling reference"),
    (ProblemKind::MissingStart, "missing start"),
    (ProblemKind::BadValue, "bad value"),
];

impl Facts {
    pub(crate) fn new(tables: &Tables) -> Self {
        let info = &tables.info;
        let problem = |problem: &rtl_schema::Problem| Problem {
            kind: word(&PROBLEMS, problem.kind),
            place: problem.place.clone(),
            count: problem.count,
            first: problem.first,
        };
        let device = |agent: &Agent| Device {
            kind: word(&KINDS, agent.kind),
            process: agent.process.map(|process| process.0),
            agent: agent.clone(),
        };
        let process = |process: &Process| Process {
            environment: process.environment.as_deref().and_then(devices),
            ..process.clone()
        };
        let thread = |thread: &Thread| NamedThread {
            process: thread.process.0,
            tid: thread.tid,
            name: thread.name.clone(),
        };
        Self {
            schema_version: info.schema_version.clone(),
            mode: info.mode.clone(),
            losses: info.losses.clone(),
            linked: info.linked,
            range_ids: info.range_ids,
            left_journal: info.left_journal,
            trailing_bytes: info.trailing_bytes,
            compressed_cut_off: info.compressed_cut_off,
            replays: info.replays,
            problems: tables.problems.iter().map(problem).collect(),
            processes: tables.processes.iter().map(process).collect(),
            agents: tables.agents.iter().map(device).collect(),
            threads: tables.threads.iter().map(thread).collect(),
        }
    }

    pub(crate) fn apply(self, tables: &mut Tables) {
        let info = &mut tables.info;
        info.schema_version = self.schema_version;
        info.mode = self.mode;
        info.losses = self.losses;
        (info.linked, info.range_ids) = (self.linked, self.range_ids);
        (info.left_journal, info.trailing_bytes) = (self.left_journal, self.trailing_bytes);
        (info.compressed_cut_off, info.replays) = (self.compressed_cut_off, self.replays);
        for Problem { kind, place, count, first } in self.problems {
            let kind = value(&PROBLEMS, &kind).unwrap_or(ProblemKind::BadValue);
            tables.problems.add_many(kind, &place, first, count);
        }
        tables.processes = self.processes;
        if tables.processes.is_empty() {
            tables.processes.push(Process::default());
        }
        let processes = tables.processes.len();
        let process = |number: u32| Some(ProcessId(number)).filter(|id| id.index() < processes);
        let agent = |Device { kind, process: of, agent }: Device| Agent {
            kind: value(&KINDS, &kind).unwrap_or(AgentKind::Unknown),
            process: of.and_then(process),
            ..agent
        };
        tables.agents = self.agents.into_iter().map(agent).collect();
        let thread = |NamedThread { process: of, tid, name }: NamedThread| {
            Some(Thread { process: process(of)?, tid, name })
        };
        tables.threads = self.threads.into_iter().filter_map(thread).collect();
    }
}

/// Of an environment the variables that choose devices, which reports compare; the others may be secrets.
fn devices(environment: &str) -> Option<String> {
    let all: BTreeMap<String, serde_json::Value> = serde_json::from_str(environment).ok()?;
    let kept: BTreeMap<_, _> = all.into_iter().filter(|(name, _)| DEVICES.contains(&name.as_str())).collect();
    if kept.is_empty() { None } else { serde_json::to_string(&kept).ok() }
}

fn word<T: PartialEq>(words: &[(T, &str)], value: T) -> String {
    words.iter().find(|(other, _)| *other == value).map_or_else(String::new, |(_, word)| (*word).to_owned())
}

fn value<T: Copy>(words: &[(T, &str)], word: &str) -> Option<T> {
    words.iter().find(|(_, other)| *other == word).map(|(value, _)| *value)
}
