//! Several traces as one.

use rtl_schema::layout::tags::COMPLETE;
use rtl_schema::table::{
    Agent, AgentKind, Allocation, ApiCalls, Barrier, Collective, Copy, Counter, Dispatches, MemoryEvent,
    Monitor, Operators, PythonFrames, Range, Span, StackFrame, Track,
};
use rtl_schema::{AgentId, CollectiveId, NameId, ProcessId, ShapeId, SymbolId, Tables, TraceInfo, TrackId};
use rustc_hash::FxHashSet;

/// The rows of several traces, so that one analysis covers all. Everything that is numbered stays distinct: processes, id spaces,
/// agents and tracks. Adding a trace takes time for its own rows only, of however many traces there are already.
#[derive(Debug, Default)]
pub struct Combined {
    tables: Tables,
    /// The numbers of GPUs that are taken.
    gpus: FxHashSet<i64>,
    /// The number above those of all GPUs.
    free_gpu: i64,
    /// The number above those of all id spaces.
    free_space: u32,
}

impl Combined {
    /// Adds all rows of a trace. Where a GPU number is taken, all its GPUs get numbers above all others, because without a
    /// shared clock and host they are not known to be the same.
    pub fn append(&mut self, other: Tables) {
        let first = self.tables.agents.len();
        let spaces = other.processes.iter().map(|process| process.space.saturating_add(1)).max().unwrap_or(0);
        if self.tables.processes.is_empty() && self.tables.dispatches.is_empty() {
            self.tables = other;
            self.free_space = spaces;
        } else {
            append(self, other);
            self.free_space = self.free_space.saturating_add(spaces);
        }
        let agents = self.tables.agents.get(first..).unwrap_or_default();
        for agent in agents.iter().filter(|agent| agent.kind == AgentKind::Gpu) {
            self.gpus.insert(agent.number);
            self.free_gpu = self.free_gpu.max(agent.number.saturating_add(1));
        }
    }

    /// The rows of all of them.
    #[must_use]
    pub fn into_tables(self) -> Tables {
        self.tables
    }
}

