use std::ops::Range;

use polars::prelude::*;
use rtl_schema::Tables;
use rtl_schema::table::{Copy, Dispatch};

use crate::frame::{Frame, gpu, gpu_of, known};

/// A dispatch; or a copy or barrier, with the values that it has in common with dispatches.
struct Op<'a> {
    kind: &'static str,
    row: Dispatch,
    copy: Option<&'a Copy>,
}

fn op(tables: &Tables, row: usize) -> Op<'_> {
    let (dispatches, copies) = (tables.dispatches.len(), tables.copies.len());
    if row < dispatches {
        let row = tables.dispatches.get(row);
        return Op { kind: if row.graph { "graph kernel" } else { "kernel" }, row, copy: None };
    }
    if let Some(copy) = tables.copies.get(row - dispatches) {
        let row = Dispatch {
            id: copy.id,
            name: copy.name,
            track: copy.track,
            start: copy.start,
            duration: copy.duration,
            enqueued: copy.enqueued,
            tid: copy.tid,
            correlation: copy.correlation,
            range: copy.range,
            ..Dispatch::default()
        };
        return Op { kind: "copy", row, copy: Some(copy) };
    }
    let barrier = tables.barriers[row - dispatches - copies];
    let row = Dispatch {
        id: barrier.id,
        name: barrier.name,
        track: barrier.track,
        start: barrier.start,
        duration: barrier.duration,
        enqueued: barrier.enqueued,
        correlation: barrier.correlation,
        ..Dispatch::default()
    };
    Op { kind: "barrier", row, copy: None }
}

/// Kernels, copies, fills and barriers.
pub(super) fn ops(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let first = rows.start;
    let ops: Vec<Op<'_>> = rows.clone().map(|row| op(tables, row)).collect();
    let op = |row: usize| &ops[row - first].row;
    let copy = |row: usize| ops[row - first].copy;
    let track = |row: usize| tables.tracks.get(op(row).track);
    let symbol = |row: usize| op(row).symbol.map(|symbol| &tables.symbols[symbol.index()]);
    let shape = |row: usize| op(row).shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default();
    let items = |axis: usize| move |row: usize| shape(row).items.map(|items| items[axis]);
    let group = |axis: usize| move |row: usize| shape(row).workgroup.map(|group| group[axis]);
    Frame::of(tables, rows)
        .add("id", |row| op(row).id)
        .word("kind", |row| Some(ops[row - first].kind))
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
        .add("lds_bytes", |row| shape(row).lds)
        .add("scratch_bytes", |row| shape(row).scratch)
        .add("kernel_id", |row| symbol(row).map(|symbol| symbol.id))
        .word("direction", |row| copy(row).map(|copy| copy.direction.label()))
        .add("bytes", |row| copy(row).and_then(|copy| copy.bytes))
        .add("source_gpu", |row| gpu(tables, copy(row).and_then(|copy| copy.source)))
        .add("destination_gpu", |row| gpu(tables, copy(row).and_then(|copy| copy.destination)))
        .add("source_address", |row| copy(row).and_then(|copy| copy.source_address))
        .add("destination_address", |row| copy(row).and_then(|copy| copy.destination_address))
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
