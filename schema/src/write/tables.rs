use rustc_hash::FxHashMap;

use super::metadata;
use super::optional::Optional;
use super::{Call, Cell, NO_SYMBOL, Op, OpKind, TextId, Writer};
use crate::table::{
    AgentKind, Allocation, AllocationKind, AllocationLevel, ApiLaunch, Copy, Direction, Lane, RangeKind,
    Value,
};
use crate::{AgentId, Id, NameId, ProcessId, Result, SymbolId, Tables};

impl Writer {
    /// Writes all of `tables`. Ops get new ids, in the order of their old ones where those were read; calls
    /// and ranges too. Everything else reads back as it was.
    ///
    /// # Errors
    /// [`crate::Error::Sqlite`] if the file cannot grow.
    pub fn tables(&mut self, tables: &Tables) -> Result<()> {
        let mut copying = Copying::new(tables, self)?;
        metadata::write(self, tables, &copying.places)?;
        copying.ops(self)?;
        copying.calls(self)?;
        copying.rest(self)
    }
}

/// How processes, agents and queues are numbered in the file.
#[derive(Debug)]
pub(super) struct Places {
    /// What pid columns hold for each process: nothing where there is only one, else its pid, or a negative
    /// number where two have the same or it is unknown.
    pub(super) pids: Vec<Option<i64>>,
    /// What gpuId columns hold for each agent: a GPU's number, a number below -1 for another one.
    pub(super) gpus: Vec<Option<i64>>,
    /// What queueId columns hold for each lane.
    pub(super) queues: Vec<i64>,
}

/// Queues beyond this are addresses; they get small numbers and a metadata row each.
const LARGEST_QUEUE: i64 = i16::MAX as i64;

impl Places {
    fn new(tables: &Tables) -> Self {
        let pid = |process: usize| tables.processes[process].pid;
        let many = tables.processes.len() > 1;
        let pids = (0..tables.processes.len())
            .map(|process| {
                let taken = (0..process).any(|earlier| pid(earlier) == pid(process));
                many.then(|| pid(process).filter(|_| !taken).unwrap_or(-1 - process as i64))
            })
            .collect();
        let gpus = tables.agents.iter().enumerate().map(|(at, agent)| match agent.kind {
            AgentKind::Gpu => Some(agent.number),
            AgentKind::Unknown => None,
            AgentKind::Cpu | AgentKind::Other => Some(-2 - at as i64),
        });
        let taken = tables.lanes.rows().iter().filter(|lane| !named(lane)).map(|lane| lane.queue).max();
        let first = taken.map_or(0, |largest| largest + 1);
        let mut ordinals = FxHashMap::default();
        let queues = tables.lanes.rows().iter().map(|lane| {
            if !named(lane) {
                return lane.queue;
            }
            let next = first + ordinals.len() as i64;
            *ordinals.entry((lane.process, lane.agent, lane.queue, lane.hardware_queue)).or_insert(next)
        });
        Self { pids, gpus: gpus.collect(), queues: queues.collect() }
    }

    pub(super) fn pid(&self, process: ProcessId) -> Option<i64> {
        self.pids.get(process.index()).copied().flatten()
    }

    pub(super) fn gpu(&self, agent: AgentId) -> Option<i64> {
        self.gpus.get(agent.index()).copied().flatten()
    }
}

/// Whether the queue of a lane needs a metadata row.
pub(super) fn named(lane: &Lane) -> bool {
    lane.hardware_queue.is_some() || !(0..=LARGEST_QUEUE).contains(&lane.queue)
}

/// One `Tables` on its way into a file.
struct Copying<'a> {
    tables: &'a Tables,
    places: Places,
    texts: Vec<Option<TextId>>,
    /// The first symbol of each name.
    symbols: FxHashMap<(ProcessId, NameId), SymbolId>,
    /// New op ids by (space, old id), kept only where something refers to ops.
    ops: Option<FxHashMap<(u32, Id), i64>>,
    /// New call ids by old id, likewise.
    calls: Option<FxHashMap<Id, i64>>,
}

impl<'a> Copying<'a> {
    fn new(tables: &'a Tables, writer: &mut Writer) -> Result<Self> {
        let mut texts = vec![None; tables.strings.len()];
        for (id, text) in tables.strings.iter() {
            texts[id.index()] = Some(writer.text(text)?);
        }
        let mut symbols = FxHashMap::default();
        for (at, symbol) in tables.symbols.iter().enumerate() {
            symbols.entry((symbol.process, symbol.name)).or_insert(SymbolId(at as u32));
        }
        let op_ids = !(tables.counters.is_empty() && tables.extra_links.is_empty());
        let call_ids = !(tables.stack_frames.is_empty() && tables.extra_links.is_empty());
        Ok(Self {
            tables,
            places: Places::new(tables),
            texts,
            symbols,
            ops: op_ids.then(FxHashMap::default),
            calls: call_ids.then(FxHashMap::default),
        })
    }

