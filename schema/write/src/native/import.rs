use rustc_hash::FxHashMap;

use super::layout::Table;
use super::mapping::TraceMapping;
use super::metadata;
use super::numbering::{Places, Renumbered, RenumberedOps};
use super::rows::{Call, NO_SYMBOL, Op, OpKind, StringId};
use super::writer::NativeWriter;
use crate::btree::Datum;
use rtl_schema::table::{Copy, Direction, Dispatch, Range, RangeKind};
use rtl_schema::{AgentId, Id, NameId, ProcessId, Result, SymbolId, Tables, TrackId};

/// A trace on its way into a file, as [`Trace::stream`](rtl_schema::Trace::stream) gives it out: calls before the ops that
/// refer to them, and what refers to ops behind those. Beside the strings, memory grows with breaks in the order of
/// rows only.
#[derive(Debug, Default)]
pub struct TraceImport {
    pub(super) places: Places,
    /// The file's text for each string of the trace.
    texts: Vec<StringId>,
    /// The first symbol of each name, among the first `symbols_seen` symbols.
    symbols: FxHashMap<(ProcessId, NameId), SymbolId>,
    symbols_seen: usize,
    ops: RenumberedOps,
    pub(super) calls: Renumbered,
    /// Links of ops to further calls: an op may come after its links.
    links: Vec<(Id, Id)>,
    /// Identifies its processes and agents among other traces.
    pub(super) mapping: Option<TraceMapping>,
}

impl TraceImport {
    /// A trace that goes into a file of several.
    #[must_use]
    pub fn with_mapping(mapping: TraceMapping) -> Self {
        Self { places: Places::given(&mapping), mapping: Some(mapping), ..Self::default() }
    }

    /// Writes the rows of a piece.
    ///
    /// # Errors
    /// [`rtl_schema::Error::Io`] if the file cannot grow.
    pub fn push(&mut self, writer: &mut NativeWriter, piece: &Tables) -> Result<()> {
        self.places.extend(piece, &mut writer.queues);
        self.texts(writer, piece)?;
        for (at, symbol) in piece.symbols.iter().enumerate().skip(self.symbols_seen) {
            self.symbols.entry((symbol.process, symbol.name)).or_insert(SymbolId(at as u32));
        }
        self.symbols_seen = piece.symbols.len();
        self.calls(writer, piece)?;
        self.operators(writer, piece)?;
        self.all_ops(writer, piece)?;
        self.links.extend_from_slice(&piece.extra_links);
        self.ops.sort();
        self.secondary_tables(writer, piece)
    }

    /// Writes the rows that are known only at the end: the metadata, and links. `last` holds the rows after all pieces.
    /// For one trace among several the caller writes processes and agents by [`NativeWriter::push_process`] and
    /// [`NativeWriter::push_agent`], and the metadata of the trace as a whole.
    ///
    /// # Errors
    /// As [`Self::push`].
    pub fn finish(mut self, writer: &mut NativeWriter, last: &Tables) -> Result<()> {
        self.places.extend(last, &mut writer.queues);
        self.texts(writer, last)?;
        for (op, call) in std::mem::take(&mut self.links) {
            // Sources with several links number all processes together: their ids need no space.
            // Where only a part of the ops is written, links of others lead nowhere.
            if let (Some(call), Some(op)) = (self.calls.get(0, call), self.ops.get(0, op)) {
                writer.row(Table::ApiOps, &[call.into(), op.into()])?;
            }
        }
        match self.mapping {
            Some(mapping) => {
                if !mapping.continues {
                    writer.range_numbers.clear();
                }
                metadata::write_details(writer, last, &self.places)
            }
            None => metadata::write(writer, last, &self.places),
        }
    }

    /// The time on the file's clock.
    #[inline]
    pub(super) fn file_time(&self, moment: i64) -> i64 {
        self.mapping.as_ref().map_or(moment, |mapping| mapping.clock.apply(moment))
    }

    /// The end of what began at `start`, on the file's clock.
    #[inline]
    pub(super) fn end(&self, start: i64, duration: Option<i64>) -> Option<i64> {
        duration.map(|duration| self.file_time(start.saturating_add(duration)))
    }

