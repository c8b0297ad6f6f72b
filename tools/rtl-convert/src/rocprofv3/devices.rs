//! The agents of a process as rocprofv3 lists them.

use rtl_schema::table::{Agent, AgentKind, Copy, Direction};
use rtl_schema::{AgentId, ProcessId, Tables};
use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    /// Never 0, which means no agent in records.
    pub handle: u64,
    /// KFD's number.
    pub node: i64,
    /// The number among the visible agents.
    pub logical: i64,
    /// The number among agents of the same kind.
    pub of_kind: i64,
    pub kind: AgentKind,
    /// By their names in the JSON.
    pub details: Value,
}

impl Device {
    pub fn type_name(&self) -> Option<&'static str> {
        match self.kind {
            AgentKind::Cpu => Some("CPU"),
            AgentKind::Gpu => Some("GPU"),
            AgentKind::Other => Some("NIC"),
            AgentKind::Unknown => None,
        }
    }
}

/// The agents of one process. The handle of an agent never changes, although batches may add agents.
#[derive(Debug, Default)]
pub struct Devices {
    rows: Vec<Device>,
    /// By agent of the trace.
    positions: Vec<Option<usize>>,
    /// The position of the CPU that stands for the host.
    host: Option<usize>,
    numbers: Numbers,
    cpus: i64,
}

impl Devices {
    /// Registers the agents that `process` may use. Each has a unique number, and one of them is a CPU, because rocprofv3
    /// names both ends of a copy.
    #[inline]
    pub fn register(&mut self, process: ProcessId, tables: &Tables) {
        if self.positions.len() < tables.agents.len() || self.host.is_none() {
            self.register_new(process, tables);
        }
    }

    #[cold]
    fn register_new(&mut self, process: ProcessId, tables: &Tables) {
        let first = self.positions.len();
        let node = tables.processes.get(process.index()).and_then(|process| process.node);
        let listed = |agent: &Agent| {
            agent.kind != AgentKind::Unknown
                && agent.process.is_none_or(|of| of == process)
                && (agent.node.is_none() || node.is_none() || agent.node == node)
        };
        let mut order: Vec<usize> =
            (first..tables.agents.len()).filter(|&at| listed(&tables.agents[at])).collect();
        order.sort_by_key(|&at| {
            let agent = &tables.agents[at];
            (agent.absolute_index.unwrap_or(i64::MAX), agent.kind != AgentKind::Cpu, agent.number, at)
        });
        let is_cpu = |&at: &usize| tables.agents[at].kind == AgentKind::Cpu;
        if self.host.is_none() {
            self.cpus = order.iter().filter(|at| is_cpu(at)).count() as i64;
            if self.cpus == 0 {
                self.cpus = 1;
                self.host = Some(self.rows.len());
                let unnamed = Agent { kind: AgentKind::Cpu, ..Agent::default() };
                self.rows.push(describe(&unnamed, 1, &mut self.numbers));
            }
        }
        self.positions.resize(tables.agents.len(), None);
        for at in order {
            if is_cpu(&at) {
                self.host.get_or_insert(self.rows.len());
            }
            self.positions[at] = Some(self.rows.len());
            self.rows.push(describe(&tables.agents[at], self.cpus, &mut self.numbers));
        }
    }

    pub fn listed(&self) -> Vec<&Device> {
        let mut rows: Vec<&Device> = self.rows.iter().collect();
        rows.sort_by_key(|device| device.node);
        rows
    }

    /// `None` where the agent is unknown.
    pub fn get(&self, agent: AgentId) -> Option<&Device> {
        self.rows.get((*self.positions.get(agent.index())?)?)
    }

    /// 0 where the agent is unknown.
    pub fn handle(&self, agent: Option<AgentId>) -> u64 {
        agent.and_then(|agent| self.get(agent)).map_or(0, |device| device.handle)
    }

