//! Reads rows of `rocpd_op` into dispatches, copies, barriers and ranges. A part holds the rows of one stretch of the table; parts are
//! independent of each other, so that threads read them at once.

use super::calls::Calls;
use super::kinds::Kinds;
use super::launches::Launches;
use super::links::{LinkWalk, Links};
use super::op_columns::{OpColumn, OpFields, OpRow, ScannedRow};
use super::recent_shapes::{RecentShapes, ShapeKey};
use super::recent_tracks::{Place, RecentTracks};
use super::signal::RecentSignals;
use super::{IdMap, LaunchRows, NO_GPU, Names, OpKind, OpenDispatch, Processes, Symbols, Variant};
use crate::layout::rpd::Function;
use crate::sqlite::{ByHeader, Row, StoredColumns, StoredKey};
use crate::table::{
    Barrier, Barriers, Copies, Copy, Details, Direction, Dispatch, Dispatches, Interned, Range, RangeKind,
    Ranges, Shape, Track, Tracks,
};
use crate::table_builder::Builder;
use crate::{
    AgentId, CollectiveId, Id, NameId, ProblemKind, Problems, ProcessId, Select, Sentinel, ShapeId, Strings,
    SymbolId, TrackId,
};

/// The tables that a scan of the ops looks up.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) variant: &'a Variant,
    pub(crate) select: &'a Select,
    pub(crate) fields: &'a OpFields,
    pub(crate) names: &'a Names,
    pub(crate) strings: &'a Strings,
    pub(crate) links: &'a Links,
    pub(crate) calls: &'a Calls,
    pub(crate) launches: &'a Launches,
    pub(crate) processes: &'a Processes,
    pub(crate) symbols: &'a Symbols,
    pub(crate) collectives: &'a IdMap<CollectiveId>,
    /// The process of rows that name none, if it is known before the scan.
    pub(crate) process: ProcessId,
    /// Set where fast rows have nothing that [`super::fast_ops`] does not keep.
    pub(crate) plain: bool,
}

impl Context<'_> {
    /// True where [`super::fast_ops`] keeps the selected columns.
    pub(crate) fn is_plain(select: &Select, variant: &Variant, fields: &OpFields, links: &Links) -> bool {
        let signal = fields.signal.position().is_some() && !select.shapes;
        !(signal || variant.ops_named_by_type || !links.is_empty())
    }
}

/// The ops of one stretch of the table. Tracks name agents and unlisted processes by their position in
/// [`OpPart::gpus`] and [`OpPart::pids`] until the part joins the tables. It may then take the rows of a later stretch: these know what
/// the part has met.
#[derive(Debug, Default)]
pub(crate) struct OpPart {
    pub(crate) dispatches: Builder<Dispatches>,
    pub(crate) copies: Copies,
    pub(crate) barriers: Barriers,
    pub(crate) ranges: Ranges,
    pub(crate) tracks: Tracks,
    pub(crate) shapes: Interned<Shape, ShapeId>,
    pub(crate) gpus: Interned<i64, AgentId>,
    pub(crate) pids: Interned<i64, u32>,
    pub(crate) extra_links: Vec<(Id, Id)>,
    /// The call whose bytes a copy was given, with the copy's position.
    pub(crate) bytes_of_calls: Vec<(Id, usize)>,
    pub(crate) problems: Problems,
    pub(crate) walk: LinkWalk,
    pub(crate) range_ids: bool,
    pub(super) joined: JoinedIds,
    kinds: Kinds,
    /// The op type of kernels, once one was met.
    pub(super) kernel_type: Option<Option<Id>>,
    /// The last process that a row named, with its number.
    recent_process: Option<(i64, ProcessId)>,
    /// The tracks of rows without a stream.
    recent_tracks: RecentTracks,
    recent_shapes: RecentShapes<StoredKey>,
    recent_signals: RecentSignals,
    stored_shapes: ByHeader<Option<StoredColumns>>,
}

impl ShapeKey for StoredKey {
    const FREE: Self = Self::NONE;

    #[inline]
    fn hash(&self) -> u64 {
        self.hash()
    }
}

/// The ids that the local ids of a part have become, by position: shapes have the ids of the tables, others those of [`super::join::Seen`].
#[derive(Debug, Default)]
pub(super) struct JoinedIds {
    pub(super) pids: Vec<ProcessId>,
    pub(super) gpus: Vec<AgentId>,
    pub(super) tracks: Vec<TrackId>,
    pub(super) shapes: Vec<ShapeId>,
}

/// The process of rows that name none, until that is known.
pub(super) const UNNAMED: ProcessId = ProcessId(u32::MAX);

