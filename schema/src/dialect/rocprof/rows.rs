//! Records of rocprof as rows: the same for all its files.

use rustc_hash::FxHashMap;

use crate::table::{
    Agent, AgentKind, ApiCall, ApiLaunch, Barrier, Copy, Details, Direction, Dispatch, Process, Range,
    RangeKind, Shape, Symbol, Track,
};
use crate::{AgentId, Column, Dialect, Id, NameId, ProcessId, Select, ShapeId, SymbolId, Tables};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Kernel,
    Copy,
    Barrier,
}

/// One op of a GPU.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Op<'a> {
    pub(super) id: Id,
    pub(super) name: &'a str,
    pub(super) pid: Option<i64>,
    pub(super) tid: Option<i64>,
    /// `None` where the file does not say which GPU it was.
    pub(super) device: Option<i64>,
    pub(super) queue: i64,
    pub(super) stream: Option<i64>,
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    pub(super) correlation: Id,
    pub(super) enqueued: Option<i64>,
    pub(super) lds: Option<u32>,
    pub(super) scratch: Option<u32>,
    pub(super) sgprs: Option<u32>,
    pub(super) vgprs: Option<u32>,
    pub(super) agprs: Option<u32>,
}

/// One call of a library.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Call<'a> {
    pub(super) id: Id,
    pub(super) domain: &'a str,
    pub(super) name: &'a str,
    pub(super) args: &'a str,
    /// The kernel that it launched, where that is stated apart.
    pub(super) kernel: Option<&'a str>,
    pub(super) pid: Option<i64>,
    pub(super) tid: Option<i64>,
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    pub(super) correlation: Id,
    pub(super) result: i64,
}

/// One range or marker.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Annotation<'a> {
    pub(super) id: Id,
    pub(super) name: &'a str,
    pub(super) pid: Option<i64>,
    pub(super) tid: Option<i64>,
    pub(super) kind: RangeKind,
    pub(super) start: i64,
    pub(super) end: Option<i64>,
}

/// Attributes of the op that a call has enqueued.
#[derive(Debug, Clone, Copy)]
struct Enqueued {
    tid: Option<i64>,
    bytes: Option<u64>,
    shape: Option<ShapeId>,
}

/// The rows of a file.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) select: Select,
    pub(super) tables: Tables,
    processes: FxHashMap<Option<i64>, ProcessId>,
    agents: FxHashMap<Option<i64>, AgentId>,
    symbols: FxHashMap<Symbol, SymbolId>,
    calls: FxHashMap<(ProcessId, Id), Enqueued>,
}

impl Rows {
    pub(super) fn new(select: &Select) -> Self {
        Self { select: *select, ..Self::default() }
    }

    pub(super) fn process(&mut self, pid: Option<i64>) -> ProcessId {
        let processes = &mut self.tables.processes;
        *self.processes.entry(pid).or_insert_with(|| {
            let id = ProcessId(processes.len() as u32);
            processes.push(Process { pid, space: id.0, ..Process::default() });
            id
        })
    }

    pub(super) fn agent(&mut self, device: Option<i64>) -> AgentId {
        let agents = &mut self.tables.agents;
        *self.agents.entry(device).or_insert_with(|| {
            let kind = if device.is_some() { AgentKind::Gpu } else { AgentKind::Unknown };
            let number = device.unwrap_or(-1);
            agents.push(Agent { kind, number, source_id: number, type_index: device, ..Agent::default() });
            AgentId(agents.len() as u32 - 1)
        })
    }

    pub(super) fn op(&mut self, kind: Kind, op: &Op<'_>) {
        let process = self.process(op.pid);
        let agent = self.agent(op.device);
        let track = Track { process, agent, queue: op.queue, stream: op.stream, hardware_queue: None };
        let track = self.tables.tracks.intern(track);
        let name = self.tables.strings.intern(op.name);
        let links = self.select.links;
        let id = if self.select.ids { op.id } else { 0 };
        let (start, duration) = (op.start, op.end.and_then(|end| end.checked_sub(op.start)));
        // Ops take sizes from their calls by it, at the end.
        let (tid, correlation) = (op.tid.filter(|_| links), op.correlation);
        match kind {
            Kind::Kernel => {
                let shape = Shape { lds: op.lds, scratch: op.scratch, ..Shape::default() };
                let shape = Some(shape).filter(|shape| self.select.any_shape() && *shape != Shape::default());
                let shape = shape.map(|shape| self.tables.shapes.intern(shape));
                let symbol = self.symbol(process, name, op);
                let details = Details::with_enqueued(op.enqueued.filter(|_| links));
                self.tables.dispatches.push(Dispatch {
                    id,
                    name,
                    track,
                    start,
                    duration,
                    tid,
                    correlation,
                    shape,
                    symbol,
                    details,
                    ..Dispatch::default()
                });
            }
            Kind::Barrier => {
                let barrier =
                    Barrier { id, name, track, start, duration, correlation, details: Details::default() };
                self.tables.barriers.push(barrier);
            }
            Kind::Copy => {
                let direction = Direction::parse(op.name).unwrap_or_default();
                let agent = Some(agent).filter(|_| op.device.is_some());
                let source = agent.filter(|_| direction == Direction::DeviceToHost);
                let destination =
                    agent.filter(|_| matches!(direction, Direction::HostToDevice | Direction::Fill));
                self.tables.copies.push(Copy {
                    id,
                    name,
                    track,
                    start,
                    duration,
                    direction,
                    source,
                    destination,
                    tid,
                    correlation,
                    ..Copy::default()
                });
            }
        }
    }

