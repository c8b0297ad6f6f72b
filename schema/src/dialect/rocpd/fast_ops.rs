//! The fast path of `rocpd_op`: kernels with a name and an end, of a process, on a track and of a launch shape that are cached. Most rows
//! take it; [`OpPart::push`] reads the others.

use super::op_columns::{Need, OpColumn, OpRow};
use super::ops::{Cause, Context, FoundDispatch, OpPart};
use super::recent_tracks::Place;
use crate::sqlite::{
    AddRows, FastColumns, FastRow, IntegerColumn, Leaves, Readers, Row, StoredColumns, StoredText,
};
use crate::{Id, Sentinel, ShapeId};

const BASIC: usize = OpColumn::BASIC;
const DETAILED: usize = OpColumn::COUNT;

/// The ops of one stretch of the table.
struct FastOps<'a> {
    part: &'a mut OpPart,
    context: &'a Context<'a>,
}

/// Facts that follow from the types of a row's values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Facts {
    present: Present,
    shape: StoredShape,
}

const _: () = assert!(Readers::<BASIC, Facts>::HEADER == 64, "most rows need one cache line of their header");

/// The columns that are not NULL, one bit each. In bytes, so that the facts of a header need no alignment.
#[derive(Debug, Clone, Copy, Default)]
struct Present([u8; 2]);

const _: () = assert!(DETAILED <= 16, "each column has a bit");

impl Present {
    fn new(positions: impl Iterator<Item = usize>) -> Self {
        Self(positions.fold(0_u16, |bits, position| bits | 1 << position).to_ne_bytes())
    }

    #[inline(always)]
    fn has(self, position: usize) -> bool {
        u16::from_ne_bytes(self.0) & 1 << position != 0
    }
}

/// Where the rows of a header have what makes their shape.
#[derive(Debug, Clone, Copy, Default)]
enum StoredShape {
    /// It is not read, or they have none.
    #[default]
    Absent,
    Columns(StoredColumns),
    /// The text has the hardware queue, too.
    Signal(StoredText),
}

impl<const N: usize> OpRow for FastRow<'_, N, Facts> {
    const HAS_DETAILS: bool = N > BASIC;

    #[inline(always)]
    fn id(&self) -> i64 {
        self.id()
    }

    #[inline(always)]
    fn int_at(&self, position: usize) -> Option<i64> {
        (position < N && self.facts().present.has(position)).then(|| self.int(position))
    }
}

/// Readers of fast rows with the selected columns.
#[derive(Debug)]
pub(super) enum OpReaders {
    Basic(Readers<BASIC, Facts>),
    Detailed(Readers<DETAILED, Facts>),
}

impl OpReaders {
    /// `None` where no row can take the fast path.
    pub(super) fn new(context: &Context<'_>, leaves: &Leaves<'_>) -> Option<Self> {
        let Context { fields, select, collectives, symbols, .. } = context;
        if !context.plain {
            return None;
        }
        let mut has_details = select.ids || !symbols.by_id.is_empty() || !collectives.is_empty();
        // The rows of the first leaf are like most.
        if let Some(leaf) = leaves.shares().first().and_then(|leaves| leaves.get(..1)) {
            leaves.scan(leaf, |row| has_details |= fields.has_details(row));
        }
        if has_details {
            Some(Self::Detailed(readers(context, leaves)?))
        } else {
            Some(Self::Basic(readers(context, leaves)?))
        }
    }

    /// Adds the ops of leaves to a part, as [`Leaves::scan_fast`].
    pub(super) fn read(
        &self,
        part: &mut OpPart,
        context: &Context<'_>,
        leaves: &Leaves<'_>,
        share: &[u32],
    ) -> Option<u64> {
        let mut ops = FastOps { part, context };
        match self {
            Self::Basic(readers) => leaves.scan_fast(share, readers, &mut ops),
            Self::Detailed(readers) => leaves.scan_fast(share, readers, &mut ops),
        }
    }
}

/// Readers of the first `N` columns, if the table can have such rows.
fn readers<const N: usize>(context: &Context<'_>, leaves: &Leaves<'_>) -> Option<Readers<N, Facts>> {
    let mut columns = FastColumns { integers: [IntegerColumn::Zero; N] };
    for (position, to) in columns.integers.iter_mut().enumerate() {
        *to = match (context.fields.field(position).position(), OpColumn::need(position)) {
            (Some(position), Need::Integer) => IntegerColumn::Integer(position),
            (None, Need::Integer) => return None,
            (Some(position), Need::Nullable | Need::Detail) => IntegerColumn::OrZero(position),
            (None, Need::Nullable | Need::Detail) => IntegerColumn::Zero,
        };
    }
    leaves.has_fast_rows(&columns).then(|| Readers::of(columns))
}

impl<const N: usize> AddRows<N> for FastOps<'_> {
    type Facts = Facts;

    fn facts(&self, row: &Row<'_>) -> Option<Facts> {
        let Context { fields, select, .. } = self.context;
        let is_detailed = N == BASIC && fields.has_details(row);
        if is_detailed || !fields.stream.is_null(row) {
            return None;
        }
        let shape = match fields.signal.position() {
            _ if !select.any_shape() => StoredShape::Absent,
            Some(at) if row.is_null(at) => StoredShape::Absent,
            Some(at) => StoredShape::Signal(StoredText::of(row, at)?),
            None => StoredShape::Columns(fields.launch.stored(row)?),
        };
        let known = |&position: &usize| !fields.field(position).is_null(row);
        let present = Present::new((0..OpColumn::COUNT).filter(known));
        Some(Facts { present, shape })
    }

    #[inline(always)]
    fn add_fast<'a>(&mut self, rows: impl Iterator<Item = FastRow<'a, N, Facts>>) -> bool {
        let kernel_type = self.part.kernel_type.flatten();
        for row in rows {
            if self.part.push_fast(&row, self.context, kernel_type).is_none() {
                return false;
            }
        }
        true
    }

    fn add(&mut self, row: &Row<'_>) {
        self.part.push(row, self.context);
    }
}

impl OpPart {
    /// Adds the dispatch of a fast row. `None` where something of it is not cached, so that [`Self::push`] has to read the row.
    #[inline(always)]
    fn push_fast<const N: usize>(
        &mut self,
        row: &FastRow<'_, N, Facts>,
        context: &Context<'_>,
        kernel_type: Option<Id>,
    ) -> Option<()> {
        let known = |column: OpColumn| row.int(column.position());
        let name = context.names.get(Some(known(OpColumn::Name)));
        if !(name.is_some() && kernel_type == Some(known(OpColumn::Type))) {
            return None;
        }
        let process = match OpRow::int(row, OpColumn::Process) {
            Some(pid) => self.recent_process_of(pid)?,
            None => context.process,
        };
        let (shape, hardware_queue) = match row.facts().shape {
            StoredShape::Absent => (ShapeId::SENTINEL, None),
            StoredShape::Columns(columns) => (self.cached_shape(columns.fast_key(row))?, None),
            StoredShape::Signal(text) => self.cached_signal(text.get(row))?,
        };
        let (gpu, queue) = (known(OpColumn::Gpu), known(OpColumn::Queue));
        let start = known(OpColumn::Start);
        let dispatch = FoundDispatch {
            name,
            track: self.recent_track(Place::new(gpu, queue, process, hardware_queue))?,
            start,
            duration: known(OpColumn::End).checked_sub(start),
            shape: shape.known(),
            graph: false,
            cause: Cause::of_row(row, process),
        };
        self.push_dispatch(row, context, dispatch);
        Some(())
    }
}
