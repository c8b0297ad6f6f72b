//! The end of a process: positions are resolved, and its rows join the tables.

use std::mem::take;

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::collected::{Collected, Function};
use super::rows;
use super::scalars::Text;
use crate::dialect::rocprofiler::calls::{call_of, join_arguments, kind_of};
use crate::dialect::rocprofiler::environment;
use crate::dialect::rocprofiler::memory::{direction, owner};
use crate::table::{Agent, AgentKind, AllocationKind, AllocationLevel, ApiCalls, Process, Range, Track};
use crate::{AgentId, NameId, ProblemKind, ProcessId, ShapeId, Strings, TrackId};

/// A record's function and the library it belongs to.
#[derive(Clone, Copy)]
struct Resolved {
    name: NameId,
    domain: NameId,
}

impl Collected {
    /// Adds the process with all its rows to the tables, and begins the next one.
    pub(super) fn finish(&mut self) {
        let node = self.finish_process();
        let agents = self.finish_agents(node);
        let functions = take(&mut self.functions);
        let functions: Vec<_> = functions.rows().iter().map(|function| self.resolve(function)).collect();
        self.finish_dispatches(&agents);
        self.finish_copies(&agents, &functions);
        self.finish_allocations(&agents, &functions);
        self.finish_calls(&functions);
        self.finish_counters(&agents);
        *self = Self {
            select: self.select,
            process: ProcessId(self.tables.processes.len() as u32),
            tables: take(&mut self.tables),
            devices: take(&mut self.devices),
            ..Self::default()
        };
    }

