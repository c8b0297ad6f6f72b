//! Agents as the files name them: `Agent 4`, `GPU 0`, or a number alone. `agent_info` lists them, but need not be there.

use rustc_hash::FxHashMap;

use crate::dialect::rocprofiler::devices::Devices;
use crate::dialect::rocprofiler::memory::{direction, owner};
use crate::table::{Agent, AgentKind, Direction, Track};
use crate::{AgentId, Tables, TrackId};

/// The name of an agent in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum AgentName {
    /// `Agent 4`: among the visible agents, or with `--agent-index absolute` among all of the machine.
    Agent(i64),
    /// `4`, of versions before ROCm 6.4: among all agents of the machine.
    Number(i64),
    Gpu(i64),
    Cpu(i64),
    /// A launch without the name of an agent.
    Unnamed,
}

impl AgentName {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (kind, number) = text.rsplit_once(' ').unwrap_or(("", text));
        let number = number.parse().ok()?;
        match kind {
            "Agent" => Some(Self::Agent(number)),
            "" => Some(Self::Number(number)),
            "GPU" => Some(Self::Gpu(number)),
            "CPU" => Some(Self::Cpu(number)),
            _ => None,
        }
    }

    fn number(self) -> i64 {
        match self {
            Self::Agent(number) | Self::Number(number) | Self::Gpu(number) | Self::Cpu(number) => number,
            Self::Unnamed => -1,
        }
    }
}

/// The agents that rows name, by position, and those that files list.
#[derive(Default)]
pub(super) struct Agents {
    named: Vec<(usize, AgentName)>,
    positions: FxHashMap<(usize, AgentName), AgentId>,
    /// True at the position of each agent that kernels ran on.
    launching: Vec<bool>,
    listed: FxHashMap<usize, Listing>,
}

/// How a number counts agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Index {
    Visible,
    Absolute,
    OfKind(AgentKind),
}

/// The agents that the files of a run list.
#[derive(Default)]
struct Listing {
    agents: Vec<Agent>,
    by_number: FxHashMap<(Index, i64), usize>,
    counts: FxHashMap<AgentKind, i64>,
    /// True where all agents with kernels are GPUs by their index among the visible ones.
    is_visible: bool,
}

impl Listing {
    /// Adds an agent. A file of several processes repeats those of their machine.
    fn add(&mut self, agent: Agent) {
        let place = self.agents.len();
        let absolute = agent.absolute_index.unwrap_or(-1);
        if self.by_number.contains_key(&(Index::Absolute, absolute)) {
            return;
        }
        let count = self.counts.entry(agent.kind).or_default();
        let numbers = [
            (Index::Absolute, Some(absolute)),
            (Index::Visible, agent.logical_index),
            (Index::OfKind(agent.kind), Some(*count)),
        ];
        for (index, number) in numbers {
            number.map(|number| self.by_number.entry((index, number)).or_insert(place));
        }
        self.agents.push(Agent { type_index: Some(*count), ..agent });
        *count += 1;
    }

    fn get(&self, index: Index, number: i64) -> Option<&Agent> {
        self.by_number.get(&(index, number)).map(|&place| &self.agents[place])
    }
}

impl Agents {
    pub(super) fn position(&mut self, run: usize, name: AgentName) -> AgentId {
        *self.positions.entry((run, name)).or_insert_with(|| {
            self.named.push((run, name));
            self.launching.push(false);
            AgentId(self.named.len() as u32 - 1)
        })
    }

    /// The position of an agent on which a kernel ran.
    pub(super) fn launching(&mut self, position: Option<AgentId>) -> AgentId {
        let position = position.unwrap_or_else(|| self.position(0, AgentName::Unnamed));
        self.launching[position.index()] = true;
        position
    }

    /// Adds an agent that the files of a run list.
    pub(super) fn list(&mut self, run: usize, agent: Agent) {
        self.listed.entry(run).or_default().add(agent);
    }

