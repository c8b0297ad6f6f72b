//! Written traces read back as they were, up to ids that are only names for rows.

use std::collections::HashMap;
use std::path::Path;

use proptest::prelude::*;
use rtl_schema::table::{
    Agent, AgentKind, Barrier, Collective, Copy, Details, Direction, Dispatch, MemoryEvent, Operator,
    Process, PythonFrame, Range, RangeKind, Shape, Span, Symbol, Track,
};
use rtl_schema::{
    AgentId, CollectiveId, NameId, ProcessId, Select, ShapeId, SymbolId, Tables, Trace, TrackId,
};
use rtl_write::{NativeWriter, TraceImport};
use support::{Layout, Options, fixture_in, fixture_names, generate};

type Result<T = ()> = anyhow::Result<T>;

fn written_and_read(tables: &Tables) -> Result<Tables> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.db");
    let mut writer = NativeWriter::create(&path)?;
    writer.push_tables(tables)?;
    writer.finish()?;
    Ok(Trace::open(&path)?.read(&Select::everything())?)
}

/// As [`written_and_read`], of a trace that is read and written piece by piece.
fn streamed_and_read(path: &Path) -> Result<Tables> {
    let folder = tempfile::tempdir()?;
    let copy = folder.path().join("trace.db");
    let mut writer = NativeWriter::create(&copy)?;
    let mut incoming = TraceImport::default();
    let last = Trace::open(path)?.stream(&Select::everything(), |piece| incoming.push(&mut writer, piece))?;
    incoming.finish(&mut writer, &last)?;
    writer.finish()?;
    Ok(Trace::open(&copy)?.read(&Select::everything())?)
}

/// Every row as one line in which names stand for ids.
struct Lines<'a> {
    tables: &'a Tables,
    /// Some sources number dispatches and copies apart.
    dispatches: HashMap<i64, String>,
    ops: HashMap<i64, String>,
    calls: HashMap<i64, usize>,
}

impl<'a> Lines<'a> {
    fn of(tables: &'a Tables) -> Vec<String> {
        let rows = tables.dispatches.iter().enumerate();
        let dispatches: HashMap<_, _> = rows.map(|(at, row)| (row.id, format!("dispatch {at}"))).collect();
        let mut ops = dispatches.clone();
        for (at, row) in tables.copies.iter().enumerate() {
            ops.insert(row.id, format!("copy {at}"));
        }
        let calls = tables.api_calls.iter().enumerate().map(|(at, row)| (row.id, at)).collect();
        Self { tables, dispatches, ops, calls }.all()
    }

    fn name(&self, name: NameId) -> &str {
        self.tables.strings.get(name)
    }

    /// A text that may as well be empty.
    fn words(&self, name: NameId) -> &str {
        if name.is_some() { self.name(name) } else { "" }
    }

    fn agent(&self, agent: AgentId) -> String {
        let agent = self.tables.agent(agent);
        // Ops without an agent need none in the list.
        if agent.kind == AgentKind::Unknown {
            "unknown".to_owned()
        } else {
            format!("{:?} {}", agent.kind, agent.number)
        }
    }

    fn track(&self, track: TrackId) -> String {
        let track = self.tables.tracks.get(track);
        let (agent, process) = (self.agent(track.agent), track.process.0);
        format!(
            "process {process} {agent} queue {} {:?} {:?}",
            track.queue, track.stream, track.hardware_queue
        )
    }

    fn symbol(&self, symbol: &Symbol) -> String {
        let [name, mangled] = [symbol.name, symbol.mangled].map(|name| self.name(name));
        let bare = Symbol { name: NameId(0), mangled: NameId(0), ..*symbol };
        format!("{name} {mangled} {bare:?}")
    }

    fn collective(&self, collective: CollectiveId) -> String {
        let row = self.tables.collectives.get(collective);
        let texts = [row.operation, row.communicator, row.ranks, row.data_type].map(|name| self.words(name));
        let (operation, communicator, ranks, data_type) = (NameId(0), NameId(0), NameId(0), NameId(0));
        let bare = Collective { operation, communicator, ranks, data_type, ..row };
        format!("{texts:?} {bare:?}")
    }

