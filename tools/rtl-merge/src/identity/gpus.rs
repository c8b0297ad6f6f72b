//! Finds the GPUs that several traces share, and numbers them in the merged trace.

use std::collections::{BTreeMap, BTreeSet};

use rtl_schema::table::{Agent, AgentKind};
use rtl_schema::{AgentId, ProcessId};
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::machines::Machines;
use crate::read::Input;

/// Identifies an agent across traces: by the machine and its place in it, never by an index that environment variables of
/// the process may change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Identity {
    /// PCI address and render node: partitions of one card share the address.
    Place { machine: usize, pci: String, minor: Option<i64> },
    /// The number of the driver among all agents of the machine.
    Node { machine: usize, index: i64, kind: AgentKind },
    /// The index, with `--same-gpus`.
    Index { index: i64, kind: AgentKind },
    /// Unidentified: different in every trace.
    Unidentified { input: usize, agent: usize },
}

#[derive(Debug, Clone)]
pub(crate) struct Device {
    /// The agent of the first trace that lists it, with its number in the merged trace.
    pub(crate) agent: Agent,
    /// The value in gpuId columns; `None` for an agent of unknown kind.
    pub(crate) number: Option<i64>,
    /// The machine and the GPU in it, as `node3/gpu5`.
    pub(crate) label: String,
    pub(crate) ranks: BTreeSet<u32>,
    pub(crate) inputs: BTreeSet<usize>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Devices {
    /// GPUs by number, then other agents.
    pub(crate) all: Vec<Device>,
    /// The values in gpuId columns, by input and agent.
    pub(crate) numbers: Vec<Vec<Option<i64>>>,
    /// The GPU numbers of monitors and those of the merged trace, by input.
    pub(crate) monitored: Vec<FxHashMap<i64, i64>>,
    pub(crate) notes: Vec<String>,
}

/// An agent of one or more traces.
struct SharedAgent {
    agent: Agent,
    machine: usize,
    minor: Option<i64>,
    uuids: BTreeSet<String>,
    members: Vec<(usize, usize)>,
}

impl Devices {
    /// Finds all agents; `same` identifies unidentified ones by their index.
    pub(crate) fn find(inputs: &[Input], machines: &Machines, same: bool) -> Self {
        let mut found: BTreeMap<Identity, SharedAgent> = BTreeMap::new();
        let mut notes = Vec::new();
        for (at, input) in inputs.iter().enumerate() {
            for (number, agent) in input.agents.iter().enumerate() {
                let machine = machine(input, at, AgentId(number as u32), machines);
                let details = Details::parse(agent);
                let own = Identity::Unidentified { input: at, agent: number };
                let index = Identity::Index { index: agent.number, kind: agent.kind };
                let known = machine.filter(|&machine| machines.all[machine].is_known());
                let mut identity = match identify(agent, &details, known) {
                    Some(identity) => identity,
                    None if same || agent.kind == AgentKind::Unknown => index,
                    None => own.clone(),
                };
                // Another device in the same place: the place is wrong.
                let uuid = agent.uuid.clone();
                if let (Some(known), Some(uuid)) = (found.get(&identity), &uuid)
                    && !known.uuids.is_empty()
                    && !known.uuids.contains(uuid)
                {
                    notes.push(format!(
                        "GPU {} of {} has the place of another one but not its uuid: it is kept apart",
                        agent.number,
                        input.name()
                    ));
                    identity = own;
                }
                let entry = found.entry(identity).or_insert_with(|| SharedAgent {
                    agent: agent.clone(),
                    machine: machine.unwrap_or(usize::MAX),
                    minor: details.minor,
                    uuids: BTreeSet::new(),
                    members: Vec::new(),
                });
                entry.uuids.extend(uuid);
                entry.members.push((at, number));
            }
        }
        let mut devices = Self { notes, ..Self::default() };
        devices.numbers = inputs.iter().map(|input| vec![None; input.agents.len()]).collect();
        devices.number(found, inputs, machines);
        devices.number_monitored(inputs, machines);
        devices
    }

