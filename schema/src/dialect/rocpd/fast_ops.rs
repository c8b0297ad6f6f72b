//! The fast path of `rocpd_op`: kernels with a name and an end, on a track and of a launch shape that were met before. Most rows take
//! it; [`OpPart::push`] reads the others.

use super::ops::{Context, OpPart};
use super::recent_tracks::Place;
use crate::column::ESCAPE;
use crate::sqlite::{
    AddRows, FastColumns, FastRow, IntegerColumn, Leaves, RUN, Readers, Row, StoredColumns, StoredText,
};
use crate::{Id, NameId, ProcessId, Sentinel, ShapeId, TrackId};

/// GPU, queue, start, end, name, type, range and process of an op.
pub(super) const BASIC: usize = 8;
const PROCESS: usize = BASIC - 1;
/// And thread, correlation id, time of enqueuing and symbol.
pub(super) const DETAILED: usize = BASIC + 4;

/// The ops of one stretch of the table, of which fast rows take a third of the time of others.
pub(super) struct FastOps<'a> {
    part: &'a mut OpPart,
    context: &'a Context<'a>,
    run: Box<Run>,
}

/// Twice what comes at once.
const LENGTH: usize = 2 * RUN;

/// Rows that are added at once.
struct Run {
    count: usize,
    names: [NameId; LENGTH],
    tracks: [TrackId; LENGTH],
    starts: [i64; LENGTH],
    durations: [u32; LENGTH],
    ranges: [Id; LENGTH],
    /// As they are stored.
    shapes: [ShapeId; LENGTH],
}

/// What follows from the types of a row's values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    present: Present,
    shape: StoredShape,
}

const _: () = assert!(Readers::<BASIC, Facts>::HEADER == 64, "most rows need one cache line of their header");

/// The columns that are not NULL, one bit each, so that all of them take one byte.
#[derive(Debug, Clone, Copy, Default)]
struct Present(u8);

impl Present {
    const PROCESS: u8 = 1;
    const TID: u8 = 1 << 1;
    const ENQUEUED: u8 = 1 << 2;
    const SYMBOL: u8 = 1 << 3;

    #[inline(always)]
    fn has(self, column: u8) -> bool {
        self.0 & column != 0
    }
}

/// Where the rows of a header have what makes their shape.
#[derive(Debug, Clone, Copy, Default)]
enum StoredShape {
    /// It is not read, or they have none.
    #[default]
    Absent,
    Columns(StoredColumns),
    /// With the hardware queue.
    Signal(StoredText),
}

/// Readers of fast rows with the selected columns.
#[derive(Debug)]
pub(super) enum OpReaders {
    Basic(Readers<BASIC, Facts>),
    Detailed(Readers<DETAILED, Facts>),
}

impl OpReaders {
    /// `None` where no row can take the fast path.
    pub(super) fn of(context: &Context<'_>, leaves: &Leaves<'_>) -> Option<Self> {
        if !context.plain {
            return None;
        }
        let fields = &context.fields;
        let integer = |field: super::Field| field.position().map(IntegerColumn::Integer);
        let or_zero =
            |field: super::Field| field.position().map_or(IntegerColumn::Zero, IntegerColumn::OrZero);
        let basic = [
            integer(fields.gpu)?,
            integer(fields.queue)?,
            integer(fields.start)?,
            integer(fields.end)?,
            integer(fields.description)?,
            integer(fields.op_type)?,
            or_zero(fields.range),
            or_zero(fields.pid),
        ];
        let details = [fields.tid, fields.correlation, fields.enqueued, fields.launch.symbol].map(or_zero);
        let has_details = fields.has_launch()
            || context.select.ids
            || !context.symbols.by_id.is_empty()
            || !context.collectives.is_empty();
        if has_details {
            let [a, b, c, d, e, f, g, h] = basic;
            let [i, j, k, l] = details;
            let columns = FastColumns { integers: [a, b, c, d, e, f, g, h, i, j, k, l] };
            leaves.has_fast_rows(&columns).then(|| Self::Detailed(Readers::of(columns)))
        } else {
            let columns = FastColumns { integers: basic };
            leaves.has_fast_rows(&columns).then(|| Self::Basic(Readers::of(columns)))
        }
    }
}

impl<'a> FastOps<'a> {
    /// Adds the ops of leaves to a part, as [`Leaves::scan_fast`].
    pub(super) fn read<const N: usize>(
        part: &'a mut OpPart,
        context: &'a Context<'a>,
        leaves: &Leaves<'_>,
        share: &[u32],
        readers: &Readers<N, Facts>,
    ) -> Option<u64> {
        let run = Run {
            count: 0,
            names: [NameId::NONE; LENGTH],
            tracks: [TrackId::default(); LENGTH],
            starts: [0; LENGTH],
            durations: [0; LENGTH],
            ranges: [0; LENGTH],
            shapes: [ShapeId::SENTINEL; LENGTH],
        };
        let mut ops = Self { part, context, run: Box::new(run) };
        let rows = leaves.scan_fast(share, readers, &mut ops)?;
        ops.run.flush(ops.part, context);
        Some(rows)
    }
}