    fn all(&self) -> Vec<String> {
        let tables = self.tables;
        let mut lines = Vec::new();
        let mut line = |text: String| lines.push(text);
        let about = &tables.info;
        line(format!("about {} {:?} {:?} {:?}", about.tool, about.tool_version, about.mode, about.losses));
        tables.processes.iter().for_each(|row| line(format!("{row:?}")));
        tables.threads.iter().for_each(|row| line(format!("{row:?}")));
        tables
            .agents
            .iter()
            .filter(|agent| agent.kind != AgentKind::Unknown)
            .for_each(|row| line(format!("{row:?}")));
        tables.symbols.iter().for_each(|row| line(format!("symbol {}", self.symbol(row))));
        for row in tables.dispatches.iter() {
            let (name, track) = (self.name(row.name), self.track(row.track));
            let shape = row.shape.map(|shape| tables.shapes.get(shape));
            let symbol = row.symbol.map(|symbol| self.symbol(&tables.symbols[symbol.index()]));
            let collective = row.collective.map(|collective| self.collective(collective));
            let (id, name_id, track_id) = (0, NameId(0), TrackId(0));
            let bare = Dispatch { id, name: name_id, track: track_id, shape: None, symbol: None, ..row };
            let bare = Dispatch { collective: None, ..bare };
            line(format!("{name} on {track} as {shape:?} of {symbol:?} {collective:?} {bare:?}"));
        }
        for row in &tables.copies {
            let (name, track) = (self.words(row.name), self.track(row.track));
            let ends = [row.source, row.destination].map(|agent| agent.map(|agent| self.agent(agent)));
            let bare =
                Copy { id: 0, name: NameId(0), track: TrackId(0), source: None, destination: None, ..*row };
            line(format!("{name} on {track} between {ends:?} {bare:?}"));
        }
        for row in &tables.barriers {
            let (name, track) = (self.words(row.name), self.track(row.track));
            let bare = Barrier { id: 0, name: NameId(0), track: TrackId(0), ..*row };
            line(format!("barrier {name} on {track} {bare:?}"));
        }
        for row in &tables.ranges {
            let [name, category] = [row.name, row.category].map(|name| self.name(name));
            let kind = if row.is_marker() { RangeKind::Marker } else { row.kind };
            let bare = Range { name: NameId(0), category: NameId(0), kind, ..*row };
            line(format!("{name} {category} {bare:?}"));
        }
        for row in tables.api_calls.iter() {
            let texts = [row.name, row.domain, row.category, row.args].map(|name| self.words(name));
            line(format!(
                "call {texts:?} {:?} {:?} {} {:?} {} {} {:?} {}",
                row.process,
                row.tid,
                row.start,
                row.duration,
                row.correlation,
                row.parent,
                row.stream,
                row.result
            ));
        }
        for row in &tables.api_calls.arguments {
            let texts = [row.kind, row.name, row.value].map(|name| self.name(name));
            line(format!("argument {} {} {texts:?}", row.call, row.position));
        }
        for row in &tables.api_calls.launches {
            let shape = row.shape.map(|shape| tables.shapes.get(shape));
            let shape = shape.map(|shape| (shape.groups, shape.workgroup, shape.lds, shape.scratch));
            let texts = [row.kernel, row.stream].map(|name| self.words(name));
            line(format!(
                "launch {} {texts:?} {shape:?} {:?} {:?} {:?} {:?} {:?} {} {}",
                row.call,
                row.bytes,
                row.extent,
                row.direction,
                row.addresses,
                row.devices,
                row.sync,
                row.pinned
            ));
        }
        for row in &tables.allocations {
            let agent = row.agent.map(|agent| self.agent(agent));
            line(format!("{agent:?} {:?}", rtl_schema::table::Allocation { id: 0, agent: None, ..*row }));
        }
        for row in &tables.counters {
            let (name, agent) = (self.name(row.name), row.agent.map(|agent| self.agent(agent)));
            line(format!(
                "{name} {agent:?} {:?} {:?} {}",
                self.dispatches.get(&row.dispatch),
                row.process,
                row.value
            ));
        }
        for row in &tables.monitors {
            let texts = [row.device_kind, row.name, row.value].map(|name| self.name(name));
            line(format!("monitor {texts:?} {} {} {}", row.device, row.start, row.end));
        }
        for row in &tables.stack_frames {
            line(format!("frame {:?} {} {}", self.calls.get(&row.call), row.depth, self.name(row.name)));
        }
        for (op, call) in &tables.extra_links {
            line(format!("link {:?} {:?}", self.ops.get(op), self.calls.get(call)));
        }
        for row in tables.operators.iter() {
            let texts =
                [row.name, row.shapes, row.types, row.strides, row.values].map(|name| self.words(name));
            let none = NameId(0);
            let bare =
                Operator { id: 0, name: none, shapes: none, types: none, strides: none, values: none, ..row };
            line(format!("operator {texts:?} {bare:?}"));
        }
        for row in tables.python_frames.iter() {
            let bare = PythonFrame { id: 0, name: NameId(0), ..row };
            line(format!("frame {} {bare:?}", self.words(row.name)));
        }
        for row in &tables.memory_events {
            let agent = row.agent.map(|agent| self.agent(agent));
            line(format!("memory {agent:?} {:?}", MemoryEvent { id: 0, agent: None, ..*row }));
        }
        for row in &tables.spans {
            let agent = row.agent.map(|agent| self.agent(agent));
            line(format!(
                "span {} {agent:?} {:?}",
                self.name(row.name),
                Span { id: 0, agent: None, name: NameId(0), ..*row }
            ));
        }
        tables.opaque_tables.iter().for_each(|row| line(format!("{row:?}")));
        lines
    }
}