fn append(combined: &mut Combined, other: Tables) {
    let numbers = Numbers::take_in(combined, &other);
    let tables = &mut combined.tables;
    // Without `..`: a table or a column that is added has to say here how it is joined.
    let Tables {
        info,
        // Taken in by `numbers`.
        strings: _,
        processes: _,
        threads: _,
        agents: _,
        tracks: _,
        shapes: _,
        collectives: _,
        symbols: _,
        dispatches,
        copies,
        barriers,
        api_calls,
        ranges,
        operators,
        python_frames,
        memory_events,
        spans,
        allocations,
        counters,
        monitors,
        stack_frames,
        extra_links,
        opaque_tables,
        problems,
    } = other;
    join_info(&mut tables.info, &info);
    append_dispatches(&mut tables.dispatches, dispatches, &numbers);
    append_rows(&mut tables.copies, copies, |copy| numbers.renumber_copy(copy));
    append_rows(&mut tables.barriers, barriers, |barrier| {
        let Barrier { id: _, name, track, start: _, duration: _, correlation: _, details: _ } = barrier;
        *name = numbers.name(*name);
        *track = numbers.tracks[track.index()];
    });
    append_calls(&mut tables.api_calls, api_calls, &numbers);
    append_rows(&mut tables.ranges, ranges, |range| {
        let Range { id: _, process, tid: _, name, category, kind: _, start: _, duration: _, correlation: _ } =
            range;
        *process = numbers.process(*process);
        *name = numbers.name(*name);
        *category = numbers.name(*category);
    });
    append_operators(&mut tables.operators, operators, &numbers);
    append_python_frames(&mut tables.python_frames, python_frames, &numbers);
    append_rows(&mut tables.memory_events, memory_events, |event| {
        let MemoryEvent {
            id: _,
            process,
            tid: _,
            agent,
            time: _,
            address: _,
            bytes: _,
            allocated: _,
            reserved: _,
        } = event;
        *process = numbers.process(*process);
        *agent = agent.map(|agent| numbers.agent(agent));
    });
    append_rows(&mut tables.spans, spans, |span| {
        let Span { id: _, kind: _, process, agent, stream: _, name, start: _, duration: _ } = span;
        *process = numbers.process(*process);
        *agent = agent.map(|agent| numbers.agent(agent));
        *name = numbers.name(*name);
    });
    append_rows(&mut tables.allocations, allocations, |allocation| numbers.renumber_allocation(allocation));
    append_rows(&mut tables.counters, counters, |counter| {
        let Counter { dispatch: _, process, agent, name, value: _ } = counter;
        *process = numbers.process(*process);
        *agent = agent.map(|agent| numbers.agent(agent));
        *name = numbers.name(*name);
    });
    append_rows(&mut tables.monitors, monitors, |monitor| {
        let Monitor { id: _, device_kind, device: _, name, start: _, end: _, value } = monitor;
        [device_kind, name, value].into_iter().for_each(|id| *id = numbers.name(*id));
    });
    append_rows(&mut tables.stack_frames, stack_frames, |StackFrame { call: _, depth: _, name }| {
        *name = numbers.name(*name);
    });
    tables.extra_links.extend(extra_links);
    tables.opaque_tables.extend(opaque_tables);
    tables.problems.append(problems);
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
    fn take_in(combined: &mut Combined, other: &Tables) -> Self {
        let spaces = combined.free_space;
        let added = added_agents(combined, other);
        let tables = &mut combined.tables;
        let mut numbers = Self {
            names: other.strings.iter().map(|(_, text)| tables.strings.intern(text)).collect(),
            tracks: Vec::new(),
            shapes: tables.shapes.append(&other.shapes),
            collectives: Vec::new(),
            processes: tables.processes.len() as u32,
            agents: tables.agents.len() as u32,
            symbols: tables.symbols.len() as u32,
        };
        for mut process in other.processes.iter().cloned() {
            process.space = process.space.saturating_add(spaces);
            tables.processes.push(process);
        }
        for mut thread in other.threads.iter().cloned() {
            thread.process = numbers.process(thread.process);
            tables.threads.push(thread);
        }
        for mut agent in added {
            agent.process = agent.process.map(|process| numbers.process(process));
            tables.agents.push(agent);
        }
        for mut symbol in other.symbols.iter().copied() {
            symbol.process = numbers.process(symbol.process);
            symbol.name = numbers.name(symbol.name);
            symbol.mangled = numbers.name(symbol.mangled);
            tables.symbols.push(symbol);
        }
        for &collective in other.collectives.rows() {
            let name = |id| numbers.name(id);
            let Collective { operation, communicator, ranks, size, data_type, sent, received, sequence } =
                collective;
            numbers.collectives.push(tables.collectives.intern(Collective {
                operation: name(operation),
                communicator: name(communicator),
                ranks: name(ranks),
                size,
                data_type: name(data_type),
                sent,
                received,
                sequence,
            }));
        }
        for &Track { process, agent, queue, stream, hardware_queue } in other.tracks.rows() {
            let (process, agent) = (numbers.process(process), numbers.agent(agent));
            let track = Track { process, agent, queue, stream, hardware_queue };
            numbers.tracks.push(tables.tracks.intern(track));
        }
        numbers
    }

    fn renumber_copy(&self, copy: &mut Copy) {
        let Copy {
            id: _,
            name,
            track,
            start: _,
            duration: _,
            direction: _,
            bytes: _,
            source,
            destination,
            source_address: _,
            destination_address: _,
            tid: _,
            correlation: _,
            range: _,
            details: _,
        } = copy;
        *name = self.name(*name);
        *track = self.tracks[track.index()];
        *source = source.map(|agent| self.agent(agent));
        *destination = destination.map(|agent| self.agent(agent));
    }

    fn renumber_allocation(&self, allocation: &mut Allocation) {
        let Allocation {
            id: _,
            process,
            tid: _,
            agent,
            queue: _,
            stream: _,
            kind: _,
            level: _,
            start: _,
            duration: _,
            address: _,
            bytes: _,
            flags: _,
            correlation: _,
        } = allocation;
        *process = self.process(*process);
        *agent = agent.map(|agent| self.agent(agent));
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

/// The agents of another trace with the numbers that they get.
fn added_agents(combined: &Combined, other: &Tables) -> Vec<Agent> {
    let mut added = other.agents.clone();
    let mut gpus: Vec<&mut Agent> = added.iter_mut().filter(|agent| agent.kind == AgentKind::Gpu).collect();
    // Where one number is taken all move together, so that the GPUs of one file stay side by side.
    if gpus.iter().any(|agent| combined.gpus.contains(&agent.number)) {
        let highest = gpus.iter().map(|agent| agent.number.saturating_add(1)).max();
        let mut free = combined.free_gpu.max(highest.unwrap_or(0));
        gpus.sort_by_key(|agent| agent.number);
        for agent in gpus {
            agent.number = free;
            free = free.saturating_add(1);
        }
    }
    added
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

/// Joins the descriptions: the tools and modes of either trace, the losses of both.
fn join_info(mine: &mut TraceInfo, other: &TraceInfo) {
    let TraceInfo {
        // The dialect of the first trace stays.
        dialect: _,
        schema_version,
        tool,
        tool_version,
        mode,
        losses,
        metadata,
        linked,
        range_ids,
        left_journal,
        trailing_bytes,
        compressed_cut_off,
        replays,
        counters,
        stray,
    } = other;
    mine.tool = joined(Some(&mine.tool), Some(tool)).unwrap_or_default();
    mine.tool_version = joined(mine.tool_version.as_deref(), tool_version.as_deref());
    mine.schema_version = joined(mine.schema_version.as_deref(), schema_version.as_deref());
    mine.mode = joined(mine.mode.as_deref(), mode.as_deref());
    for (reason, count) in losses {
        match mine.losses.iter_mut().find(|(known, _)| known == reason) {
            Some((_, sum)) => *sum = sum.saturating_add(*count),
            None => mine.losses.push((reason.clone(), *count)),
        }
    }
    // The clock tag of a merged trace does not hold for the others.
    mine.metadata.retain(|tag| tag.0 != crate::ranks::align::CLOCK || metadata.contains(tag));
    mine.linked |= linked;
    mine.range_ids |= range_ids;
    mine.left_journal |= left_journal;
    mine.compressed_cut_off |= compressed_cut_off;
    mine.trailing_bytes |= trailing_bytes;
    mine.replays = mine.replays.saturating_add(*replays);
    mine.counters |= counters;
    match (&mut mine.stray, stray) {
        (Some(mine), Some(other)) => mine.count = mine.count.saturating_add(other.count),
        (mine, other) => *mine = mine.take().or_else(|| other.clone()),
    }
    // A job of which one rank was cut off is cut off.
    let cut_off = metadata.iter().find(|tag| tag.0 == COMPLETE && tag.1 == "0");
    mine.metadata.extend(cut_off.filter(|tag| !mine.metadata.contains(tag)).cloned());
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
