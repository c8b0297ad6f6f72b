use std::ops::Range;

use rtl_schema::NameId;
use rtl_schema::table::{self, ApiLaunch, RangeKind};

use crate::rows::{Column, Piece, Rows, gpu, known};

pub(super) fn calls(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let calls = &piece.rows.api_calls;
    let rows: Vec<usize> = rows.collect();
    Rows::new(piece, &rows)
        .add("id", |&row| calls.id.get(row))
        .text("name", |&row| calls.name[row])
        .text("domain", |&row| calls.domain.get(row))
        .text("category", |&row| calls.category.get(row))
        .text("arguments", |&row| calls.args.get(row))
        .process(|&row| calls.process.get(row))
        .add("tid", |&row| calls.tid.get(row))
        .times(|&row| calls.start[row], |&row| calls.duration.get(row))
        .add("correlation_id", |&row| known(calls.correlation.get(row)))
        .add("parent_id", |&row| known(calls.parent.get(row)))
        .add("stream", |&row| calls.stream.get(row))
        .add("result", |&row| known(calls.result.get(row)))
        .finish()
}

pub(super) fn arguments(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.api_calls.arguments[rows])
        .add("call_id", |row| piece.rows.api_calls.id.get(row.call as usize))
        .add("position", |row| row.position)
        .text("type", |row| row.kind)
        .text("name", |row| row.name)
        .text("value", |row| row.value)
        .finish()
}

pub(super) fn launches(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let shape =
        |row: &ApiLaunch| row.shape.map(|shape| piece.references.shapes.get(shape)).unwrap_or_default();
    let is_copy = |row: &ApiLaunch| row.kernel == NameId::NONE && row.shape.is_none();
    Rows::new(piece, &piece.rows.api_calls.launches[rows])
        .add("call_id", |row| piece.rows.api_calls.id.get(row.call as usize))
        .text("kernel", |row| row.kernel)
        .text("stream", |row| row.stream)
        .axes("groups", |row| shape(row).groups)
        .axes("workgroup", |row| shape(row).workgroup)
        .add("lds_bytes", |row| shape(row).lds)
        .add("scratch_bytes", |row| shape(row).scratch)
        .word("direction", |row| is_copy(row).then(|| row.direction.label()))
        .add("bytes", |row| row.bytes)
        .add("width", |row| row.extent.map(|(width, _)| width))
        .add("height", |row| row.extent.map(|(_, height)| height))
        .add("destination_address", |row| row.addresses.map(|(to, _)| to))
        .add("source_address", |row| row.addresses.map(|(_, from)| from))
        .add("destination_device", |row| row.devices.map(|(to, _)| to))
        .add("source_device", |row| row.devices.map(|(_, from)| from))
        .add("synchronous", |row| is_copy(row).then_some(row.sync))
        .add("pinned", |row| is_copy(row).then_some(row.pinned))
        .finish()
}

pub(super) fn links(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.extra_links[rows])
        .add("op_id", |row| row.0)
        .add("call_id", |row| row.1)
        .finish()
}

pub(super) fn ranges(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let kind = |row: &table::Range| match row.kind {
        _ if row.is_marker() => Some("marker"),
        RangeKind::Thread => Some("thread"),
        RangeKind::Process => Some("process"),
        RangeKind::Marker | RangeKind::Unknown => None,
    };
    Rows::new(piece, &piece.rows.ranges[rows])
        .add("id", |row| row.id)
        .word("kind", kind)
        .text("name", |row| row.name)
        .text("category", |row| row.category)
        .process(|row| row.process)
        .add("tid", |row| row.tid)
        .times(|row| row.start, |row| row.duration)
        .add("correlation_id", |row| known(row.correlation))
        .finish()
}

pub(super) fn allocations(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.allocations[rows])
        .add("id", |row| row.id)
        .word("kind", |row| Some(row.kind.label()))
        .word("level", |row| Some(row.level.label()))
        .add("gpu", |row| gpu(piece.references, row.agent))
        .add("queue", |row| row.queue)
        .add("stream", |row| row.stream)
        .process(|row| row.process)
        .add("tid", |row| row.tid)
        .times(|row| row.start, |row| row.duration)
        .add("address", |row| row.address)
        .add("bytes", |row| row.bytes)
        .add("flags", |row| row.flags)
        .add("correlation_id", |row| known(row.correlation))
        .finish()
}

pub(super) fn operators(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let operators = &piece.rows.operators;
    let rows: Vec<usize> = rows.collect();
    Rows::new(piece, &rows)
        .add("id", |&row| operators.id.get(row))
        .text("name", |&row| operators.name[row])
        .process(|&row| operators.process.get(row))
        .add("tid", |&row| operators.tid.get(row))
        .times(|&row| operators.start[row], |&row| operators.duration.get(row))
        .text("shapes", |&row| operators.shapes.get(row))
        .text("types", |&row| operators.types.get(row))
        .text("strides", |&row| operators.strides.get(row))
        .text("values", |&row| operators.values.get(row))
        .add("sequence", |&row| operators.sequence.get(row))
        .add("forward_thread", |&row| {
            (operators.forward_thread.get(row) != 0).then_some(operators.forward_thread.get(row))
        })
        .finish()
}

pub(super) fn python_frames(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    let frames = &piece.rows.python_frames;
    let rows: Vec<usize> = rows.collect();
    Rows::new(piece, &rows)
        .add("id", |&row| frames.id.get(row))
        .text("name", |&row| frames.name[row])
        .process(|&row| frames.process.get(row))
        .add("tid", |&row| frames.tid.get(row))
        .times(|&row| frames.start[row], |&row| frames.duration.get(row))
        .add("number", |&row| frames.number.get(row))
        .add("caller", |&row| frames.caller.get(row))
        .add("module", |&row| frames.module.get(row))
        .finish()
}

pub(super) fn memory_events(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.memory_events[rows])
        .add("id", |row| row.id)
        .add("gpu", |row| gpu(piece.references, row.agent))
        .process(|row| row.process)
        .add("tid", |row| row.tid)
        .add("time_ns", |row| row.time)
        .add("bytes", |row| row.bytes)
        .add("allocated_bytes", |row| row.allocated)
        .add("reserved_bytes", |row| row.reserved)
        .add("address", |row| row.address)
        .finish()
}

pub(super) fn spans(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.spans[rows])
        .add("id", |row| row.id)
        .word("kind", |row| Some(row.kind.label()))
        .text("name", |row| row.name)
        .add("gpu", |row| gpu(piece.references, row.agent))
        .add("stream", |row| row.stream)
        .process(|row| row.process)
        .times(|row| row.start, |row| row.duration)
        .finish()
}

pub(super) fn monitors(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.monitors[rows])
        .text("device_type", |row| row.device_kind)
        .add("device", |row| row.device)
        .text("name", |row| row.name)
        .add("start_ns", |row| row.start)
        .add("end_ns", |row| row.end)
        .text("value", |row| row.value)
        .finish()
}

pub(super) fn stack_frames(piece: Piece<'_>, rows: Range<usize>) -> Vec<Column> {
    Rows::new(piece, &piece.rows.stack_frames[rows])
        .add("call_id", |row| row.call)
        .add("depth", |row| row.depth)
        .text("name", |row| row.name)
        .finish()
}
