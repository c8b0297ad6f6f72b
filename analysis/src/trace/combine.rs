//! Several traces as one.

use rtl_schema::layout::tags::COMPLETE;
use rtl_schema::table::{AgentKind, ApiCalls, Collective, Dispatches, Operators, PythonFrames, Track};
use rtl_schema::{AgentId, CollectiveId, NameId, ProcessId, ShapeId, SymbolId, Tables, TrackId};

/// Adds all rows of `other` to `tables`, so that one analysis covers both. Everything that is numbered stays
/// distinct: processes, id spaces, agents and tracks. Where a GPU number is taken, all GPUs of `other` get numbers above
/// all others, because without a shared clock and host they are not known to be the same.
pub fn append(tables: &mut Tables, other: Tables) {
    if tables.processes.is_empty() && tables.dispatches.is_empty() {
        *tables = other;
        return;
    }
    let numbers = Numbers::take_in(tables, &other);
    about(tables, &other);
    append_dispatches(&mut tables.dispatches, other.dispatches, &numbers);
    append_rows(&mut tables.copies, other.copies, |copy| {
        copy.name = numbers.name(copy.name);
        copy.track = numbers.tracks[copy.track.index()];
        copy.source = copy.source.map(|agent| numbers.agent(agent));
        copy.destination = copy.destination.map(|agent| numbers.agent(agent));
    });
    append_rows(&mut tables.barriers, other.barriers, |barrier| {
        barrier.name = numbers.name(barrier.name);
        barrier.track = numbers.tracks[barrier.track.index()];
    });
    append_calls(&mut tables.api_calls, other.api_calls, &numbers);
    append_rows(&mut tables.ranges, other.ranges, |range| {
        range.process = numbers.process(range.process);
        range.name = numbers.name(range.name);
        range.category = numbers.name(range.category);
    });
    append_operators(&mut tables.operators, other.operators, &numbers);
    append_python_frames(&mut tables.python_frames, other.python_frames, &numbers);
    append_rows(&mut tables.memory_events, other.memory_events, |event| {
        event.process = numbers.process(event.process);
        event.agent = event.agent.map(|agent| numbers.agent(agent));
    });
    append_rows(&mut tables.spans, other.spans, |span| {
        span.process = numbers.process(span.process);
        span.agent = span.agent.map(|agent| numbers.agent(agent));
        span.name = numbers.name(span.name);
    });
    append_rows(&mut tables.allocations, other.allocations, |allocation| {
        allocation.process = numbers.process(allocation.process);
        allocation.agent = allocation.agent.map(|agent| numbers.agent(agent));
    });
    append_rows(&mut tables.counters, other.counters, |counter| {
        counter.process = numbers.process(counter.process);
        counter.agent = counter.agent.map(|agent| numbers.agent(agent));
        counter.name = numbers.name(counter.name);
    });
    append_rows(&mut tables.monitors, other.monitors, |monitor| {
        monitor.device_kind = numbers.name(monitor.device_kind);
        monitor.name = numbers.name(monitor.name);
        monitor.value = numbers.name(monitor.value);
    });
    append_rows(&mut tables.stack_frames, other.stack_frames, |frame| frame.name = numbers.name(frame.name));
    tables.extra_links.extend(other.extra_links);
    tables.opaque_tables.extend(other.opaque_tables);
    tables.problems.append(other.problems);
}

fn append_rows<T>(mine: &mut Vec<T>, mut other: Vec<T>, renumber: impl FnMut(&mut T)) {
    other.iter_mut().for_each(renumber);
    mine.append(&mut other);
}

/// The numbers that rows of the other trace get.
struct Numbers {
    names: Vec<NameId>,
    tracks: Vec<TrackId>,
    shapes: Vec<ShapeId>,
    collectives: Vec<CollectiveId>,
    processes: u32,
    agents: u32,
    symbols: u32,
}

impl Numbers {
    /// Adds the rows that others refer to.
    fn take_in(tables: &mut Tables, other: &Tables) -> Self {
        let mut numbers = Self {
            names: other.strings.iter().map(|(_, text)| tables.strings.intern(text)).collect(),
            tracks: Vec::new(),
            shapes: tables.shapes.append(&other.shapes),
            collectives: Vec::new(),
            processes: tables.processes.len() as u32,
            agents: tables.agents.len() as u32,
            symbols: tables.symbols.len() as u32,
        };
        let spaces = tables.processes.iter().map(|process| process.space).max().map_or(0, |space| space + 1);
        for mut process in other.processes.iter().cloned() {
            process.space = process.space.saturating_add(spaces);
            tables.processes.push(process);
        }
        for mut thread in other.threads.iter().cloned() {
            thread.process = numbers.process(thread.process);
            tables.threads.push(thread);
        }
        add_agents(tables, other, &numbers);
        for mut symbol in other.symbols.iter().copied() {
            symbol.process = numbers.process(symbol.process);
            symbol.name = numbers.name(symbol.name);
            symbol.mangled = numbers.name(symbol.mangled);
            tables.symbols.push(symbol);
        }
        for &collective in other.collectives.rows() {
            let name = |id| numbers.name(id);
            numbers.collectives.push(tables.collectives.intern(Collective {
                operation: name(collective.operation),
                communicator: name(collective.communicator),
                ranks: name(collective.ranks),
                data_type: name(collective.data_type),
                ..collective
            }));
        }
        for &track in other.tracks.rows() {
            let (process, agent) = (numbers.process(track.process), numbers.agent(track.agent));
            numbers.tracks.push(tables.tracks.intern(Track { process, agent, ..track }));
        }
        numbers
    }

