//! Events of planes as rows.

use rustc_hash::FxHashMap;

use crate::table::{
    Agent, AgentKind, ApiCall, Copy, Direction, Dispatch, Operator, Process, Range, Shape, Symbol, Thread,
    Track,
};
use crate::{AgentId, Dialect, Id, NameId, ProcessId, Select, SymbolId, Tables};

/// One event; texts are those of its statistics.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Event<'a> {
    pub(super) id: Id,
    pub(super) name: &'a str,
    pub(super) start: i64,
    pub(super) duration: Option<i64>,
    pub(super) correlation: Id,
    /// `regs:168 static_shared:0 dynamic_shared:213188 grid:2,66,1 block:384,1,1 occ_pct:18.75`
    pub(super) kernel: Option<&'a str>,
    /// `kind_src:pinned kind_dst:device size:4 dest:0 async:1`
    pub(super) copy: Option<&'a str>,
    /// `kind:device num_bytes:4 async:1`
    pub(super) fill: Option<&'a str>,
    /// The number of a step that the program has annotated.
    pub(super) step: Option<i64>,
}

/// The function of JAX in which the host waits for results.
const WAIT: &str = " block_until_ready";

/// A line of a plane.
#[derive(Debug, Clone, Copy)]
pub(super) enum Line<'a> {
    /// A stream of a GPU.
    Stream { gpu: i64, stream: i64 },
    /// XLA derives these lines from the streams of a GPU: names of modules, operators, steps.
    Derived { name: &'a str },
    /// A thread of the host.
    Thread { tid: i64 },
}

impl<'a> Line<'a> {
    /// The line of a plane's name and its own; `None` where the plane is neither of the host nor of a device.
    pub(super) fn of(plane: &str, line: &'a str, id: i64) -> Option<Self> {
        if plane.starts_with("/host:") {
            return (plane == "/host:CPU" || plane.starts_with("/host:CUPTI"))
                .then_some(Self::Thread { tid: id });
        }
        let gpu = plane.strip_prefix("/device:")?.rsplit(':').next()?.parse().ok()?;
        // A TPU has no streams, and its line of operators is its work.
        let is_work = line.starts_with("Stream") || plane.contains("TPU") && line == "XLA Ops";
        Some(if is_work { Self::Stream { gpu, stream: id } } else { Self::Derived { name: line } })
    }
}

/// The rows of a file.
#[derive(Default)]
pub(super) struct Rows {
    select: Select,
    tables: Tables,
    agents: FxHashMap<i64, AgentId>,
    symbols: FxHashMap<(NameId, u32), SymbolId>,
    /// Events without a table, by what they are.
    others: Vec<(String, u64)>,
}

impl Rows {
    pub(super) fn new(select: &Select) -> Self {
        let mut rows = Self { select: *select, ..Self::default() };
        rows.tables.processes.push(Process::default());
        rows
    }

    pub(super) fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    pub(super) fn set_pid(&mut self, pid: i64) {
        self.tables.processes[0].pid = Some(pid);
    }

    /// The GPU of a plane, which may have no work.
    pub(super) fn gpu(&mut self, number: i64) -> &mut Agent {
        let agents = &mut self.tables.agents;
        let id = *self.agents.entry(number).or_insert_with(|| {
            let (kind, type_index) = (AgentKind::Gpu, Some(number));
            agents.push(Agent { kind, number, source_id: number, type_index, ..Agent::default() });
            AgentId(agents.len() as u32 - 1)
        });
        &mut self.tables.agents[id.index()]
    }

    pub(super) fn thread(&mut self, tid: i64, name: &str) {
        self.tables.threads.push(Thread { process: ProcessId(0), tid, name: Some(name.to_owned()) });
    }

    pub(super) fn add(&mut self, line: &Line<'_>, event: &Event<'_>) {
        match *line {
            Line::Stream { gpu, stream } => self.op(gpu, stream, event),
            Line::Derived { name } => self.count(name),
            Line::Thread { tid } if event.name.starts_with('$') => match event.name.ends_with(WAIT) {
                true => self.wait(tid, event),
                false => self.count("python_function"),
            },
            Line::Thread { tid } => self.host(tid, event),
        }
    }

    fn count(&mut self, name: &str) {
        let known = self.others.iter().position(|(known, _)| known == name);
        let position = known.unwrap_or_else(|| {
            // Of a file with many lines the rest is counted together.
            if self.others.len() < 100 {
                self.others.push((name.to_owned(), 0));
            }
            self.others.len() - 1
        });
        self.others[position].1 += 1;
    }

