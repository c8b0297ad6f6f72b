use super::calls::Calls;
use super::kinds::{Kinds, NO_AGENT};
use super::launch_columns::LaunchFields;
use super::launches::Launches;
use super::links::{LinkWalk, Links};
use super::recent_shapes::RecentShapes;
use super::signal::RecentSignals;
use super::{
    Field, IdMap, LaunchRows, NO_GPU, Names, OpKind, OpenDispatch, Plan, Processes, Symbols, Variant,
};
use crate::layout::rpd::Function;
use crate::sqlite::{ByHeader, Database, Row, StoredColumns, StoredKey};
use crate::table::{
    Barrier, Barriers, Copies, Copy, Direction, Dispatch, Dispatches, Interned, Overlay, Range, RangeKind,
    Ranges, Shape, Snapshot, Track, Tracks,
};
use crate::{
    AgentId, CollectiveId, Id, NameId, ProblemKind, Problems, ProcessId, Result, Select, ShapeId, Strings,
    SymbolId, TrackId,
};

/// The columns of `rocpd_op` in a scan.
#[derive(Debug)]
pub(crate) struct OpFields {
    pub(crate) plan: Plan,
    gpu: Field,
    queue: Field,
    start: Field,
    end: Field,
    description: Field,
    op_type: Field,
    pid: Field,
    stream: Field,
    bytes: Field,
    peer: Field,
    range: Field,
    sequence: Field,
    category: Field,
    tid: Field,
    correlation: Field,
    enqueued: Field,
    signal: Field,
    launch: LaunchFields,
}

impl OpFields {
    /// The columns of a select, `links` to calls among them.
    pub(crate) fn of(database: &Database, variant: &Variant, select: &Select, links: bool) -> Result<Self> {
        let mut plan = Plan::of(database, "rocpd_op")?;
        Ok(Self {
            gpu: plan.add("gpuId"),
            queue: plan.add("queueId"),
            start: plan.add("start"),
            end: plan.add("end"),
            description: plan.add("description_id"),
            op_type: plan.add("opType_id"),
            pid: plan.add("pid"),
            stream: plan.add("streamId"),
            bytes: plan.add("bytes"),
            peer: plan.add("peer"),
            range: plan.add_if(select.ranges, "roctxId"),
            sequence: plan.add_if(select.ranges && variant.typed_ops, "sequenceId"),
            category: plan.add_if(select.ranges && variant.typed_ops, "category_id"),
            tid: plan.add_if(links, "tid"),
            correlation: plan.add_if(links, "correlationId"),
            enqueued: plan.add_if(select.links && variant.typed_ops, "enqueued"),
            signal: plan.add_if(select.any_shape() && variant.signal_is_shape, "completionSignal"),
            launch: LaunchFields::of(&mut plan, select, variant.typed_ops),
            plan,
        })
    }

    /// Whether the scan has thread and launch of an op.
    #[inline]
    fn has_launch(&self) -> bool {
        self.tid.position().is_some() || self.correlation.position().is_some()
    }

    /// GPU, queue, start, end, name and type, if the row has all of them.
    #[inline]
    fn usual(&self, row: &Row<'_>) -> Option<[i64; 6]> {
        // Where the table has all columns, these are the first of the scan.
        match self.op_type.position() {
            Some(5) => row.ints(0),
            _ => None,
        }
    }
}

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
    /// Whether a usual row has nothing that [`OpPart::push_fast`] does not keep.
    pub(crate) plain: bool,
}

impl Context<'_> {
    /// Whether [`OpPart::push_fast`] keeps the selected columns.
    pub(crate) fn is_plain(select: &Select, variant: &Variant, fields: &OpFields, links: &Links) -> bool {
        let signal = fields.signal.position().is_some() && !select.shapes;
        !(signal || variant.ops_named_by_type || !links.is_empty())
    }
}