impl<const N: usize> AddRows<N> for FastOps<'_> {
    type Facts = Facts;

    fn facts(&self, row: &Row<'_>) -> Option<Facts> {
        let Context { fields, select, .. } = self.context;
        let is_enqueued = !fields.has_launch() && !fields.enqueued.is_null(row);
        if is_enqueued || !fields.stream.is_null(row) {
            return None;
        }
        let shape = match fields.signal.position() {
            _ if !select.any_shape() => StoredShape::Absent,
            Some(at) if row.is_null(at) => StoredShape::Absent,
            Some(at) => StoredShape::Signal(StoredText::of(row, at)?),
            None => StoredShape::Columns(fields.launch.stored(row)?),
        };
        let columns = [
            (fields.pid, Present::PROCESS),
            (fields.tid, Present::TID),
            (fields.enqueued, Present::ENQUEUED),
            (fields.launch.symbol, Present::SYMBOL),
        ];
        let present = columns.into_iter().filter(|(field, _)| !field.is_null(row));
        Some(Facts { present: Present(present.map(|(_, bit)| bit).sum()), shape })
    }

    #[inline(always)]
    fn add_fast<'a>(&mut self, rows: impl Iterator<Item = FastRow<'a, N, Facts>>) -> bool {
        let Self { part, context, run } = self;
        if run.count > RUN {
            run.flush(part, context);
        }
        let mut count = run.count;
        let mut takes_all = true;
        let kernel_type = part.kernel_type.flatten();
        for row in rows {
            let Some(dispatch) = part.fast_dispatch(&row, context, kernel_type) else {
                takes_all = false;
                break;
            };
            run.names[count] = dispatch.name;
            run.tracks[count] = dispatch.track;
            run.starts[count] = dispatch.start;
            run.durations[count] = dispatch.duration;
            run.ranges[count] = dispatch.range;
            run.shapes[count] = dispatch.shape;
            count += 1;
            if N == DETAILED {
                part.add_details(&row, context, &dispatch);
            }
        }
        run.count = count;
        takes_all
    }

    fn add(&mut self, row: &Row<'_>) {
        self.run.flush(self.part, self.context);
        self.part.push(row, self.context);
    }
}

impl Run {
    fn flush(&mut self, part: &mut OpPart, context: &Context<'_>) {
        let rows = ..std::mem::take(&mut self.count);
        let Self { names, tracks, starts, durations, ranges, shapes, .. } = self;
        part.range_ids |= ranges[rows].iter().fold(0, |any, range| any | range) != 0;
        part.dispatches.push_timings(
            (&names[rows], &tracks[rows]),
            (&starts[rows], &durations[rows]),
            &ranges[rows],
        );
        if context.select.any_shape() {
            part.dispatches.push_shapes(&shapes[rows]);
        }
    }
}

/// What is kept of a fast row.
struct FastDispatch {
    name: NameId,
    track: TrackId,
    process: ProcessId,
    start: i64,
    duration: u32,
    range: Id,
    /// As it is stored.
    shape: ShapeId,
}

impl OpPart {
    /// The dispatch of a fast row: what [`Self::push`] would add. `None` where that has to decide.
    #[inline(always)]
    fn fast_dispatch<const N: usize>(
        &mut self,
        row: &FastRow<'_, N, Facts>,
        context: &Context<'_>,
        kernel_type: Option<Id>,
    ) -> Option<FastDispatch> {
        let [gpu, queue, start, end, name, op_type, range] = std::array::from_fn(|at| row.int(at));
        let duration = u32::try_from(end.checked_sub(start)?).ok()?;
        let name = context.names.get(Some(name));
        if !(duration < ESCAPE && name.is_some() && kernel_type == Some(op_type)) {
            return None;
        }
        let Facts { present, shape } = row.facts();
        let process = if present.has(Present::PROCESS) {
            self.recent_process_of(row.int(PROCESS))?
        } else {
            context.process
        };
        let (shape, hardware_queue) = match shape {
            StoredShape::Absent => (ShapeId::SENTINEL, None),
            StoredShape::Columns(columns) => (self.met_shape(columns.fast_key(row))?, None),
            StoredShape::Signal(text) => self.met_signal(text.get(row))?,
        };
        let track = self.recent_track(Place::of(gpu, queue, process, hardware_queue))?;
        Some(FastDispatch { name, track, process, start, duration, range, shape })
    }

    /// Adds what only some selections have.
    #[inline(always)]
    fn add_details<const N: usize>(
        &mut self,
        row: &FastRow<'_, N, Facts>,
        context: &Context<'_>,
        dispatch: &FastDispatch,
    ) {
        let present = row.facts().present;
        let [tid, correlation, enqueued, symbol] = std::array::from_fn(|at| row.int(BASIC + at));
        if context.select.ids {
            self.dispatches.id.push(row.id());
        }
        if context.fields.has_launch() {
            let tid = present.has(Present::TID).then_some(tid);
            let enqueued = present.has(Present::ENQUEUED).then_some(enqueued);
            self.dispatches.push_launch(tid, correlation, enqueued);
        }
        if !context.symbols.by_id.is_empty() {
            let symbol = present.has(Present::SYMBOL).then_some(symbol);
            let symbol = self.symbol(row.id(), symbol, context, dispatch.process, dispatch.name);
            self.dispatches.symbol.push(symbol);
        }
        if !context.collectives.is_empty() {
            self.dispatches.collective.push(context.collectives.get(row.id()));
        }
    }
}