    fn symbol(&mut self, process: ProcessId, name: NameId, op: &Op<'_>) -> Option<SymbolId> {
        let Op { sgprs, vgprs, agprs, .. } = *op;
        if !self.select.launch || (sgprs, vgprs, agprs) == (None, None, None) {
            return None;
        }
        let symbol =
            Symbol { process, name, mangled: NameId::NONE, sgprs, vgprs, agprs, ..Symbol::default() };
        let symbols = &mut self.tables.symbols;
        Some(*self.symbols.entry(symbol).or_insert_with(|| {
            symbols.push(symbol);
            SymbolId(symbols.len() as u32 - 1)
        }))
    }

    pub(super) fn call(&mut self, call: &Call<'_>) {
        let process = self.process(call.pid);
        if call.correlation != 0 && call.args.len() > 2 {
            let sizes = ["numBlocks", "dimBlocks"].map(|name| axes(call.args, name));
            let shape = match sizes {
                [Some(groups), Some(workgroup)] if self.select.any_shape() => {
                    let workgroup = workgroup.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
                    Some(self.tables.shapes.intern(Shape::from_groups(workgroup, groups)))
                }
                _ => None,
            };
            let bytes = number(call.args, "sizeBytes");
            self.calls.insert((process, call.correlation), Enqueued { tid: call.tid, bytes, shape });
        }
        if !self.select.api {
            return;
        }
        let (strings, select) = (&mut self.tables.strings, self.select);
        let args =
            if select.args && !call.args.is_empty() { strings.intern(call.args) } else { NameId::NONE };
        let row = ApiCall {
            id: if select.ids { call.id } else { 0 },
            process,
            tid: call.tid.filter(|_| select.links),
            name: strings.intern(call.name),
            domain: strings.intern(call.domain),
            category: NameId::NONE,
            args,
            start: call.start,
            duration: call.end.and_then(|end| end.checked_sub(call.start)),
            correlation: if select.links { call.correlation } else { 0 },
            result: call.result,
            ..ApiCall::default()
        };
        if let Some(kernel) = call.kernel.filter(|_| select.args) {
            let kernel = strings.intern(kernel);
            let row = self.tables.api_calls.len() as u32;
            let launch = ApiLaunch { call: row, kernel, stream: NameId::NONE, ..ApiLaunch::default() };
            self.tables.api_calls.launches.push(launch);
        }
        self.tables.api_calls.push(row);
    }

    pub(super) fn annotation(&mut self, range: &Annotation<'_>) {
        let process = self.process(range.pid);
        if !self.select.ranges {
            return;
        }
        let duration = range.end.and_then(|end| end.checked_sub(range.start));
        self.tables.ranges.push(Range {
            id: if self.select.ids { range.id } else { 0 },
            process,
            tid: range.tid,
            name: self.tables.strings.intern(range.name),
            category: NameId::NONE,
            kind: range.kind,
            start: range.start,
            duration: if range.kind == RangeKind::Marker { Some(0) } else { duration },
            correlation: 0,
        });
    }

    /// The tables; ops have what their calls say.
    pub(super) fn finish(mut self, dialect: Dialect) -> Tables {
        let tables = &mut self.tables;
        let mut is_linked = false;
        for row in 0..tables.dispatches.len() {
            let process = tables.tracks.get(tables.dispatches.track[row]).process;
            let Some(call) = self.calls.get(&(process, tables.dispatches.correlation.get(row))) else {
                continue;
            };
            is_linked = true;
            if let Some(shape) = call.shape {
                tables.dispatches.shape.set(row, Some(shape));
            }
            if self.select.links && tables.dispatches.tid.get(row).is_none() {
                tables.dispatches.tid.set(row, call.tid);
            }
        }
        for copy in &mut tables.copies {
            let process = tables.tracks.get(copy.track).process;
            if let Some(call) = self.calls.get(&(process, copy.correlation)) {
                (copy.bytes, copy.tid) = (call.bytes, copy.tid.or(call.tid.filter(|_| self.select.links)));
                is_linked = true;
            }
        }
        if !self.select.links {
            tables.dispatches.correlation = Column::Uniform { value: 0, len: tables.dispatches.len() };
            tables.copies.iter_mut().for_each(|copy| copy.correlation = 0);
            tables.barriers.iter_mut().for_each(|barrier| barrier.correlation = 0);
        }
        tables.info.linked = is_linked;
        (tables.info.dialect, tables.info.tool) = (dialect, "rocprof".to_owned());
        self.tables
    }
}

/// The number that follows the name of an argument: `sizeBytes=1024` or `sizeBytes(1024)`.
fn number(args: &str, name: &str) -> Option<u64> {
    let rest = &args[args.find(name)? + name.len()..];
    let rest = rest.strip_prefix(['=', '('])?;
    let end = rest.find(|digit: char| !digit.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// The sizes that follow the name of an argument: `numBlocks={2,1,1}`, which results.json spells `numBlocks({2)1)1})`.
fn axes(args: &str, name: &str) -> Option<[u64; 3]> {
    let rest = &args[args.find(name)? + name.len()..];
    let rest = rest.strip_prefix(['=', '('])?.strip_prefix('{')?;
    let mut sizes = rest[..rest.find('}')?].split([',', ')']).map(|size| size.trim().parse().ok());
    Some([sizes.next()??, sizes.next()??, sizes.next()??])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_arguments_in_both_spellings() {
        for args in ["(numBlocks={2,1,1}, sizeBytes=1024)", "( numBlocks({2)1)1}) sizeBytes(1024))"] {
            assert_eq!(
                (axes(args, "numBlocks"), number(args, "sizeBytes")),
                (Some([2, 1, 1]), Some(1024)),
                "{args}"
            );
            assert_eq!((axes(args, "dimBlocks"), number(args, "kind")), (None, None));
        }
    }
}