/// The ops of one stretch of the table. Tracks name agents and unlisted processes by their position in
/// [`OpPart::gpus`] and [`OpPart::pids`] until the parts are joined.
#[derive(Debug, Default)]
pub(crate) struct OpPart {
    pub(crate) dispatches: Dispatches,
    pub(crate) copies: Copies,
    pub(crate) barriers: Barriers,
    pub(crate) ranges: Ranges,
    pub(crate) tracks: Tracks,
    pub(crate) shapes: Overlay<Shape, ShapeId>,
    pub(crate) gpus: Interned<i64, AgentId>,
    pub(crate) pids: Interned<i64, u32>,
    pub(crate) extra_links: Vec<(Id, Id)>,
    /// The call whose bytes a copy was given, with the copy's position.
    pub(crate) bytes_of_calls: Vec<(Id, usize)>,
    pub(crate) problems: Problems,
    pub(crate) walk: LinkWalk,
    pub(crate) range_ids: bool,
    kinds: Kinds,
    /// The op type of kernels, once one was met.
    kernel_type: Option<Option<Id>>,
    /// The last process that a row named, with its number.
    recent_process: Option<(i64, ProcessId)>,
    /// Cached tracks of rows without a stream.
    recent_tracks: Vec<Option<(Place, TrackId)>>,
    recent_shapes: RecentShapes<StoredKey>,
    recent_signals: RecentSignals,
    headers: ByHeader<HeaderFacts>,
}

/// What follows from the types of a row's values.
#[derive(Debug, Clone, Copy, Default)]
struct HeaderFacts {
    /// Whether it has what only [`OpPart::push_slow`] keeps.
    is_unusual: bool,
    has_process: bool,
    /// Where its shape is.
    shape: Option<StoredColumns>,
}

impl HeaderFacts {
    fn of(row: &Row<'_>, context: &Context<'_>) -> Self {
        let fields = &context.fields;
        let is_enqueued = !fields.has_launch() && !fields.enqueued.is_null(row);
        let is_unusual = is_enqueued || !fields.stream.is_null(row);
        let has_process = !fields.pid.is_null(row);
        let shape = fields.launch.stored(row).filter(|_| context.select.any_shape());
        Self { is_unusual, has_process, shape }
    }
}

/// What tells the tracks of rows without a stream apart: GPU, queue, process and hardware queue.
type Place = (i64, i64, ProcessId, Option<u64>);

/// The number of cached tracks.
const RECENT: usize = 128;

/// The cache slot of a track. Some tools number queues by their addresses, which differ in higher bits.
#[inline]
fn recent((gpu, queue, process, _): Place) -> usize {
    let queue = queue.wrapping_add(queue >> 12).wrapping_add(queue >> 21);
    let place = gpu.wrapping_mul(16).wrapping_add(queue);
    place.wrapping_add(5 * i64::from(process.0)) as usize % RECENT
}

/// A process that is not listed: the first is [`Context::process`]'s place for rows that name none, the
/// next ones count down through [`OpPart::pids`].
pub(crate) const UNNAMED: ProcessId = ProcessId(u32::MAX);

/// The cause of an op by links and columns.
#[derive(Debug, Clone, Copy)]
struct Cause {
    call: Option<Id>,
    correlation: Id,
    process: ProcessId,
    tid: Option<i64>,
    enqueued: Option<i64>,
}

impl OpPart {
    /// A part behind others that have brought these shapes.
    pub(crate) fn behind(known: &Snapshot<Shape, ShapeId>) -> Self {
        Self { shapes: known.overlay(), ..Self::default() }
    }

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
    #[inline]
    pub(crate) fn push(&mut self, row: &Row<'_>, context: &Context<'_>) {
        if !(context.plain && self.push_fast(row, context).is_some()) {
            self.push_slow(row, context);
        }
    }

