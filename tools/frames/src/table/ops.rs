use std::ops::Range;

use polars::prelude::*;
use rtl_schema::table::{Copy, Shape};
use rtl_schema::{Id, NameId, SymbolId, Tables, TrackId};

use crate::frame::{Frame, gpu, gpu_of, known};

/// The columns that all ops have.
#[derive(Debug, Clone, Copy)]
struct Op<'a> {
    kind: &'static str,
    id: Id,
    name: NameId,
    track: TrackId,
    start: i64,
    duration: Option<i64>,
    enqueued: Option<i64>,
    tid: Option<i64>,
    correlation: Id,
    range: Id,
    shape: Shape,
    symbol: Option<SymbolId>,
    copy: Option<&'a Copy>,
}

fn op<'a>(tables: &'a Tables, row: usize) -> Op<'a> {
    let (dispatches, copies) = (tables.dispatches.len(), tables.copies.len());
    if row < dispatches {
        let row = tables.dispatches.get(row);
        return Op {
            kind: if row.graph { "graph kernel" } else { "kernel" },
            id: row.id,
            name: row.name,
            track: row.track,
            start: row.start,
            duration: row.duration,
            enqueued: row.enqueued,
            tid: row.tid,
            correlation: row.correlation,
            range: row.range,
            shape: row.shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default(),
            symbol: row.symbol,
            copy: None,
        };
    }
    if let Some(copy) = tables.copies.get(row - dispatches) {
        return Op {
            kind: "copy",
            id: copy.id,
            name: copy.name,
            track: copy.track,
            start: copy.start,
            duration: copy.duration,
            enqueued: copy.enqueued,
            tid: copy.tid,
            correlation: copy.correlation,
            range: copy.range,
            shape: Shape::default(),
            symbol: None,
            copy: Some(copy),
        };
    }
    let row = tables.barriers[row - dispatches - copies];
    Op {
        kind: "barrier",
        id: row.id,
        name: row.name,
        track: row.track,
        start: row.start,
        duration: row.duration,
        enqueued: row.enqueued,
        tid: None,
        correlation: row.correlation,
        range: 0,
        shape: Shape::default(),
        symbol: None,
        copy: None,
    }
}

/// Kernels, copies, fills and barriers.
pub(super) fn ops(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let first = rows.start;
    let ops: Vec<Op<'_>> = rows.clone().map(|row| op(tables, row)).collect();
    let op = |row: usize| &ops[row - first];
    let track = |row: usize| tables.tracks.get(op(row).track);
    let symbol = |row: usize| op(row).symbol.map(|symbol| &tables.symbols[symbol.index()]);
    let items = |axis: usize| move |row: usize| op(row).shape.items.map(|items| items[axis]);
    let group = |axis: usize| move |row: usize| op(row).shape.workgroup.map(|group| group[axis]);
    Frame::of(tables, rows)
        .add("id", |row| op(row).id)
        .word("kind", |row| Some(op(row).kind))
        .text("name", |row| op(row).name)?
        .add("gpu", |row| gpu_of(tables, op(row).track))
        .add("queue", |row| track(row).queue)
        .add("stream", |row| track(row).stream)
        .process(|row| track(row).process)
        .add("tid", |row| op(row).tid)
        .times(|row| op(row).start, |row| op(row).duration)
        .add("enqueued_ns", |row| op(row).enqueued)
        .add("correlation_id", |row| known(op(row).correlation))
        .add("range_id", |row| known(op(row).range))
        .add("grid_x", items(0))
        .add("grid_y", items(1))
        .add("grid_z", items(2))
        .add("workgroup_x", group(0))
        .add("workgroup_y", group(1))
        .add("workgroup_z", group(2))
        .add("lds_bytes", |row| op(row).shape.lds)
        .add("scratch_bytes", |row| op(row).shape.scratch)
        .add("kernel_id", |row| symbol(row).map(|symbol| symbol.id))
        .word("direction", |row| op(row).copy.map(|copy| copy.direction.label()))
        .add("bytes", |row| op(row).copy.and_then(|copy| copy.bytes))
        .add("source_gpu", |row| gpu(tables, op(row).copy.and_then(|copy| copy.source)))
        .add("destination_gpu", |row| gpu(tables, op(row).copy.and_then(|copy| copy.destination)))
        .add("source_address", |row| op(row).copy.and_then(|copy| copy.source_address))
        .add("destination_address", |row| op(row).copy.and_then(|copy| copy.destination_address))
        .finish()
}

/// Hardware counters.
pub(super) fn counters(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let counters = &tables.counters;
    Frame::of(tables, rows)
        .add("op_id", |row| counters[row].dispatch)
        .text("name", |row| counters[row].name)?
        .add("value", |row| counters[row].value)
        .add("gpu", |row| gpu(tables, counters[row].agent))
        .process(|row| counters[row].process)
        .finish()
}