    /// Source and destination of a copy: as stored, otherwise from its direction and its GPU.
    pub fn ends(&self, copy: &Copy, tables: &Tables) -> [Option<&Device>; 2] {
        let gpu = self.get(tables.tracks.get(copy.track).agent);
        let host = self.host.map(|host| &self.rows[host]);
        let stored = |agent: Option<AgentId>| agent.and_then(|agent| self.get(agent));
        let (source, destination) = match copy.direction {
            Direction::HostToDevice => (host, gpu),
            Direction::DeviceToHost => (gpu, host),
            Direction::HostToHost => (host, host),
            Direction::DeviceToDevice | Direction::Fill | Direction::Unknown => (None, gpu),
        };
        [stored(copy.source).or(source), stored(copy.destination).or(destination)]
    }
}

#[derive(Debug, Default)]
struct Numbers {
    handles: FxHashSet<u64>,
    nodes: FxHashSet<i64>,
}

fn first_free<T: std::hash::Hash + Eq + std::marker::Copy>(
    taken: &mut FxHashSet<T>,
    wished: T,
    next: impl Fn(T) -> T,
) -> T {
    let mut number = wished;
    while !taken.insert(number) {
        number = next(number);
    }
    number
}

/// The first handle of agents without one: neither 0 nor a number that reads as that of a GPU.
const FIRST_HANDLE: u64 = 1000;

/// The entry of an agent. GPUs are numbered after CPUs, as on a real machine.
fn describe(agent: &Agent, cpus: i64, numbers: &mut Numbers) -> Device {
    let own = agent.details.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let names = own.as_ref().map(|own| ["model_name", "vendor_name"].map(|key| (key, own.get(key).cloned())));
    let own = own.filter(|details| details["id"]["handle"].is_u64() && details["type"].is_u64());
    let is_cpu = agent.kind == AgentKind::Cpu;
    let counted = agent.number.max(0).saturating_add(if is_cpu { 0 } else { cpus });
    let stated = agent.absolute_index.filter(|&index| index >= 0);
    let node = first_free(&mut numbers.nodes, stated.unwrap_or(counted), |node| node.wrapping_add(1).max(0));
    let stated = own.as_ref().and_then(|details| details["id"]["handle"].as_u64());
    let wished = stated.filter(|&handle| handle != 0).unwrap_or(FIRST_HANDLE.saturating_add_signed(node));
    let handle = first_free(&mut numbers.handles, wished, |handle| handle.wrapping_add(1).max(1));
    let logical = agent.logical_index.unwrap_or(node);
    let of_kind = agent.type_index.unwrap_or(agent.number);
    let mut details = match own {
        Some(Value::Object(details)) => details,
        _ => {
            let names = names.into_iter().flatten().filter_map(|(key, name)| Some((key.to_owned(), name?)));
            unknown(agent).into_iter().chain(names).collect()
        }
    };
    let numbered: [(&str, Value); 4] = [
        ("id", json!({ "handle": handle })),
        ("node_id", node.into()),
        ("logical_node_id", logical.into()),
        ("logical_node_type_id", of_kind.into()),
    ];
    for (key, value) in numbered {
        details.insert(key.to_owned(), value);
    }
    Device { handle, node, logical, of_kind, kind: agent.kind, details: Value::Object(details) }
}