    /// Adds the row if it is a kernel with a name and an end, on a recent track, as most rows are: the result of
    /// [`Self::push_slow`] for a third of its cost.
    #[inline(always)]
    fn push_fast(&mut self, row: &Row<'_>, context: &Context<'_>) -> Option<()> {
        let fields = &context.fields;
        let [gpu, queue, start, end, name, op_type] = fields.usual(row)?;
        let duration = end.checked_sub(start)?;
        let name = context.names.get(Some(name));
        let is_kernel = self.kernel_type == Some(Some(op_type)) && name.is_some();
        let HeaderFacts { is_unusual, has_process, shape } = self.header_facts(row, context);
        if !is_kernel || is_unusual || gpu == NO_AGENT {
            return None;
        }
        let process = if has_process { self.process_of(row, context) } else { context.process };
        let with_shapes = context.select.any_shape();
        let (shape, hardware_queue) = match fields.signal.position() {
            Some(at) => self.of_signal(row, at),
            None if with_shapes => (self.recent_shape(row, shape, context), None),
            None => (None, None),
        };
        let track = self.recent_track((gpu, queue, process, hardware_queue))?;
        let range = fields.range.int(row).unwrap_or(0);
        self.range_ids |= range != 0;
        let duration = Some(duration);
        let timing = Dispatch { name, track, start, duration, range, shape, ..Dispatch::default() };
        self.dispatches.push_timing(timing, with_shapes);
        if context.select.ids {
            self.dispatches.id.push(row.id());
        }
        if !context.symbols.by_id.is_empty() {
            let symbol = self.symbol(row, context, process, name);
            self.dispatches.symbol.push(symbol);
        }
        if fields.has_launch() {
            let (tid, enqueued) = (fields.tid.int(row), fields.enqueued.int(row));
            self.dispatches.push_launch(tid, fields.correlation.int(row).unwrap_or(0), enqueued);
        }
        Some(())
    }