#[track_caller]
fn assert_same(before: &Tables, after: &Tables, what: &str) {
    let (before, after) = (Lines::of(before), Lines::of(after));
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        assert_eq!(before, after, "{what}, line {number}");
    }
    assert_eq!(before.len(), after.len(), "{what}");
}

fn check(path: &Path, what: &str) -> Result {
    let before = Trace::open(path)?.read(&Select::everything())?;
    assert_same(&before, &written_and_read(&before)?, what);
    assert_same(&before, &streamed_and_read(path)?, &format!("{what}, piece by piece"));
    Ok(())
}

#[test]
fn every_story_in_every_layout_reads_back_from_a_native_file() -> Result {
    for name in fixture_names() {
        for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
            if layout == Layout::Rpd3 && name == "bad-rows" {
                continue;
            }
            check(&fixture_in(&name, layout), &format!("{name} {layout:?}"))?;
        }
    }
    Ok(())
}

#[test]
fn generated_traces_read_back_from_a_native_file() -> Result {
    let folder = tempfile::tempdir()?;
    for layout in [Layout::Native, Layout::Lite, Layout::Rpd3] {
        let path = folder.path().join(format!("{layout:?}.db"));
        generate(&Options { layout, ops: 1_500, api: true, ranges: true, ..Options::default() }, &path)?;
        check(&path, &format!("{layout:?}"))?;
    }
    Ok(())
}

#[test]
fn foreign_traces_read_back_from_a_native_file() -> Result {
    let Some(shared) = support::shared() else { return Ok(()) };
    for folder in ["traces/made", "traces/real"] {
        for entry in std::fs::read_dir(shared.join(folder))? {
            let path = entry?.path();
            check(&path, &path.display().to_string())?;
        }
    }
    Ok(())
}

#[test]
fn traces_of_torch_profiler_read_back_from_a_native_file() -> Result {
    let Some(shared) = support::shared() else { return Ok(()) };
    for name in [
        "mi250-minitoy.json.gz",
        "mi300-resnet.json.gz",
        "torch-compile-triton.json.gz",
        "h200/averages.json.gz",
        "h200/stack.json.gz",
        "h200/gpt-memory-rank0.json.gz",
        "h200/gpt-dist_overlap-rank2.json.gz",
    ] {
        let path = shared.join("kineto").join(name);
        if !path.exists() {
            support::skip(support::Need::Shared, "no traces of torch.profiler beside the checkout");
            continue;
        }
        let before = Trace::open(&path)?.read(&Select::everything())?;
        assert!(!before.operators.is_empty(), "{name}");
        check(&path, name)?;
    }
    Ok(())
}