    fn op(&mut self, gpu: i64, stream: i64, event: &Event<'_>) {
        self.gpu(gpu);
        let agent = self.agents[&gpu];
        let track =
            Track { process: ProcessId(0), agent, queue: stream, stream: Some(stream), hardware_queue: None };
        let track = self.tables.tracks.intern(track);
        let name = self.tables.strings.intern(event.name);
        let id = if self.select.ids { event.id } else { 0 };
        let correlation = if self.select.links { event.correlation } else { 0 };
        self.tables.info.linked |= event.correlation != 0;
        let Event { start, duration, .. } = *event;
        if event.kernel.is_none()
            && let Some(direction) = direction(event)
        {
            let details = event.copy.or(event.fill).unwrap_or_default();
            let here = Some(agent);
            let is = |directions: &[Direction]| here.filter(|_| directions.contains(&direction));
            self.tables.copies.push(Copy {
                id,
                name,
                track,
                start,
                duration,
                direction,
                bytes: value(details, "size")
                    .or_else(|| value(details, "num_bytes"))
                    .and_then(|size| size.parse().ok()),
                source: is(&[Direction::DeviceToHost, Direction::DeviceToDevice]),
                destination: is(&[Direction::HostToDevice, Direction::DeviceToDevice, Direction::Fill]),
                correlation,
                ..Copy::default()
            });
            return;
        }
        let details = event.kernel.unwrap_or_default();
        let shape = self.shape(details);
        let vgprs = value(details, "regs").and_then(|registers| registers.parse().ok());
        let symbol = vgprs.filter(|_| self.select.launch).map(|vgprs| {
            *self.symbols.entry((name, vgprs)).or_insert_with(|| {
                let (process, vgprs) = (ProcessId(0), Some(vgprs));
                self.tables.symbols.push(Symbol {
                    process,
                    name,
                    mangled: NameId::NONE,
                    vgprs,
                    ..Symbol::default()
                });
                SymbolId(self.tables.symbols.len() as u32 - 1)
            })
        });
        let shape = shape.map(|shape| self.tables.shapes.intern(shape));
        let dispatch =
            Dispatch { id, name, track, start, duration, correlation, shape, symbol, ..Dispatch::default() };
        self.tables.dispatches.push(dispatch);
    }

    fn shape(&self, details: &str) -> Option<Shape> {
        if !self.select.any_shape() {
            return None;
        }
        let size = |name| value(details, name).and_then(|size| size.parse::<u32>().ok());
        let lds =
            size("static_shared").zip(size("dynamic_shared")).and_then(|(one, other)| one.checked_add(other));
        let grid = value(details, "grid").and_then(crate::table::axes);
        let block = value(details, "block").and_then(crate::table::axes);
        let shape = grid.zip(block).map(|(grid, block)| Shape::from_groups(block, grid)).unwrap_or_default();
        Some(Shape { lds, ..shape }).filter(|shape| *shape != Shape::default())
    }

    /// An event of a thread: an annotated step is a range, a launch is a call, anything else an operator.
    fn host(&mut self, tid: i64, event: &Event<'_>) {
        let Self { select, tables, .. } = self;
        let Event { start, duration, .. } = *event;
        let (process, tid) = (ProcessId(0), Some(tid));
        let id = if select.ids { event.id } else { 0 };
        if let Some(step) = event.step {
            if select.ranges {
                let category = tables.strings.intern(&format!("{}#{step}", event.name));
                let name = tables.strings.intern(event.name);
                tables.ranges.push(Range {
                    id,
                    process,
                    tid,
                    name,
                    category,
                    start,
                    duration,
                    ..Range::default()
                });
            }
        } else if event.correlation != 0 {
            if select.api {
                tables.api_calls.push(ApiCall {
                    id,
                    process,
                    tid: tid.filter(|_| select.links),
                    name: tables.strings.intern(event.name),
                    domain: tables.strings.intern("launch"),
                    category: NameId::NONE,
                    args: NameId::NONE,
                    start,
                    duration,
                    correlation: if select.links { event.correlation } else { 0 },
                    ..ApiCall::default()
                });
            }
        } else if select.operators {
            tables.operators.push(Operator {
                id,
                process,
                tid,
                name: tables.strings.intern(event.name),
                start,
                duration,
                shapes: NameId::NONE,
                types: NameId::NONE,
                strides: NameId::NONE,
                values: NameId::NONE,
                ..Operator::default()
            });
        }
    }

    /// Waiting for a GPU is a call, although the function is one of Python.
    fn wait(&mut self, tid: i64, event: &Event<'_>) {
        let Self { select, tables, .. } = self;
        if select.api {
            tables.api_calls.push(ApiCall {
                id: if select.ids { event.id } else { 0 },
                process: ProcessId(0),
                tid: Some(tid).filter(|_| select.links),
                name: tables.strings.intern(WAIT.trim_start()),
                domain: tables.strings.intern("wait"),
                category: NameId::NONE,
                args: NameId::NONE,
                start: event.start,
                duration: event.duration,
                ..ApiCall::default()
            });
        }
    }

    pub(super) fn finish(mut self, dialect: Dialect) -> Tables {
        let info = &mut self.tables.info;
        (info.dialect, info.tool) = (dialect, "xprof".to_owned());
        for (name, count) in self.others {
            info.metadata.push((format!("events_without_table.{name}"), count.to_string()));
        }
        self.tables
    }
}

/// The direction of a transfer, `None` for a kernel.
fn direction(event: &Event<'_>) -> Option<Direction> {
    if event.fill.is_some() || event.name.starts_with("Memset") {
        return Some(Direction::Fill);
    }
    if event.copy.is_none() && !event.name.starts_with("Memcpy") {
        return None;
    }
    Some(match event.name {
        name if name.contains("H2D") || name.contains("HtoD") => Direction::HostToDevice,
        name if name.contains("D2H") || name.contains("DtoH") => Direction::DeviceToHost,
        name if name.contains("D2D") || name.contains("DtoD") || name.contains("P2P") => {
            Direction::DeviceToDevice
        }
        name if name.contains("H2H") => Direction::HostToHost,
        _ => Direction::Unknown,
    })
}

/// The value of `name` in `name:value other:value`.
fn value<'a>(details: &'a str, name: &str) -> Option<&'a str> {
    details.split_ascii_whitespace().find_map(|part| part.strip_prefix(name)?.strip_prefix(':'))
}