    fn name(&self, name: NameId) -> NameId {
        self.names.get(name.index()).copied().unwrap_or(name)
    }

    fn process(&self, process: ProcessId) -> ProcessId {
        ProcessId(process.0.saturating_add(self.processes))
    }

    fn agent(&self, agent: AgentId) -> AgentId {
        AgentId(agent.0.saturating_add(self.agents))
    }
}

fn add_agents(tables: &mut Tables, other: &Tables, numbers: &Numbers) {
    let is_gpu = |kind: AgentKind| kind == AgentKind::Gpu;
    let known: Vec<i64> =
        tables.agents.iter().filter(|agent| is_gpu(agent.kind)).map(|agent| agent.number).collect();
    let highest = tables.agents.iter().chain(&other.agents).filter(|agent| is_gpu(agent.kind));
    let mut free = highest.map(|agent| agent.number).max().map_or(0, |number| number.saturating_add(1));
    // Where one number is taken all move together, so that the GPUs of one file stay side by side.
    let moves = other.agents.iter().any(|agent| is_gpu(agent.kind) && known.contains(&agent.number));
    let mut added = other.agents.clone();
    let mut gpus: Vec<_> = added.iter_mut().filter(|agent| is_gpu(agent.kind) && moves).collect();
    gpus.sort_by_key(|agent| agent.number);
    for agent in gpus {
        agent.number = free;
        free = free.saturating_add(1);
    }
    for agent in &mut added {
        agent.process = agent.process.map(|process| numbers.process(process));
    }
    tables.agents.append(&mut added);
}

fn append_dispatches(mine: &mut Dispatches, mut other: Dispatches, numbers: &Numbers) {
    for name in &mut other.name {
        *name = numbers.name(*name);
    }
    other.symbol.map(|id| id.map(|id| SymbolId(id.0.saturating_add(numbers.symbols))));
    other.collective.map(|id| id.map(|id| numbers.collectives[id.index()]));
    mine.append(&mut other, &numbers.tracks, &numbers.shapes);
}

fn append_operators(mine: &mut Operators, mut other: Operators, numbers: &Numbers) {
    other.process.map(|process| numbers.process(process));
    other.name.iter_mut().for_each(|id| *id = numbers.name(*id));
    other.shapes.map(|id| numbers.name(id));
    other.types.map(|id| numbers.name(id));
    other.strides.map(|id| numbers.name(id));
    other.values.map(|id| numbers.name(id));
    mine.append(other);
}

fn append_python_frames(mine: &mut PythonFrames, mut other: PythonFrames, numbers: &Numbers) {
    other.process.map(|process| numbers.process(process));
    other.name.iter_mut().for_each(|id| *id = numbers.name(*id));
    mine.append(other);
}

fn append_calls(mine: &mut ApiCalls, mut other: ApiCalls, numbers: &Numbers) {
    let name = |id: NameId| numbers.name(id);
    other.process.map(|process| numbers.process(process));
    other.name.iter_mut().for_each(|id| *id = name(*id));
    other.domain.map(name);
    other.category.map(name);
    other.args.map(name);
    for argument in &mut other.arguments {
        for id in [&mut argument.kind, &mut argument.name, &mut argument.value] {
            *id = name(*id);
        }
    }
    for launch in &mut other.launches {
        launch.kernel = name(launch.kernel);
        launch.stream = name(launch.stream);
        launch.shape = launch.shape.map(|shape| numbers.shapes[shape.index()]);
    }
    mine.append(other);
}

/// Merges the description of both traces: the tools and modes of either, the losses of both.
fn about(tables: &mut Tables, other: &Tables) {
    let (mine, other) = (&mut tables.info, &other.info);
    mine.tool = joined(Some(&mine.tool), Some(&other.tool)).unwrap_or_default();
    mine.tool_version = joined(mine.tool_version.as_deref(), other.tool_version.as_deref());
    mine.schema_version = joined(mine.schema_version.as_deref(), other.schema_version.as_deref());
    mine.mode = joined(mine.mode.as_deref(), other.mode.as_deref());
    for (reason, count) in &other.losses {
        match mine.losses.iter_mut().find(|(known, _)| known == reason) {
            Some((_, sum)) => *sum = sum.saturating_add(*count),
            None => mine.losses.push((reason.clone(), *count)),
        }
    }
    // The clock tag of a merged trace does not hold for the others.
    mine.metadata.retain(|tag| tag.0 != crate::ranks::align::CLOCK || other.metadata.contains(tag));
    mine.linked |= other.linked;
    mine.range_ids |= other.range_ids;
    mine.left_journal |= other.left_journal;
    mine.compressed_cut_off |= other.compressed_cut_off;
    mine.trailing_bytes |= other.trailing_bytes;
    mine.replays = mine.replays.saturating_add(other.replays);
    // Of ranks one of which was cut off.
    mine.metadata.extend(other.metadata.iter().filter(|tag| tag.0 == COMPLETE && tag.1 == "0").cloned());
}

fn joined(mine: Option<&str>, other: Option<&str>) -> Option<String> {
    match (mine, other) {
        (Some(mine), Some(other)) if !mine.split(", ").any(|word| word == other) => {
            Some(format!("{mine}, {other}"))
        }
        (Some(one), _) | (None, Some(one)) => Some(one.to_owned()),
        (None, None) => None,
    }
}