/// A process that is not listed, by its position in [`OpPart::pids`]: these count down.
pub(super) fn unlisted(position: u32) -> ProcessId {
    ProcessId(UNNAMED.0 - 1 - position)
}

/// The position of a process that is not listed.
pub(super) fn unlisted_position(process: ProcessId) -> Option<usize> {
    let position = (UNNAMED.0 - 1).checked_sub(process.0)?;
    (position < UNNAMED.0 / 2).then_some(position as usize)
}

/// The cause of an op by links and columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cause {
    call: Option<Id>,
    correlation: Id,
    process: ProcessId,
    tid: Option<i64>,
    details: Details,
}

impl Cause {
    /// The cause by the columns of a row.
    #[inline(always)]
    pub(super) fn of_row(row: &impl OpRow, process: ProcessId) -> Self {
        Self {
            call: None,
            correlation: row.int(OpColumn::Correlation).unwrap_or(0),
            process,
            tid: row.int(OpColumn::Tid),
            details: row.details(),
        }
    }
}

/// The properties of a dispatch that the two paths find in different ways: one by caches alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundDispatch {
    pub(super) name: NameId,
    pub(super) track: TrackId,
    pub(super) start: i64,
    pub(super) duration: Option<i64>,
    pub(super) shape: Option<ShapeId>,
    pub(super) graph: bool,
    pub(super) cause: Cause,
}

impl OpPart {
    /// Dispatches that were in flight at the end of the recording.
    pub(crate) fn of_open(open: Vec<OpenDispatch>) -> Self {
        let mut part = Self::default();
        for OpenDispatch { gpu, queue, process, shape, row } in open {
            let agent = part.gpus.intern(gpu);
            let track = part.tracks.intern(Track { process, agent, queue, ..Track::default() });
            let shape = shape.map(|shape| part.shapes.intern(shape));
            part.dispatches.push(Dispatch { track, shape, ..row });
        }
        part
    }

    /// Adds one row of `rocpd_op`.
    pub(crate) fn push(&mut self, row: &Row<'_>, context: &Context<'_>) {
        let scanned = ScannedRow { row, fields: context.fields };
        let id = row.id();
        let cause = self.cause(&scanned, context);
        let Some(start) = scanned.int(OpColumn::Start) else {
            self.problems.add(ProblemKind::MissingStart, "rocpd_op.start", id);
            return;
        };
        let duration = scanned.int(OpColumn::End).and_then(|end| end.checked_sub(start));
        let gpu = scanned.int(OpColumn::Gpu).unwrap_or(NO_GPU);
        let op_type = scanned.int(OpColumn::Type);
        let (kind, type_name) = self.kinds.get(op_type, context.names, context.strings);
        let mut name = context.names.get(scanned.int(OpColumn::Name));
        if type_name == NameId::DANGLING {
            self.problems.add(ProblemKind::DanglingName, "rocpd_op.opType_id", id);
        }
        if name == NameId::DANGLING {
            self.problems.add(ProblemKind::DanglingName, "rocpd_op.description_id", id);
        }
        name = context.variant.name(name, type_name, matches!(kind, OpKind::Copy(_)), context.strings);
        let range = scanned.int(OpColumn::Range).unwrap_or(0);
        self.range_ids |= range != 0;
        match kind {
            OpKind::Copy(direction) => {
                let copy = Copy { id, name, start, duration, direction, range, ..Copy::default() };
                self.copy(copy, row, context, cause, gpu);
            }
            OpKind::Barrier => {
                let track = self.track(&scanned, cause.process, gpu, None);
                self.barriers.push(Barrier {
                    id,
                    name,
                    track,
                    start,
                    duration,
                    correlation: cause.correlation,
                    details: cause.details,
                });
            }
            _ if !kind.is_dispatch(gpu) => {
                let annotation = Range {
                    id: if range == 0 { id } else { range },
                    process: cause.process,
                    tid: cause.tid,
                    name,
                    category: NameId::NONE,
                    kind: RangeKind::Unknown,
                    start,
                    duration,
                    correlation: cause.correlation,
                };
                self.annotation(annotation, row, context);
            }
            _ => {
                if kind == OpKind::Kernel {
                    self.kernel_type = Some(op_type);
                }
                let (shape, hardware_queue) = match context.select.any_shape() {
                    true => self.shape(row, context, cause, name),
                    false => (None, None),
                };
                let track = self.track(&scanned, cause.process, gpu, hardware_queue);
                let graph = kind == OpKind::GraphKernel;
                let dispatch = FoundDispatch { name, track, start, duration, shape, graph, cause };
                self.push_dispatch(&scanned, context, dispatch);
            }
        }
    }