    /// The number of a range in the file.
    #[inline]
    fn range_number(&self, writer: &mut NativeWriter, process: ProcessId, range: Id) -> i64 {
        match &self.mapping {
            Some(mapping) if range != 0 => {
                writer.range_number(mapping.spaces.get(process.index()).copied().unwrap_or_default(), range)
            }
            _ => range,
        }
    }

    fn texts(&mut self, writer: &mut NativeWriter, piece: &Tables) -> Result<()> {
        for (_, text) in piece.strings.iter().skip(self.texts.len()) {
            self.texts.push(writer.intern(text)?);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn text(&self, name: NameId) -> Option<StringId> {
        match name {
            NameId::NONE => None,
            _ => Some(self.texts.get(name.index()).copied().unwrap_or(StringId::DANGLING)),
        }
    }

    /// The new id of a dispatch.
    pub(super) fn dispatched(&self, tables: &Tables, process: ProcessId, old: Id) -> Option<i64> {
        self.ops.dispatches.get(space(tables, process), old)
    }

    /// Writes ops and ranges in the order of their ids.
    fn all_ops(&mut self, writer: &mut NativeWriter, piece: &Tables) -> Result<()> {
        let (mut dispatch, mut copy, mut barrier, mut range) = (0, 0, 0, 0);
        loop {
            let others = [
                piece.copies.get(copy).map(|copy| copy.id),
                piece.barriers.get(barrier).map(|barrier| barrier.id),
                piece.ranges.get(range).map(|range| range.id),
            ];
            let oldest = others.iter().flatten().min();
            while dispatch < piece.dispatches.len()
                && oldest.is_none_or(|&oldest| piece.dispatches.id.get(dispatch) <= oldest)
            {
                self.dispatch(writer, piece, &piece.dispatches.get(dispatch))?;
                dispatch += 1;
            }
            match others.iter().position(|id| id.is_some() && id.as_ref() == oldest) {
                Some(0) => {
                    self.copy(writer, piece, &piece.copies[copy])?;
                    copy += 1;
                }
                Some(1) => {
                    let op = Op { kind: OpKind::Barrier, ..Op::default() };
                    self.place(writer, piece, op, &(&piece.barriers[barrier]).into())?;
                    barrier += 1;
                }
                Some(_) => {
                    self.range(writer, &piece.ranges[range])?;
                    range += 1;
                }
                None => return Ok(()),
            }
        }
    }

    /// Writes `op` with what ops have in common.
    #[inline]
    fn place(&mut self, writer: &mut NativeWriter, piece: &Tables, op: Op, row: &Dispatch) -> Result<i64> {
        let place = piece.tracks.get(row.track);
        let range = self.range_number(writer, place.process, row.range);
        let new = writer.push_op(&Op {
            gpu: self.places.gpu(place.agent),
            queue: Some(self.places.queue(row.track)),
            description: self.text(row.name),
            pid: self.places.pid(place.process),
            stream: place.stream,
            start: self.file_time(row.start),
            end: self.end(row.start, row.duration),
            range,
            tid: row.tid,
            correlation: row.correlation,
            enqueued: row.enqueued.map(|moment| self.file_time(moment)),
            ..op
        })?;
        let ids = match op.kind {
            OpKind::KernelExecution | OpKind::Task => &mut self.ops.dispatches,
            _ => &mut self.ops.others,
        };
        ids.push(space(piece, place.process), row.id, new);
        Ok(new)
    }

    #[inline]
    fn dispatch(&mut self, writer: &mut NativeWriter, piece: &Tables, row: &Dispatch) -> Result<()> {
        let shape = row.shape.map(|shape| piece.shapes.get(shape)).unwrap_or_default();
        let op = Op {
            kind: if row.graph { OpKind::Task } else { OpKind::KernelExecution },
            items: shape.items,
            workgroup: shape.workgroup,
            lds: shape.lds,
            scratch: shape.scratch,
            symbol: self.symbol(piece, row.track, row.name, row.symbol),
            ..Op::default()
        };
        let id = self.place(writer, piece, op, row)?;
        match row.collective {
            Some(collective) => self.collective(writer, id, piece.collectives.get(collective)),
            None => Ok(()),
        }
    }

    /// The symbol column: empty where the name says it.
    fn symbol(&self, piece: &Tables, track: TrackId, name: NameId, symbol: Option<SymbolId>) -> Option<i64> {
        if symbol.is_none() && self.symbols.is_empty() {
            return None;
        }
        let implied = self.symbols.get(&(piece.tracks.get(track).process, name)).copied();
        match symbol {
            _ if symbol == implied => None,
            Some(symbol) => Some(piece.symbols[symbol.index()].id),
            None => Some(NO_SYMBOL),
        }
    }

    fn copy(&mut self, writer: &mut NativeWriter, piece: &Tables, row: &Copy) -> Result<()> {
        let own = piece.tracks.get(row.track).agent;
        // A reader infers these from gpuId, direction and peer; the rest needs a row of its own.
        let (peer, source, destination) = match row.direction {
            Direction::HostToDevice | Direction::Fill => (None, None, Some(own)),
            Direction::DeviceToHost => (None, Some(own), None),
            Direction::DeviceToDevice if row.source.is_some() => (row.source, row.source, Some(own)),
            _ => (None, None, None),
        };
        let inferred = (source, destination) == (row.source, row.destination);
        let op = Op {
            kind: OpKind::of_copy(row.direction),
            bytes: row.bytes,
            peer: peer.and_then(|agent| self.places.gpu(agent)),
            ..Op::default()
        };
        let id = self.place(writer, piece, op, &row.into())?;
        if !inferred || row.source_address.is_some() || row.destination_address.is_some() {
            let gpu = |agent: Option<AgentId>| agent.and_then(|agent| self.places.gpu(agent));
            let address = |address: Option<u64>| address.map(|address| address as i64);
            let cells = [
                address(row.source_address),
                address(row.destination_address),
                gpu(row.source),
                gpu(row.destination),
            ];
            writer.row_at(Table::Copy, id, &cells.map(Datum::from))?;
        }
        Ok(())
    }

    fn range(&mut self, writer: &mut NativeWriter, row: &Range) -> Result<()> {
        let op = Op {
            gpu: Some(-1),
            queue: Some(0),
            start: self.file_time(row.start),
            end: self.end(row.start, row.duration),
            description: self.text(row.name),
            kind: OpKind::UserMarker,
            range: self.range_number(writer, row.process, row.id),
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
        writer.push_op(&op)?;
        Ok(())
    }

    fn calls(&mut self, writer: &mut NativeWriter, piece: &Tables) -> Result<()> {
        let calls = &piece.api_calls;
        let mut first = None;
        for row in calls.iter() {
            let id = writer.push_call(&Call {
                start: self.file_time(row.start),
                duration: row.duration,
                name: self.text(row.name),
                tid: row.tid,
                correlation: row.correlation,
                domain: self.text(row.domain),
                parent: row.parent,
                stream: row.stream,
                pid: self.places.pid(row.process),
                category: self.text(row.category),
                args: self.text(row.args),
                result: row.result,
            })?;
            // Calls are referred to without their space: see `Self::finish`.
            self.calls.push(0, row.id, id);
            first.get_or_insert(id);
        }
        self.calls.sort();
        let first = first.unwrap_or_default();
        self.call_details(writer, piece, |row| first + i64::from(row))
    }
}

fn space(tables: &Tables, process: ProcessId) -> u32 {
    tables.processes.get(process.index()).map_or(0, |process| process.space)
}

impl NativeWriter {
    /// Writes all of `tables`. Ops get new ids, in the order of their old ones where those were read; calls
    /// and ranges too. Everything else reads back as it was.
    ///
    /// # Errors
    /// [`Error::Io`](rtl_schema::Error::Io) if the file cannot grow.
    pub fn push_tables(&mut self, tables: &Tables) -> Result<()> {
        let mut import = TraceImport::default();
        import.push(self, tables)?;
        import.finish(self, tables)
    }
}