    fn text(&self, name: NameId) -> Option<TextId> {
        match name {
            NameId::NONE => None,
            _ => Some(self.texts.get(name.index()).copied().flatten().unwrap_or(TextId::DANGLING)),
        }
    }

    /// As [`Self::text`], as the text itself.
    fn words(&self, name: NameId) -> Cell {
        if name.is_some() { self.tables.strings.get(name).into() } else { Cell::Null }
    }

    fn ops(&mut self, writer: &mut Writer) -> Result<()> {
        let tables = self.tables;
        let (mut dispatch, mut copy, mut barrier, mut range) = (0, 0, 0, 0);
        loop {
            let ids = [
                (dispatch < tables.dispatches.len()).then(|| tables.dispatches.id.get(dispatch)),
                tables.copies.get(copy).map(|copy| copy.id),
                tables.barriers.get(barrier).map(|barrier| barrier.id),
                tables.ranges.get(range).map(|range| range.id),
            ];
            let oldest = ids.iter().flatten().min();
            match ids.iter().position(|id| id.is_some() && id.as_ref() == oldest) {
                Some(0) => {
                    self.dispatch(writer, dispatch)?;
                    dispatch += 1;
                }
                Some(1) => {
                    self.copy(writer, &tables.copies[copy])?;
                    copy += 1;
                }
                Some(2) => {
                    let row = tables.barriers[barrier];
                    let op = Op {
                        description: self.text(row.name),
                        correlation: row.correlation,
                        ..Op::default()
                    };
                    let lane = tables.lanes.get(row.lane);
                    let op = self.at(op, row.lane, row.start, row.duration);
                    let id = writer.op(&Op { kind: OpKind::Barrier, ..op })?;
                    self.remember(lane.process, row.id, id);
                    barrier += 1;
                }
                Some(_) => {
                    self.range(writer, range)?;
                    range += 1;
                }
                None => return Ok(()),
            }
        }
    }

    /// Gives `op` its place and times.
    fn at(&self, op: Op, lane: crate::LaneId, start: i64, duration: Option<i64>) -> Op {
        let place = self.tables.lanes.get(lane);
        Op {
            gpu: self.places.gpu(place.agent),
            queue: Some(self.places.queues[lane.index()]),
            pid: self.places.pid(place.process),
            stream: place.stream,
            start,
            end: duration.map(|duration| start.saturating_add(duration)),
            ..op
        }
    }

    fn remember(&mut self, process: ProcessId, old: Id, new: i64) {
        if let Some(ops) = &mut self.ops {
            ops.insert((space(self.tables, process), old), new);
        }
    }

    fn dispatch(&mut self, writer: &mut Writer, at: usize) -> Result<()> {
        let row = self.tables.dispatches.get(at);
        let shape = row.shape.map(|shape| self.tables.shapes.get(shape)).unwrap_or_default();
        let op = Op {
            kind: if row.graph { OpKind::Task } else { OpKind::KernelExecution },
            description: self.text(row.name),
            range: row.range,
            items: shape.items,
            workgroup: shape.workgroup,
            lds: shape.lds,
            scratch: shape.scratch,
            tid: row.tid,
            correlation: row.correlation,
            symbol: self.symbol(self.tables.lanes.get(row.lane).process, row.name, row.symbol),
            ..Op::default()
        };
        let id = writer.op(&self.at(op, row.lane, row.start, row.duration))?;
        self.remember(self.tables.lanes.get(row.lane).process, row.id, id);
        Ok(())
    }

    /// The symbol column: empty where the name says it.
    fn symbol(&self, process: ProcessId, name: NameId, symbol: Option<SymbolId>) -> Option<i64> {
        let implied = self.symbols.get(&(process, name)).copied();
        match symbol {
            _ if symbol == implied => None,
            Some(symbol) => Some(self.tables.symbols[symbol.index()].id),
            None => Some(NO_SYMBOL),
        }
    }