    /// Adds a dispatch of either path: this alone states what is read of one.
    #[inline(always)]
    pub(super) fn push_dispatch<R: OpRow>(&mut self, row: &R, context: &Context<'_>, found: FoundDispatch) {
        let FoundDispatch { name, track, start, duration, shape, graph, cause } = found;
        let range = row.int(OpColumn::Range).unwrap_or(0);
        self.range_ids |= range != 0;
        let (mut id, mut symbol, mut collective) = (0, None, None);
        if R::HAS_DETAILS {
            id = if context.select.ids { row.id() } else { 0 };
            symbol = self.symbol(row, context, cause.process, name);
            if !context.collectives.is_empty() {
                collective = context.collectives.get(row.id());
            }
        }
        self.dispatches.push(Dispatch {
            id,
            name,
            track,
            start,
            duration,
            tid: cause.tid,
            correlation: cause.correlation,
            range,
            shape,
            symbol,
            graph,
            details: cause.details,
            collective,
        });
    }

    #[inline]
    fn cause(&mut self, row: &ScannedRow<'_, '_>, context: &Context<'_>) -> Cause {
        let id = row.id();
        let process = self.process_of(row, context);
        let mut cause = Cause::of_row(row, process);
        if context.links.is_empty() {
            return cause;
        }
        for link in self.walk.links_of(context.links, id) {
            match context.calls.get(link.call) {
                None => self.problems.add(ProblemKind::DanglingLink, "rocpd_api_ops.api_id", link.call),
                // Our own files tie the first call by its correlation id.
                Some(_) if cause.call.is_some() || context.variant.typed_ops => {
                    self.extra_links.push((id, link.call));
                }
                Some(caller) => {
                    cause.call = Some(link.call);
                    if context.variant.cause_by_link {
                        cause.process = caller.process;
                    }
                    if context.select.links {
                        cause.tid = cause.tid.or(caller.tid);
                        if caller.function != Function::Unrecorded {
                            cause.correlation = link.call;
                        }
                    }
                }
            }
        }
        cause
    }

    /// The process that a row names.
    #[inline]
    fn process_of(&mut self, row: &impl OpRow, context: &Context<'_>) -> ProcessId {
        let Some(pid) = row.int(OpColumn::Process) else { return context.process };
        self.recent_process_of(pid).unwrap_or_else(|| {
            let listed = context.processes.find(pid);
            let process = listed.unwrap_or_else(|| unlisted(self.pids.intern(pid)));
            self.recent_process = Some((pid, process));
            process
        })
    }

    /// The process of a pid, if the last one is it.
    #[inline]
    pub(super) fn recent_process_of(&self, pid: i64) -> Option<ProcessId> {
        self.recent_process.filter(|&(known, _)| known == pid).map(|(_, process)| process)
    }

    #[inline]
    fn track(
        &mut self,
        row: &ScannedRow<'_, '_>,
        process: ProcessId,
        gpu: i64,
        hardware_queue: Option<u64>,
    ) -> TrackId {
        let queue = row.int(OpColumn::Queue).unwrap_or(0);
        let stream = row.fields.stream.int(row.row);
        let place = Place::new(gpu, queue, process, hardware_queue);
        if let (None, Some(id)) = (stream, self.recent_track(place)) {
            return id;
        }
        let agent = self.gpus.intern(gpu);
        let id = self.tracks.intern(Track { process, agent, queue, stream, hardware_queue });
        if stream.is_none() {
            self.recent_tracks.add(place, id);
        }
        id
    }

    /// The track of a row without a stream, if it is cached.
    #[inline(always)]
    pub(super) fn recent_track(&self, place: Place) -> Option<TrackId> {
        self.recent_tracks.find(place)
    }

    fn shape(
        &mut self,
        row: &Row<'_>,
        context: &Context<'_>,
        cause: Cause,
        name: NameId,
    ) -> (Option<ShapeId>, Option<u64>) {
        if let Some(launch) = cause.call.and_then(|call| context.launches.kernels.get(call)) {
            // One row describes one of the kernels of a graph launch where the source logs those too.
            let is_one_of_many =
                matches!(context.variant.launches, LaunchRows::Executed | LaunchRows::Converted);
            let is_named = launch.kernel.is_some() && !context.strings.get(launch.kernel).is_empty();
            let same = !is_one_of_many || !is_named || launch.kernel == name;
            return (launch.shape.filter(|_| same), None);
        }
        let Some(at) = context.fields.signal.position() else {
            return (self.stored_shape(row, context), None);
        };
        let shapes = &mut self.shapes;
        let Some(text) = row.bytes(at) else { return (None, None) };
        self.recent_signals.get(text, |shape| shapes.intern(shape))
    }