/// Two processes with one pid, GPUs and CPU, queues by number and by address, symbols that share a name.
fn places(tables: &mut Tables) {
    tables.info.tool = "rtl".to_owned();
    let process = |space| Process { pid: Some(7), space, node: Some(space), ..Process::default() };
    tables.processes = vec![process(0), process(1)];
    let agent = |kind, number, source_id| Agent { kind, number, source_id, ..Agent::default() };
    tables.agents =
        vec![agent(AgentKind::Gpu, 0, 0), agent(AgentKind::Gpu, 5, 40), agent(AgentKind::Cpu, 0, 2)];
    for (process, agent, queue, stream, hardware_queue) in [
        (0, 0, 0, None, None),
        (0, 0, 0x7f00_0000_0000, Some(1), Some(0x1000)),
        (0, 1, 0x7f00_0000_0000, None, Some(0x2000)),
        (1, 0, 3, Some(0), None),
    ] {
        let (process, agent) = (ProcessId(process), AgentId(agent));
        tables.tracks.intern(Track { process, agent, queue, stream, hardware_queue });
    }
    for name in ["gemm", "", "add"] {
        tables.strings.intern(name);
    }
    for (id, process) in [(1, 0), (2, 0), (3, 1)] {
        let (process, mangled) = (ProcessId(process), NameId::NONE);
        tables.symbols.push(Symbol {
            id,
            process,
            name: NameId(0),
            mangled,
            vgprs: Some(id as u32),
            ..Symbol::default()
        });
    }
    tables.shapes.intern(Shape::from_items([64, 1, 1], [100, 1, 1]));
    tables.shapes.intern(Shape { lds: Some(0), ..Shape::from_items([8, 8, 2], [800, 1, 7]) });
    tables.shapes.intern(Shape { scratch: Some(16), ..Shape::default() });
    let operation = NameId(2);
    tables.collectives.intern(Collective { operation, sent: Some(u64::MAX), ..Collective::default() });
    let texts = Collective { communicator: NameId(0), ranks: NameId(2), ..Collective::default() };
    let (size, received, sequence) = (Some(8), Some(0), Some(u32::MAX));
    tables.collectives.intern(Collective { data_type: NameId(0), size, received, sequence, ..texts });
}

fn name() -> impl Strategy<Value = NameId> {
    prop_oneof![8 => (0_u32..3).prop_map(NameId), 1 => Just(NameId::NONE), 1 => Just(NameId::DANGLING)]
}

fn time() -> impl Strategy<Value = (i64, Option<i64>)> {
    (0_i64..1 << 52, prop::option::weighted(0.9, -1_000_i64..1 << 34))
}

fn dispatch() -> impl Strategy<Value = Dispatch> {
    let place = (name(), 0_u32..4, time(), prop::option::of(1_i64..5_000_000), 0_i64..4);
    let rest = (any::<bool>(), prop::option::of(0_i64..1 << 52), prop::option::weighted(0.2, 0_u32..2));
    (place, prop::option::of(0_u32..3), prop::option::of(0_u32..2), rest).prop_map(
        |((name, track, (start, duration), tid, range), shape, symbol, (graph, enqueued, collective))| {
            Dispatch {
                name,
                track: TrackId(track),
                start,
                duration,
                tid,
                range,
                correlation: range * 1_000,
                shape: shape.map(ShapeId),
                // A kernel is loaded by the process that launches it.
                symbol: if track == 3 { symbol.map(|_| SymbolId(2)) } else { symbol.map(SymbolId) },
                graph,
                details: Details::with_enqueued(enqueued),
                collective: collective.map(CollectiveId),
                id: 0,
            }
        },
    )
}

fn copy() -> impl Strategy<Value = Copy> {
    let directions = prop::sample::select(vec![
        Direction::HostToDevice,
        Direction::DeviceToHost,
        Direction::DeviceToDevice,
        Direction::HostToHost,
        Direction::Fill,
        Direction::Unknown,
    ]);
    let agent = || prop::option::of((0_u32..3).prop_map(AgentId));
    (
        directions,
        0_u32..4,
        time(),
        prop::option::of(any::<u32>()),
        agent(),
        agent(),
        prop::option::of(any::<u64>()),
    )
        .prop_map(|(direction, track, (start, duration), bytes, source, destination, source_address)| {
            Copy {
                direction,
                name: NameId(1),
                track: TrackId(track),
                start,
                duration,
                bytes: bytes.map(u64::from),
                source,
                destination,
                source_address,
                ..Copy::default()
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: support::cases(16), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mix_of_kernels_and_copies_reads_back(
        ops in prop::collection::vec(prop_oneof![3 => dispatch().prop_map(Ok), 1 => copy().prop_map(Err)], 0..150),
    ) {
        let mut before = Tables::default();
        places(&mut before);
        for (at, op) in ops.into_iter().enumerate() {
            let id = 1 + 3 * at as i64;
            match op {
                Ok(dispatch) => before.dispatches.push(Dispatch { id, ..dispatch }),
                Err(copy) => before.copies.push(Copy { id, ..copy }),
            }
        }
        assert_same(&before, &written_and_read(&before).unwrap(), "generated");
    }
}