    fn copy(&mut self, writer: &mut Writer, row: &Copy) -> Result<()> {
        let own = self.tables.lanes.get(row.lane).agent;
        // What a reader infers from gpuId, direction and peer; the rest needs a row of its own.
        let (peer, source, destination) = match row.direction {
            Direction::HostToDevice | Direction::Fill => (None, None, Some(own)),
            Direction::DeviceToHost => (None, Some(own), None),
            Direction::DeviceToDevice if row.source.is_some() => (row.source, row.source, Some(own)),
            _ => (None, None, None),
        };
        let inferred = (source, destination) == (row.source, row.destination);
        let op = Op {
            kind: kind(row.direction),
            description: self.text(row.name),
            range: row.range,
            tid: row.tid,
            correlation: row.correlation,
            bytes: row.bytes,
            peer: peer.and_then(|agent| self.places.gpu(agent)),
            ..Op::default()
        };
        let id = writer.op(&self.at(op, row.lane, row.start, row.duration))?;
        self.remember(self.tables.lanes.get(row.lane).process, row.id, id);
        if !inferred || row.source_address.is_some() || row.destination_address.is_some() {
            let gpu = |agent: Option<AgentId>| agent.and_then(|agent| self.places.gpu(agent));
            let cells = [
                id.into(),
                row.source_address.map(|address| address as i64).into(),
                row.destination_address.map(|address| address as i64).into(),
                gpu(row.source).into(),
                gpu(row.destination).into(),
            ];
            writer.row(Optional::Copy, cells)?;
        }
        Ok(())
    }

    fn range(&mut self, writer: &mut Writer, at: usize) -> Result<()> {
        let row = self.tables.ranges[at];
        let op = Op {
            gpu: Some(-1),
            queue: Some(0),
            start: row.start,
            end: row.duration.map(|duration| row.start.saturating_add(duration)),
            description: self.text(row.name),
            kind: OpKind::UserMarker,
            range: row.id,
            tid: row.tid,
            correlation: row.correlation,
            sequence: match row.kind {
                RangeKind::Thread => Some(0),
                RangeKind::Process => Some(1),
                RangeKind::Marker | RangeKind::Unknown => None,
            },
            pid: self.places.pid(row.process),
            category: self.text(row.category),
            ..Op::default()
        };
        writer.op(&op)?;
        Ok(())
    }

    fn calls(&mut self, writer: &mut Writer) -> Result<()> {
        let mut ids = Vec::new();
        let calls = &self.tables.api_calls;
        let detailed = !(calls.arguments.is_empty() && calls.launches.is_empty());
        for row in calls.iter() {
            let id = writer.call(&Call {
                pid: self.places.pid(row.process),
                tid: row.tid,
                start: row.start,
                end: row.duration.map(|duration| row.start.saturating_add(duration)),
                name: self.text(row.name),
                args: self.text(row.args),
                category: self.text(row.category),
                domain: self.text(row.domain),
                correlation: row.correlation,
                parent: row.parent,
                stream: row.stream,
            })?;
            if detailed {
                ids.push(id);
            }
            if let Some(calls) = &mut self.calls {
                calls.insert(row.id, id);
            }
        }
        for row in &calls.arguments {
            let text = |name| Cell::from(self.text(name).map(|text| text.0));
            let position = i64::from(row.position).into();
            let call = ids[row.call as usize].into();
            writer.row(Optional::Arg, [call, position, text(row.kind), text(row.name), text(row.value)])?;
        }
        for row in &calls.launches {
            self.launch(writer, ids[row.call as usize], row)?;
        }
        Ok(())
    }

    fn launch(&self, writer: &mut Writer, call: i64, row: &ApiLaunch) -> Result<()> {
        if row.kernel != NameId::NONE || row.shape.is_some() {
            let shape = row.shape.map(|shape| self.tables.shapes.get(shape)).unwrap_or_default();
            let groups = |axis: usize| Cell::from(shape.groups.map(|groups| groups[axis] as i64));
            let group = |axis: usize| Cell::from(shape.workgroup.map(|group| i64::from(group[axis])));
            let cells = [
                call.into(),
                self.words(row.stream),
                groups(0),
                groups(1),
                groups(2),
                group(0),
                group(1),
                group(2),
                shape.lds.map(i64::from).into(),
                shape.scratch.map(i64::from).into(),
                self.text(row.kernel).map(|text| text.0).into(),
            ];
            writer.row(Optional::Kernelapi, cells)?;
            return Ok(());
        }
        let address = |address: u64| format!("0x{address:x}");
        let (to, from) = row.addresses.map(|(to, from)| (address(to), address(from))).unzip();
        let (width, height) = row.extent.unzip();
        let (to_device, from_device) = row.devices.unzip();
        let cells = [
            call.into(),
            self.words(row.stream),
            row.bytes.map(|bytes| bytes as i64).into(),
            to.as_deref().into(),
            from.as_deref().into(),
            match row.direction {
                Direction::HostToHost => 0,
                Direction::HostToDevice => 1,
                Direction::DeviceToHost => 2,
                Direction::DeviceToDevice => 3,
                Direction::Unknown => 4,
                Direction::Fill => OpKind::FillBuffer.text().0,
            }
            .into(),
            i64::from(row.sync).into(),
            width.map(|width| width as i64).into(),
            height.map(|height| height as i64).into(),
            to_device.into(),
            from_device.into(),
            i64::from(row.pinned).into(),
        ];
        writer.row(Optional::Copyapi, cells)?;
        Ok(())
    }