    /// The shape of a row by its launch columns, of which the header says where they are.
    fn stored_shape(&mut self, row: &Row<'_>, context: &Context<'_>) -> Option<ShapeId> {
        let launch = &context.fields.launch;
        let stored = |row: &Row<'_>| launch.stored(row);
        let columns = self.stored_shapes.get(row, stored).copied().unwrap_or_else(|| stored(row));
        let key = columns.and_then(|columns| columns.key(row));
        if let Some(shape) = key.and_then(|key| self.cached_shape(key)) {
            return shape.known();
        }
        let shape = launch.shape(row).map(|shape| self.shapes.intern(shape));
        if let Some(key) = key {
            self.recent_shapes.add(key, shape.unwrap_or(ShapeId::SENTINEL));
        }
        shape
    }

    /// The shape of launch columns, as columns store it, if it is cached.
    #[inline(always)]
    pub(super) fn cached_shape(&self, key: StoredKey) -> Option<ShapeId> {
        self.recent_shapes.find(&key)
    }

    /// [`Self::cached_shape`] and the hardware queue of rocm-trace-lite's `completionSignal`.
    #[inline(always)]
    pub(super) fn cached_signal(&mut self, text: &[u8]) -> Option<(ShapeId, Option<u64>)> {
        self.recent_signals.find(text)
    }

    #[inline(always)]
    fn symbol(
        &mut self,
        row: &impl OpRow,
        context: &Context<'_>,
        process: ProcessId,
        name: NameId,
    ) -> Option<SymbolId> {
        let symbols = context.symbols;
        if symbols.by_id.is_empty() {
            return None;
        }
        match row.int(OpColumn::Symbol) {
            None => symbols.by_name.get(&(process, name)).copied(),
            Some(symbol) if symbol < 0 => None,
            Some(symbol) => {
                let symbol = symbols.by_id.get(&(process, symbol)).copied();
                if symbol.is_none() {
                    self.problems.add(ProblemKind::DanglingReference, "rocpd_op.symbol", row.id());
                }
                symbol
            }
        }
    }

    fn copy(&mut self, mut copy: Copy, row: &Row<'_>, context: &Context<'_>, cause: Cause, gpu: i64) {
        let launch = cause.call.and_then(|call| context.launches.copies.get(call)).unwrap_or_default();
        if copy.direction == Direction::Unknown {
            copy.direction = launch.direction;
        }
        copy.bytes = context.fields.bytes.unsigned(row);
        if let (None, Some(bytes), Some(call)) = (copy.bytes, launch.bytes, cause.call) {
            copy.bytes = Some(bytes);
            self.bytes_of_calls.push((call, self.copies.len()));
        }
        copy.destination_address = launch.addresses.map(|(destination, _)| destination);
        copy.source_address = launch.addresses.map(|(_, source)| source);
        // RPD on rocprofiler-sdk calls every copy's GPU 0.
        let own = Some(gpu).filter(|&gpu| gpu != NO_GPU && context.variant.launches != LaunchRows::Executed);
        let peer = context.fields.peer.int(row);
        let (source, destination) = match (copy.direction, launch.devices) {
            (Direction::DeviceToDevice, Some((destination, source)))
                if own == Some(destination) || own == Some(source) =>
            {
                (Some(source), Some(destination))
            }
            (Direction::HostToDevice | Direction::Fill, _) => (None, own),
            (Direction::DeviceToHost, _) => (own, None),
            (Direction::DeviceToDevice, _) => (peer, own.filter(|_| peer.is_some())),
            (Direction::HostToHost | Direction::Unknown, _) => (None, None),
        };
        copy.source = source.map(|gpu| self.gpus.intern(gpu));
        copy.destination = destination.map(|gpu| self.gpus.intern(gpu));
        copy.track = self.track(&ScannedRow { row, fields: context.fields }, cause.process, gpu, None);
        copy.tid = cause.tid;
        copy.correlation = cause.correlation;
        copy.details = cause.details;
        self.copies.push(copy);
    }

    fn annotation(&mut self, mut range: Range, row: &Row<'_>, context: &Context<'_>) {
        if !context.select.ranges {
            return;
        }
        range.kind = match (context.fields.sequence.int(row), range.duration) {
            (Some(1), _) => RangeKind::Process,
            (Some(_), _) => RangeKind::Thread,
            (None, Some(0)) => RangeKind::Marker,
            (None, _) => RangeKind::Unknown,
        };
        let category = context.fields.category.int(row);
        range.category =
            context.names.checked(category, &mut self.problems, "rocpd_op.category_id", row.id());
        self.ranges.push(range);
    }
}