    /// Adds the agents to the tables and gives every row its own. `machines` names the machine of each run.
    pub(super) fn finish(mut self, tables: &mut Tables, machines: &[String]) {
        self.choose_indices();
        let mut devices = Devices::default();
        let mut of_position = Vec::new();
        for (position, &(run, name)) in self.named.iter().enumerate() {
            let node = Some(devices.machine(machines.get(run).map_or("", String::as_str)));
            let agent = self.listed(run, name).cloned().unwrap_or_else(|| self.unlisted(position, name));
            of_position.push(devices.listed(&mut tables.agents, Agent { node, ..agent }));
        }
        let mut runs: Vec<_> = self.listed.iter().collect();
        runs.sort_by_key(|(run, _)| **run);
        for (&run, listed) in runs {
            let node = Some(devices.machine(machines.get(run).map_or("", String::as_str)));
            for agent in &listed.agents {
                devices.listed(&mut tables.agents, Agent { node, ..agent.clone() });
            }
        }
        let of = |position: AgentId| of_position.get(position.index()).copied();
        for counter in &mut tables.counters {
            counter.agent = counter.agent.and_then(of);
        }
        for allocation in &mut tables.allocations {
            allocation.agent = allocation.agent.and_then(of);
        }
        let positions = std::mem::take(&mut tables.tracks);
        let tracks: Vec<Option<TrackId>> = positions
            .rows()
            .iter()
            .map(|track| Some(tables.tracks.intern(Track { agent: of(track.agent)?, ..*track })))
            .collect();
        for track in &mut tables.dispatches.track {
            *track = tracks[track.index()].unwrap_or_default();
        }
        for mut copy in std::mem::take(&mut tables.copies) {
            copy.source = copy.source.and_then(of);
            copy.destination = copy.destination.and_then(of);
            copy.direction = direction(tables, copy.name, copy.source, copy.destination);
            for (end, is_host) in [
                (copy.source, matches!(copy.direction, Direction::HostToDevice | Direction::HostToHost)),
                (copy.destination, matches!(copy.direction, Direction::DeviceToHost | Direction::HostToHost)),
            ] {
                let agent = end.map(|end| &mut tables.agents[end.index()]);
                if let Some(agent) = agent.filter(|agent| agent.kind == AgentKind::Unknown) {
                    agent.kind = if is_host { AgentKind::Cpu } else { AgentKind::Gpu };
                }
            }
            let agent = owner(tables, &mut devices, copy.direction, copy.source, copy.destination);
            copy.track = tables.tracks.intern(Track { agent, ..positions.get(copy.track) });
            tables.copies.push(copy);
        }
        devices.finish(tables);
    }

    /// The agents that a run lists, or the only run that lists any.
    fn listing(&self, run: usize) -> Option<usize> {
        let alone = || self.listed.keys().next().filter(|_| self.listed.len() == 1);
        self.listed.contains_key(&run).then_some(run).or_else(|| alone().copied())
    }

    /// Files do not say which index a number is: kernels run on GPUs.
    fn choose_indices(&mut self) {
        self.listed.values_mut().for_each(|listing| listing.is_visible = true);
        for (&(run, name), _) in self.named.iter().zip(&self.launching).filter(|(_, launching)| **launching) {
            let AgentName::Agent(number) = name else { continue };
            let Some(listing) = self.listing(run).and_then(|run| self.listed.get_mut(&run)) else { continue };
            let agent = listing.get(Index::Visible, number);
            listing.is_visible &= agent.is_some_and(|agent| agent.kind == AgentKind::Gpu);
        }
    }

    /// The listed agent of this name.
    fn listed(&self, run: usize, name: AgentName) -> Option<&Agent> {
        let listing = &self.listed[&self.listing(run)?];
        match name {
            AgentName::Agent(number) if listing.is_visible => listing.get(Index::Visible, number),
            AgentName::Agent(number) | AgentName::Number(number) => listing.get(Index::Absolute, number),
            AgentName::Gpu(number) => listing.get(Index::OfKind(AgentKind::Gpu), number),
            AgentName::Cpu(number) => listing.get(Index::OfKind(AgentKind::Cpu), number),
            AgentName::Unnamed => None,
        }
    }

    /// An agent that no file lists: all that is known is the number.
    fn unlisted(&self, position: usize, name: AgentName) -> Agent {
        let kind = match name {
            AgentName::Cpu(_) => AgentKind::Cpu,
            AgentName::Gpu(_) => AgentKind::Gpu,
            _ if self.launching[position] => AgentKind::Gpu,
            _ => AgentKind::Unknown,
        };
        let number = name.number();
        Agent { kind, source_id: number, type_index: (number >= 0).then_some(number), ..Agent::default() }
    }
}
