use std::ops::Range;

use rtl_schema::Tables;
use rtl_schema::table::{Copy, Dispatch};

use crate::rows::{Column, Piece, Rows, gpu, known};

/// A dispatch; or a copy or barrier, with the values that it has in common with dispatches.
struct Op<'a> {
    kind: &'static str,
    row: Dispatch,
    copy: Option<&'a Copy>,
}

fn op(tables: &Tables, row: usize) -> Op<'_> {
    let (dispatches, copies) = (tables.dispatches.len(), tables.copies.len());
    if row < dispatches {
        return Op { kind: "kernel", row: tables.dispatches.get(row), copy: None };
    }
    match tables.copies.get(row - dispatches) {
        Some(copy) => Op { kind: "copy", row: copy.into(), copy: Some(copy) },
        None => Op { kind: "barrier", row: (&tables.barriers[row - dispatches - copies]).into(), copy: None },
    }
}

/// Kernels, copies, fills and barriers.
pub(super) fn ops(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let ops: Vec<Op<'_>> = rows.map(|row| op(piece.rows, row)).collect();
    let track = |op: &Op<'_>| piece.references.tracks.get(op.row.track);
    let symbol = |op: &Op<'_>| op.row.symbol.map(|symbol| &piece.references.symbols[symbol.index()]);
    let shape =
        |op: &Op<'_>| op.row.shape.map(|shape| piece.references.shapes.get(shape)).unwrap_or_default();
    Rows::of(piece, &ops)
        .add("id", |op| op.row.id)
        .word("kind", |op| Some(op.kind))
        .text("name", |op| op.row.name)
        .add("gpu", |op| gpu(piece.references, Some(track(op).agent)))
        .add("queue", |op| track(op).queue)
        .add("stream", |op| track(op).stream)
        .process(|op| track(op).process)
        .add("tid", |op| op.row.tid)
        .times(|op| op.row.start, |op| op.row.duration)
        .add("enqueued_ns", |op| op.row.enqueued)
        .add("correlation_id", |op| known(op.row.correlation))
        .add("range_id", |op| known(op.row.range))
        .axes("grid", |op| shape(op).items)
        .axes("workgroup", |op| shape(op).workgroup)
        .add("lds_bytes", |op| shape(op).lds)
        .add("scratch_bytes", |op| shape(op).scratch)
        .add("graph", |op| (op.kind == "kernel").then_some(op.row.graph))
        .add("kernel_id", |op| symbol(op).map(|symbol| symbol.id))
        .word("direction", |op| op.copy.map(|copy| copy.direction.label()))
        .add("bytes", |op| op.copy.and_then(|copy| copy.bytes))
        .add("source_gpu", |op| gpu(piece.references, op.copy.and_then(|copy| copy.source)))
        .add("destination_gpu", |op| gpu(piece.references, op.copy.and_then(|copy| copy.destination)))
        .add("source_address", |op| op.copy.and_then(|copy| copy.source_address))
        .add("destination_address", |op| op.copy.and_then(|copy| copy.destination_address))
        .finish()
}

/// Hardware counters.
pub(super) fn counters(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::of(piece, &piece.rows.counters[rows])
        .add("op_id", |row| row.dispatch)
        .text("name", |row| row.name)
        .add("value", |row| row.value)
        .add("gpu", |row| gpu(piece.references, row.agent))
        .process(|row| row.process)
        .finish()
}