    fn finish_process(&mut self) -> u32 {
        let metadata = &self.metadata;
        let whole = |key: &str| metadata[key].as_i64();
        let text = |pointer: &str| {
            let text = metadata.pointer(pointer).and_then(Value::as_str);
            text.filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let host = text("/node/hostname");
        let machine_id = text("/node/machine_id");
        let node = self.devices.machine(machine_id.as_deref().or(host.as_deref()).unwrap_or_default());
        let environment = metadata["environment"].is_object().then(|| metadata["environment"].to_string());
        let (rank, world) = environment.as_deref().map_or((None, None), environment::rank);
        let command = match &metadata["command"] {
            Value::Array(words) => Some(words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "))
                .filter(|c| !c.is_empty()),
            Value::String(command) => Some(command.clone()),
            _ => None,
        };
        self.tables.processes.push(Process {
            pid: whole("pid"),
            ppid: whole("ppid"),
            guid: None,
            space: self.process.0,
            node: Some(node),
            host,
            machine_id,
            boot_id: None,
            rank,
            world,
            command,
            environment,
            start: whole("init_time"),
            end: whole("fini_time"),
        });
        if let Value::Object(fields) = metadata {
            for (key, value) in fields.iter().filter(|(key, _)| *key != "environment") {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                self.tables.info.metadata.push((key.clone(), value));
            }
        }
        if self.imitation {
            self.tables.info.tool = "rocm-trace-lite".to_owned();
        }
        node
    }

    /// The agents by position of their handle; `None` where a row named none.
    fn finish_agents(&mut self, node: u32) -> Vec<Option<AgentId>> {
        let mut listed = FxHashMap::default();
        for details in take(&mut self.agents) {
            let text = details.to_string();
            let Ok(agent) = serde_json::from_value::<rows::Agent>(details) else {
                self.tables.problems.add(ProblemKind::BadValue, "agents", 0);
                continue;
            };
            let handle = agent.id.or_zero();
            let agent = describe(agent, node, text);
            listed.insert(handle, self.devices.listed(&mut self.tables.agents, agent));
        }
        let mut agents = Vec::new();
        for (position, &handle) in (0..).map(AgentId).zip(self.handles.rows()) {
            agents.push(match handle.map(|handle| (handle, listed.get(&handle))) {
                Some((_, Some(&agent))) => Some(agent),
                // rocprofv3 writes this for a release: no agent.
                None | Some((0, None)) => None,
                Some((handle, None)) => {
                    self.tables.problems.add(ProblemKind::DanglingReference, "agent_id.handle", handle);
                    let launches = self.tracks.rows().iter().any(|track| track.agent == position);
                    let kind = if launches { AgentKind::Gpu } else { AgentKind::Unknown };
                    let agent = Agent { kind, node: Some(node), source_id: handle, ..Agent::default() };
                    Some(self.devices.listed(&mut self.tables.agents, agent))
                }
            });
        }
        agents
    }

    fn resolve(&mut self, function: &Function) -> Resolved {
        let strings = &mut self.tables.strings;
        let list = self.lists.get(function.list);
        let kind = function.kind.and_then(|kind| self.kinds.get(usize::try_from(kind).ok()?));
        let domain = match kind.and_then(|kind| kind.kind.0.as_deref()) {
            Some(kind) => strings.intern(kind),
            None => strings.intern(list),
        };
        let name = match (function.name, function.number) {
            (Some(name), _) => name,
            (None, number) => {
                let operation = kind.and_then(|kind| kind.operations.get(usize::try_from(number).ok()?));
                let imitated =
                    (self.imitation && list == "memory_copy").then(|| imitated_copy(number)).flatten();
                match (operation, imitated) {
                    (Some(Text(Some(name))), _) => strings.intern(name),
                    (_, Some(name)) => strings.intern(name),
                    _ => {
                        let name = format!("{list} operation {number}");
                        strings.intern(&name)
                    }
                }
            }
        };
        Resolved { name, domain }
    }

    fn finish_dispatches(&mut self, agents: &[Option<AgentId>]) {
        let rows = if self.dispatches.is_empty() { &mut self.counted } else { &mut self.dispatches };
        let mut rows = take(rows);
        let kernels: Vec<_> =
            self.kernels.rows().iter().map(|kernel| self.symbols.get(kernel).copied()).collect();
        let mut used = vec![0_u64; kernels.len()];
        rows.name.iter().for_each(|kernel| used[kernel.index()] += 1);
        for ((&kernel, symbol), &count) in self.kernels.rows().iter().zip(&kernels).zip(&used) {
            if symbol.is_none() && count > 0 {
                let place = "kernel_dispatch.kernel_id";
                self.tables.problems.add_many(ProblemKind::DanglingReference, place, kernel, count);
            }
        }
        if self.select.launch {
            rows.symbol = rows.name.iter().map(|kernel| kernels[kernel.index()]).collect();
        }
        let names: Vec<NameId> = kernels
            .iter()
            .map(|symbol| symbol.map_or(NameId::DANGLING, |symbol| self.tables.symbols[symbol.index()].name))
            .collect();
        rows.name.iter_mut().for_each(|name| *name = names[name.index()]);
        // Tracks of copies have no agent yet and are added with their copies.
        let mut tracks = vec![TrackId::default(); self.tracks.rows().len()];
        let mut seen = vec![false; tracks.len()];
        rows.track.iter().for_each(|track| seen[track.index()] = true);
        for position in (0..tracks.len()).filter(|&position| seen[position]) {
            let track = self.tracks.rows()[position];
            let agent =
                agents[track.agent.index()].unwrap_or_else(|| self.devices.unknown(&mut self.tables.agents));
            tracks[position] = self.tables.tracks.intern(Track { agent, ..track });
        }
        self.tables.info.linked |= rows.correlation.iter().any(|correlation| correlation != 0);
        let shapes: Vec<ShapeId> = (0..self.tables.shapes.rows().len() as u32).map(ShapeId).collect();
        self.tables.dispatches.append(&mut rows, &tracks, &shapes);
    }

    fn finish_copies(&mut self, agents: &[Option<AgentId>], functions: &[Resolved]) {
        for mut copy in take(&mut self.copies) {
            copy.name = functions[copy.name.index()].name;
            copy.source = copy.source.and_then(|position| agents[position.index()]);
            copy.destination = copy.destination.and_then(|position| agents[position.index()]);
            copy.direction = direction(&self.tables, copy.name, copy.source, copy.destination);
            let agent =
                owner(&mut self.tables, &mut self.devices, copy.direction, copy.source, copy.destination);
            let track = Track { agent, ..self.tracks.get(copy.track) };
            copy.track = self.tables.tracks.intern(track);
            self.tables.info.linked |= copy.correlation != 0;
            self.tables.copies.push(copy);
        }
    }

    fn finish_allocations(&mut self, agents: &[Option<AgentId>], functions: &[Resolved]) {
        for (function, mut allocation) in take(&mut self.allocations) {
            let name = self.tables.strings.get(functions[function.index()].name);
            allocation.agent = allocation.agent.and_then(|position| agents[position.index()]);
            allocation.kind = AllocationKind::of_operation(name);
            if name.contains("VMEM") {
                allocation.level = AllocationLevel::Virtual;
            }
            self.tables.allocations.push(allocation);
        }
    }

    fn finish_counters(&mut self, agents: &[Option<AgentId>]) {
        for mut counter in take(&mut self.counters) {
            let id = self.counter_ids.get(counter.name);
            counter.agent = counter.agent.and_then(|position| agents[position.index()]);
            counter.name = self.counter_names.get(&id).copied().unwrap_or_else(|| {
                let place = "counter_collection.counter_id";
                self.tables.problems.add(ProblemKind::DanglingReference, place, counter.dispatch);
                NameId::DANGLING
            });
            self.tables.counters.push(counter);
        }
    }

    fn finish_calls(&mut self, functions: &[Resolved]) {
        let mut calls = take(&mut self.calls);
        forget_what_is_no_status(&mut calls, functions, &self.tables.strings);
        calls.name.iter_mut().for_each(|name| *name = functions[name.index()].name);
        calls.domain.map(|name| functions.get(name.index()).map_or(NameId::NONE, |function| function.domain));
        for range in take(&mut self.ranges) {
            let Resolved { name, domain } = functions[range.name.index()];
            let text = self.marker_texts.get(&range.correlation).copied();
            match kind_of(self.tables.strings.get(name), text, range.duration == Some(0)) {
                Some(_) if !self.select.ranges => {}
                Some(kind) => {
                    let name = text.unwrap_or(name);
                    self.tables.ranges.push(Range { name, category: domain, kind, ..range });
                }
                None if !self.select.api => {}
                None => {
                    calls.push(call_of(Range { name, category: domain, ..range }, self.select.links, 0));
                }
            }
        }
        let first_argument = self.tables.api_calls.arguments.len();
        self.tables.api_calls.append(calls);
        join_arguments(&mut self.tables, first_argument);
    }
}

/// HIP's functions that return a small number which is no status. Those that return nothing small have none already.
const OTHERS: [&str; 2] = ["hipCreateChannelDesc", "hipGetStreamDeviceId"];

fn forget_what_is_no_status(calls: &mut ApiCalls, functions: &[Resolved], strings: &Strings) {
    let is_other = |function: &Resolved| OTHERS.contains(&strings.get(function.name));
    let others: Vec<bool> = functions.iter().map(is_other).collect();
    for row in 0..calls.len() {
        if calls.result.get(row) != 0 && others[calls.name[row].index()] {
            calls.result.to_mut()[row] = 0;
        }
    }
}

fn describe(agent: rows::Agent, node: u32, details: String) -> Agent {
    let kind = match agent.r#type.0 {
        Some(1) => AgentKind::Cpu,
        Some(2) => AgentKind::Gpu,
        Some(_) => AgentKind::Other,
        None => AgentKind::Unknown,
    };
    let handle = agent.id.or_zero();
    let name = agent.name.0.filter(|name| !name.is_empty());
    // Without any index the handle itself is one: rocm-trace-lite's.
    let indexed = agent.node_id.0.is_some() || agent.logical_node_type_id.0.is_some();
    Agent {
        kind,
        number: 0,
        node: Some(node),
        process: None,
        source_id: handle,
        absolute_index: agent.node_id.0,
        logical_index: agent.logical_node_id.0,
        type_index: agent.logical_node_type_id.0.or((!indexed).then_some(handle)),
        target: name.clone().filter(|name| kind == AgentKind::Gpu && name.starts_with("gfx")),
        product: agent.product_name.0.filter(|name| !name.is_empty()).or(name),
        uuid: agent.uuid.text(),
        details: Some(details),
    }
}

/// How rocm-trace-lite's converter numbers the directions of copies.
fn imitated_copy(number: i64) -> Option<&'static str> {
    match number {
        1 => Some("MEMORY_COPY_HOST_TO_DEVICE"),
        2 => Some("MEMORY_COPY_DEVICE_TO_HOST"),
        3 => Some("MEMORY_COPY_DEVICE_TO_DEVICE"),
        _ => None,
    }
}