    fn push_slow(&mut self, row: &Row<'_>, context: &Context<'_>) {
        let fields = &context.fields;
        let id = row.id();
        let cause = self.cause(id, row, context);
        let Some(start) = fields.start.int(row) else {
            self.problems.add(ProblemKind::MissingStart, "rocpd_op.start", id);
            return;
        };
        let duration = fields.end.int(row).and_then(|end| end.checked_sub(start));
        let gpu = fields.gpu.int(row).unwrap_or(NO_GPU);
        let op_type = fields.op_type.int(row);
        let (kind, type_name) = self.kinds.get(op_type, context.names, context.strings);
        let mut name = context.names.get(fields.description.int(row));
        if type_name == NameId::DANGLING {
            self.problems.add(ProblemKind::DanglingName, "rocpd_op.opType_id", id);
        }
        if name == NameId::DANGLING {
            self.problems.add(ProblemKind::DanglingName, "rocpd_op.description_id", id);
        }
        name = context.variant.name(name, type_name, context.strings);
        let range = fields.range.int(row).unwrap_or(0);
        self.range_ids |= range != 0;
        match kind {
            OpKind::Copy(direction) => {
                let copy = Copy { id, name, start, duration, direction, range, ..Copy::default() };
                self.copy(copy, row, context, cause, gpu);
            }
            OpKind::Barrier => {
                let track = self.track(row, context, cause.process, gpu, None);
                self.barriers.push(Barrier {
                    id,
                    name,
                    track,
                    start,
                    duration,
                    correlation: cause.correlation,
                    enqueued: cause.enqueued,
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
                let track = self.track(row, context, cause.process, gpu, hardware_queue);
                let symbol = self.symbol(row, context, cause.process, name);
                self.dispatches.push(Dispatch {
                    id: if context.select.ids { id } else { 0 },
                    name,
                    track,
                    start,
                    duration,
                    tid: cause.tid,
                    correlation: cause.correlation,
                    range,
                    shape,
                    symbol,
                    graph: kind == OpKind::GraphKernel,
                    enqueued: cause.enqueued,
                    collective: context.collectives.get(id),
                });
            }
        }
    }

    #[inline]
    fn cause(&mut self, id: Id, row: &Row<'_>, context: &Context<'_>) -> Cause {
        let fields = &context.fields;
        let process = self.process_of(row, context);
        let correlation = fields.correlation.int(row).unwrap_or(0);
        let (tid, enqueued) = (fields.tid.int(row), fields.enqueued.int(row));
        let mut cause = Cause { call: None, correlation, process, tid, enqueued };
        if context.links.is_empty() {
            return cause;
        }
        for link in self.walk.of(context.links, id) {
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
    fn process_of(&mut self, row: &Row<'_>, context: &Context<'_>) -> ProcessId {
        let Some(pid) = context.fields.pid.int(row) else { return context.process };
        match self.recent_process {
            Some((known, process)) if known == pid => process,
            _ => {
                let listed = context.processes.find(pid);
                let process = listed.unwrap_or_else(|| ProcessId(UNNAMED.0 - 1 - self.pids.intern(pid)));
                self.recent_process = Some((pid, process));
                process
            }
        }
    }

    #[inline]
    fn track(
        &mut self,
        row: &Row<'_>,
        context: &Context<'_>,
        process: ProcessId,
        gpu: i64,
        hardware_queue: Option<u64>,
    ) -> TrackId {
        let queue = context.fields.queue.int(row).unwrap_or(0);
        let stream = context.fields.stream.int(row);
        let place = (gpu, queue, process, hardware_queue);
        if let (None, Some(id)) = (stream, self.recent_track(place)) {
            return id;
        }
        let agent = self.gpus.intern(gpu);
        let id = self.tracks.intern(Track { process, agent, queue, stream, hardware_queue });
        if stream.is_none() {
            self.recent_tracks.resize(RECENT, None);
            self.recent_tracks[recent(place)] = Some((place, id));
        }
        id
    }

    /// The track of a row without a stream, if it is cached.
    #[inline]
    fn recent_track(&self, place: Place) -> Option<TrackId> {
        let (known, id) = (*self.recent_tracks.get(recent(place))?)?;
        (known == place).then_some(id)
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
            let stored = self.header_facts(row, context).shape;
            return (self.recent_shape(row, stored, context), None);
        };
        self.of_signal(row, at)
    }

    /// Shape and hardware queue of a row whose column `at` is rocm-trace-lite's `completionSignal`.
    #[inline]
    fn of_signal(&mut self, row: &Row<'_>, at: usize) -> (Option<ShapeId>, Option<u64>) {
        let shapes = &mut self.shapes;
        let Some(text) = row.bytes(at) else { return (None, None) };
        self.recent_signals.get(text, |shape| shapes.intern(shape))
    }

    #[inline]
    fn header_facts(&mut self, row: &Row<'_>, context: &Context<'_>) -> HeaderFacts {
        let facts = |row: &Row<'_>| HeaderFacts::of(row, context);
        self.headers.get(row, facts).copied().unwrap_or_else(|| facts(row))
    }

    /// The shape of a row by its launch columns, of which the header says where they are.
    #[inline]
    fn recent_shape(
        &mut self,
        row: &Row<'_>,
        stored: Option<StoredColumns>,
        context: &Context<'_>,
    ) -> Option<ShapeId> {
        let key = stored.and_then(|stored| stored.key(row)).map(|key| (key.hash(), key));
        if let Some((hash, key)) = &key
            && let Some(shape) = self.recent_shapes.find(*hash, |known| known == key)
        {
            return shape;
        }
        let shape = context.fields.launch.shape(row).map(|shape| self.shapes.intern(shape));
        if let Some((hash, key)) = key {
            self.recent_shapes.add(hash, key, shape);
        }
        shape
    }

    #[inline]
    fn symbol(
        &mut self,
        row: &Row<'_>,
        context: &Context<'_>,
        process: ProcessId,
        name: NameId,
    ) -> Option<SymbolId> {
        let symbols = context.symbols;
        if symbols.by_id.is_empty() {
            return None;
        }
        match context.fields.launch.symbol.int(row) {
            None => symbols.by_name.get(&(process, name)).copied(),
            Some(id) if id < 0 => None,
            Some(id) => {
                let symbol = symbols.by_id.get(&(process, id)).copied();
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
        copy.track = self.track(row, context, cause.process, gpu, None);
        copy.tid = cause.tid;
        copy.correlation = cause.correlation;
        copy.enqueued = cause.enqueued;
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