    fn number(&mut self, found: BTreeMap<Identity, SharedAgent>, inputs: &[Input], machines: &Machines) {
        let alone = machines.all.iter().filter(|machine| machine.is_known()).count() < 2;
        // By machine, then by PCI bus, which is the order of the identities.
        let mut found: Vec<SharedAgent> = found.into_values().collect();
        found.sort_by_key(|found| (found.agent.kind != AgentKind::Gpu, found.machine));
        let (mut next, mut others) = (0, -2);
        let mut counted: FxHashMap<usize, i64> = FxHashMap::default();
        for found in found {
            let position = *counted.entry(found.machine).and_modify(|count| *count += 1).or_insert(0);
            let known = machines.all.get(found.machine).filter(|machine| machine.is_known());
            let local = match (found.minor, known) {
                // The driver numbers render nodes from 128 on.
                (Some(minor), _) if minor >= 128 => minor - 128,
                (_, Some(_)) => position,
                _ => found.agent.number,
            };
            let number = match found.agent.kind {
                AgentKind::Gpu => {
                    next += 1;
                    Some(next - 1)
                }
                AgentKind::Unknown => None,
                AgentKind::Cpu | AgentKind::Other => {
                    others -= 1;
                    Some(others + 1)
                }
            };
            let place = machines.all.get(found.machine).map_or("?", |machine| machine.label.as_str());
            let users = |&(input, agent): &(usize, usize)| {
                let used = inputs[input].users.iter().filter(move |used| used.1.index() == agent);
                used.filter_map(move |used| inputs[input].processes[used.0.index()].rank)
            };
            let agent = Agent {
                number: number.unwrap_or(-1),
                node: known.filter(|_| !alone).map(|_| found.machine as u32),
                process: None,
                type_index: Some(local),
                ..found.agent
            };
            for &(input, agent) in &found.members {
                self.numbers[input][agent] = number;
            }
            self.all.push(Device {
                agent,
                number,
                label: format!("{place}/gpu{local}"),
                ranks: found.members.iter().flat_map(users).collect(),
                inputs: found.members.iter().map(|&(input, _)| input).collect(),
            });
        }
    }

    /// Monitors identify GPUs by index; an index without an agent is another GPU.
    fn number_monitored(&mut self, inputs: &[Input], machines: &Machines) {
        let mut next = self.gpus().filter_map(|device| device.number).max().map_or(0, |number| number + 1);
        let mut extra: BTreeMap<(Option<usize>, i64), i64> = BTreeMap::new();
        for (at, input) in inputs.iter().enumerate() {
            let mut monitored = FxHashMap::default();
            for &device in &input.monitored {
                let own = input.agents.iter().zip(&self.numbers[at]);
                let listed = own.filter(|(agent, _)| agent.kind == AgentKind::Gpu && agent.number == device);
                let number = listed.map(|(_, number)| *number).next().flatten().unwrap_or_else(|| {
                    let machine = machines.only(at).filter(|&machine| machines.all[machine].is_known());
                    *extra.entry((machine.or(Some(usize::MAX - at)), device)).or_insert_with(|| {
                        next += 1;
                        next - 1
                    })
                });
                monitored.insert(device, number);
            }
            self.monitored.push(monitored);
        }
        for ((_, device), number) in extra {
            self.notes
                .push(format!("GPU {number} ran nothing: it is what monitors of a trace call GPU {device}"));
        }
    }

    /// In the order of their numbers.
    pub(crate) fn gpus(&self) -> impl Iterator<Item = &Device> {
        self.all.iter().filter(|device| device.agent.kind == AgentKind::Gpu)
    }
}

/// The machine of an agent: of the process that lists it, else of one that used it, else of all processes.
fn machine(input: &Input, at: usize, agent: AgentId, machines: &Machines) -> Option<usize> {
    let on = |process: ProcessId| machines.machine(at, process);
    let listed = &input.agents[agent.index()];
    if let Some(process) = listed.process {
        return Some(on(process));
    }
    let ids = (0..input.processes.len()).map(|process| ProcessId(process as u32));
    let on_node =
        |&process: &ProcessId| listed.node.is_some() && input.processes[process.index()].node == listed.node;
    let user = || input.users.iter().find(|used| used.1 == agent).map(|used| used.0);
    ids.clone().find(on_node).or_else(user).map(on).or_else(|| machines.only(at))
}

fn identify(agent: &Agent, details: &Details, machine: Option<usize>) -> Option<Identity> {
    let kind = agent.kind;
    match (machine?, &details.pci, agent.absolute_index) {
        (machine, Some(pci), _) if kind == AgentKind::Gpu => {
            Some(Identity::Place { machine, pci: pci.clone(), minor: details.minor })
        }
        (machine, _, Some(index)) => Some(Identity::Node { machine, index, kind }),
        _ => None,
    }
}

/// The place of a device, as far as the details in its trace state it.
#[derive(Debug, Default)]
struct Details {
    /// `0000:83:00.0`, or the same packed into a number.
    pci: Option<String>,
    /// Number of the render node, from 128 on.
    minor: Option<i64>,
}

impl Details {
    fn parse(agent: &Agent) -> Self {
        let text = agent.details.as_deref().unwrap_or_default();
        let Ok(details) = serde_json::from_str::<Value>(text) else { return Self::default() };
        let number = |field: &str| details.get(field).and_then(Value::as_i64);
        let text = details.get("pci").and_then(Value::as_str).map(str::to_owned);
        // rocprofiler-sdk packs bus, device and function like KFD; 0 is unknown.
        let packed = number("location_id").filter(|&location| location != 0).map(|location| {
            let (bus, device, function) = (location >> 8 & 0xff, location >> 3 & 0x1f, location & 7);
            format!("{:04x}:{bus:02x}:{device:02x}.{function}", number("domain").unwrap_or(0))
        });
        let minor = number("renderMinor").or_else(|| number("drm_render_minor")).filter(|&minor| minor > 0);
        Self { pci: text.or(packed), minor }
    }
}
