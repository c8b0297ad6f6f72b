use std::ops::Range;

use rtl_schema::Tables;
use rtl_schema::table::{Barrier, Copy, Details};

use crate::rows::{Column, Piece, Rows, gpu, known};

/// A dispatch by its row, a copy or a barrier. The whole row of a dispatch would be read again for every few columns.
#[derive(Clone, Copy)]
enum Op<'a> {
    Kernel(usize),
    Copy(&'a Copy),
    Barrier(&'a Barrier),
}

impl<'a> Op<'a> {
    fn at(tables: &'a Tables, row: usize) -> Self {
        let (dispatches, copies) = (tables.dispatches.len(), tables.copies.len());
        if row < dispatches {
            return Self::Kernel(row);
        }
        match tables.copies.get(row - dispatches) {
            Some(copy) => Self::Copy(copy),
            None => Self::Barrier(&tables.barriers[row - dispatches - copies]),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
            Self::Copy(_) => "copy",
            Self::Barrier(_) => "barrier",
        }
    }

    fn kernel(&self) -> Option<usize> {
        if let Self::Kernel(row) = self { Some(*row) } else { None }
    }

    fn copy(&self) -> Option<&'a Copy> {
        if let Self::Copy(copy) = self { Some(copy) } else { None }
    }

    #[inline(always)]
    fn value<T>(
        &self,
        kernel: impl Fn(usize) -> T,
        copy: impl Fn(&Copy) -> T,
        barrier: impl Fn(&Barrier) -> T,
    ) -> T {
        match self {
            Self::Kernel(row) => kernel(*row),
            Self::Copy(row) => copy(row),
            Self::Barrier(row) => barrier(row),
        }
    }
}

pub(super) fn ops(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let (kernels, references) = (&piece.rows.dispatches, piece.references);
    let ops: Vec<Op<'_>> = rows.map(|row| Op::at(piece.rows, row)).collect();
    let track = |op: &Op<'_>| {
        references.tracks.get(op.value(|row| kernels.track[row], |copy| copy.track, |barrier| barrier.track))
    };
    let start = |op: &Op<'_>| op.value(|row| kernels.start[row], |copy| copy.start, |barrier| barrier.start);
    let duration = |op: &Op<'_>| {
        op.value(|row| kernels.duration.get(row), |copy| copy.duration, |barrier| barrier.duration)
    };
    let symbol = |op: &Op<'_>| {
        let symbol = kernels.symbol.get(op.kernel()?)?;
        Some(&references.symbols[symbol.index()])
    };
    let shape = |op: &Op<'_>| {
        let shape = op.kernel().and_then(|row| kernels.shape.get(row));
        shape.map(|shape| references.shapes.get(shape)).unwrap_or_default()
    };
    let details = |op: &Op<'_>, at: usize| {
        op.value(
            |row| kernels.details.columns()[at].get(row),
            |copy| copy.details.values()[at],
            |barrier| barrier.details.values()[at],
        )
    };
    let rows = Rows::new(piece, &ops)
        .add("id", |op| op.value(|row| kernels.id.get(row), |copy| copy.id, |barrier| barrier.id))
        .word("kind", |op| Some(op.kind()))
        .text("name", |op| op.value(|row| kernels.name[row], |copy| copy.name, |barrier| barrier.name))
        .add("gpu", |op| gpu(references, Some(track(op).agent)))
        .add("queue", |op| track(op).queue)
        .add("stream", |op| track(op).stream)
        .process(|op| track(op).process)
        .add("tid", |op| op.value(|row| kernels.tid.get(row), |copy| copy.tid, |_| None))
        .times(start, duration);
    let rows = Details::ALL.iter().enumerate().fold(rows, |rows, (at, detail)| {
        let unit = if detail.is_time { "_ns" } else { "" };
        rows.add(&format!("{}{unit}", detail.name), |op| details(op, at))
    });
    rows.add("correlation_id", |op| {
        let kernel = |row| kernels.correlation.get(row);
        known(op.value(kernel, |copy| copy.correlation, |barrier| barrier.correlation))
    })
    .add("range_id", |op| known(op.value(|row| kernels.range.get(row), |copy| copy.range, |_| 0)))
    .axes("grid", |op| shape(op).items)
    .axes("workgroup", |op| shape(op).workgroup)
    .add("lds_bytes", |op| shape(op).lds)
    .add("scratch_bytes", |op| shape(op).scratch)
    .add("graph", |op| op.kernel().map(|row| kernels.graph.get(row)))
    .add("kernel_id", |op| symbol(op).map(|symbol| symbol.id))
    .word("direction", |op| op.copy().map(|copy| copy.direction.label()))
    .add("bytes", |op| op.copy().and_then(|copy| copy.bytes))
    .add("source_gpu", |op| gpu(references, op.copy().and_then(|copy| copy.source)))
    .add("destination_gpu", |op| gpu(references, op.copy().and_then(|copy| copy.destination)))
    .add("source_address", |op| op.copy().and_then(|copy| copy.source_address))
    .add("destination_address", |op| op.copy().and_then(|copy| copy.destination_address))
    .finish()
}

pub(super) fn counters(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.counters[rows])
        .add("op_id", |row| row.dispatch)
        .text("name", |row| row.name)
        .add("value", |row| row.value)
        .add("gpu", |row| gpu(piece.references, row.agent))
        .process(|row| row.process)
        .finish()
}