fn unknown(agent: &Agent) -> Map<String, Value> {
    let kind = match agent.kind {
        AgentKind::Cpu => 1,
        AgentKind::Gpu => 2,
        AgentKind::Other | AgentKind::Unknown => 0,
    };
    let name = if kind == 2 { &agent.target } else { &agent.product };
    let details = [
        ("type", Some(kind.into())),
        ("name", name.as_deref().map(Value::from)),
        ("product_name", agent.product.as_deref().map(Value::from)),
        ("gfx_target_version", agent.target.as_deref().and_then(target_version).map(Value::from)),
        ("uuid", agent.uuid.as_deref().and_then(uuid)),
        ("gpu_index", (kind == 2).then(|| agent.number.into())),
    ];
    details.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// rocprofiler-sdk's number of a target: 90402 for `gfx942`. The last two digits are hexadecimal.
fn target_version(target: &str) -> Option<u64> {
    let digits = target.strip_prefix("gfx")?;
    let (major, rest) = digits.split_at_checked(digits.len().checked_sub(2)?)?;
    let mut last = rest.chars().map(|digit| digit.to_digit(16));
    let (minor, stepping) = (last.next()??, last.next()??);
    Some(major.parse::<u64>().ok()? * 10_000 + u64::from(minor) * 100 + u64::from(stepping))
}

/// The sixteen bytes of `GPU-` and sixteen hexadecimal digits, the lowest first.
fn uuid(text: &str) -> Option<Value> {
    let id = u64::from_str_radix(text.strip_prefix("GPU-")?, 16).ok()?;
    let bytes = id.to_le_bytes().into_iter().chain([0; 8]).enumerate();
    let named = bytes.map(|(at, byte)| (format!("value{at}"), Value::from(byte)));
    Some(json!({ "bytes": Value::Object(named.collect()) }))
}

#[cfg(test)]
mod tests {
    use rtl_schema::table::{Process, Track};

    use super::*;

    fn gpus(numbers: &[i64]) -> Tables {
        let agent = |&number: &i64| Agent { number, ..Agent::default() };
        let agents = numbers.iter().map(agent).collect();
        Tables { agents, processes: vec![Process::default()], ..Tables::default() }
    }

    fn registered(tables: &Tables) -> Devices {
        let mut devices = Devices::default();
        devices.register(ProcessId(0), tables);
        devices
    }

    #[test]
    fn a_gpu_comes_after_a_cpu_and_keeps_its_number_among_gpus() {
        let devices = registered(&gpus(&[5]));
        let shown: Vec<_> = devices.listed().iter().map(|row| (row.kind, row.node, row.of_kind)).collect();
        assert_eq!(shown, [(AgentKind::Cpu, 0, 0), (AgentKind::Gpu, 6, 5)]);
        assert_eq!(devices.handle(Some(AgentId(0))), 1006);
        assert_eq!(devices.handle(None), 0);
    }

    #[test]
    fn handles_and_nodes_are_unique_even_where_numbers_are_not() {
        let devices = registered(&gpus(&[0, 0, 1]));
        let nodes: Vec<i64> = devices.listed().iter().map(|row| row.node).collect();
        assert_eq!(nodes, [0, 1, 2, 3]);
    }

    #[test]
    fn an_agent_that_is_met_later_changes_no_other() {
        let mut tables = gpus(&[3]);
        let mut devices = registered(&tables);
        let before = devices.handle(Some(AgentId(0)));
        tables.agents.push(Agent { number: 1, ..Agent::default() });
        assert_eq!(devices.handle(Some(AgentId(1))), 0);
        devices.register(ProcessId(0), &tables);
        assert_eq!(devices.handle(Some(AgentId(0))), before);
        let nodes: Vec<i64> = devices.listed().iter().map(|row| row.node).collect();
        assert_eq!(nodes, [0, 2, 4]);
    }

    #[test]
    fn the_ends_of_a_copy_follow_from_its_direction() {
        let mut tables = gpus(&[0]);
        let track = tables.tracks.intern(Track::default());
        let devices = registered(&tables);
        let ends = |direction| {
            let copy = Copy { track, direction, ..Copy::default() };
            devices.ends(&copy, &tables).map(|device| device.map(|device| device.node))
        };
        assert_eq!(ends(Direction::HostToDevice), [Some(0), Some(1)]);
        assert_eq!(ends(Direction::DeviceToHost), [Some(1), Some(0)]);
        assert_eq!(ends(Direction::DeviceToDevice), [None, Some(1)]);
    }

    #[test]
    fn a_target_is_numbered_as_rocprofiler_does() {
        assert_eq!(target_version("gfx942"), Some(90402));
        assert_eq!(target_version("gfx90a"), Some(90010));
        assert_eq!(target_version("gfx1100"), Some(110_000));
        assert_eq!(target_version("gfx"), None);
        assert_eq!(target_version("x"), None);
    }
}