    fn rest(&self, writer: &mut Writer) -> Result<()> {
        for &(op, call) in &self.tables.extra_links {
            // Sources with several links number all processes together: their ids need no space.
            let op = self.ops.as_ref().and_then(|ops| ops.get(&(0, op)).copied());
            let call = self.calls.as_ref().and_then(|calls| calls.get(&call).copied());
            writer.row(Optional::ApiOps, [call.into(), op.into()])?;
        }
        for row in &self.tables.counters {
            let key = (space(self.tables, row.process), row.dispatch);
            let op = self.ops.as_ref().and_then(|ops| ops.get(&key).copied());
            let cells = [
                row.value.into(),
                op.into(),
                self.text(row.name).map(|text| text.0).into(),
                self.places.pid(row.process).into(),
                row.agent.and_then(|agent| self.places.gpu(agent)).into(),
            ];
            writer.row(Optional::Counter, cells)?;
        }
        for row in &self.tables.monitors {
            let cells = [
                self.words(row.device_kind),
                row.device.into(),
                self.words(row.name),
                row.start.into(),
                row.end.into(),
                self.words(row.value),
            ];
            writer.row(Optional::Monitor, cells)?;
        }
        for row in &self.tables.stack_frames {
            let call = self.calls.as_ref().and_then(|calls| calls.get(&row.call).copied());
            let name = self.text(row.name).map(|text| text.0);
            writer.row(Optional::Stackframe, [call.into(), row.depth.into(), name.into()])?;
        }
        for row in &self.tables.allocations {
            self.allocation(writer, row)?;
        }
        for extra in &self.tables.extras {
            let rows = extra.rows.iter().map(|row| row.iter().map(cell));
            writer.extra(&extra.create, &extra.name, &extra.columns, rows)?;
        }
        Ok(())
    }

    fn allocation(&self, writer: &mut Writer, row: &Allocation) -> Result<()> {
        let kind = match row.kind {
            AllocationKind::Allocate => "allocate",
            AllocationKind::Free => "free",
            AllocationKind::Reallocate => "reallocate",
            AllocationKind::Reclaim => "reclaim",
        };
        let level = match row.level {
            AllocationLevel::Real => "real",
            AllocationLevel::Virtual => "virtual",
            AllocationLevel::Scratch => "scratch",
        };
        let cells = [
            self.places.pid(row.process).into(),
            row.tid.into(),
            row.agent.and_then(|agent| self.places.gpu(agent)).into(),
            row.queue.into(),
            row.stream.into(),
            kind.into(),
            level.into(),
            row.start.into(),
            row.duration.map(|duration| row.start.saturating_add(duration)).into(),
            row.address.map(|address| address as i64).into(),
            (row.bytes as i64).into(),
            row.flags.into(),
            row.correlation.into(),
        ];
        writer.row(Optional::Allocation, cells)?;
        Ok(())
    }
}

fn space(tables: &Tables, process: ProcessId) -> u32 {
    tables.processes.get(process.index()).map_or(0, |process| process.space)
}

fn kind(direction: Direction) -> OpKind {
    match direction {
        Direction::HostToDevice => OpKind::CopyHostToDevice,
        Direction::DeviceToHost => OpKind::CopyDeviceToHost,
        Direction::DeviceToDevice => OpKind::CopyDeviceToDevice,
        Direction::HostToHost => OpKind::CopyHostToHost,
        Direction::Unknown => OpKind::Copy,
        Direction::Fill => OpKind::FillBuffer,
    }
}

fn cell(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Int(value) => Cell::Int(*value),
        Value::Real(value) => Cell::Real(*value),
        Value::Text(value) => Cell::Text(value.as_str().into()),
        Value::Blob(value) => Cell::Blob(value.as_slice().into()),
    }
}
