use std::ops::Range;

use polars::prelude::*;
use rtl_schema::Tables;
use rtl_schema::table::{RangeKind, Shape};

use crate::frame::{Frame, gpu, known};

/// API calls.
pub(super) fn calls(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let calls = &tables.api_calls;
    Frame::of(tables, rows)
        .add("id", |row| calls.id.get(row))
        .text("name", |row| calls.name[row])?
        .text("domain", |row| calls.domain.get(row))?
        .text("category", |row| calls.category.get(row))?
        .text("arguments", |row| calls.get(row).args)?
        .process(|row| calls.process.get(row))
        .add("tid", |row| calls.tid.get(row))
        .times(|row| calls.start[row], |row| calls.duration.get(row))
        .add("correlation_id", |row| known(calls.correlation.get(row)))
        .add("parent_id", |row| known(calls.parent.get(row)))
        .add("stream", |row| calls.stream.get(row))
        .add("result", |row| known(calls.result.get(row)))
        .finish()
}

/// Arguments of calls, one by one.
pub(super) fn arguments(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let arguments = &tables.api_calls.arguments;
    Frame::of(tables, rows)
        .add("call_id", |row| tables.api_calls.id.get(arguments[row].call as usize))
        .add("position", |row| arguments[row].position)
        .text("type", |row| arguments[row].kind)?
        .text("name", |row| arguments[row].name)?
        .text("value", |row| arguments[row].value)?
        .finish()
}

/// Parameters of launches and copies, as the call states them.
pub(super) fn launches(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let launches = &tables.api_calls.launches;
    let shape = |row: usize| -> Shape {
        launches[row].shape.map(|shape| tables.shapes.get(shape)).unwrap_or_default()
    };
    let is_copy =
        |row: usize| launches[row].kernel == rtl_schema::NameId::NONE && launches[row].shape.is_none();
    let groups = |axis: usize| move |row: usize| shape(row).groups.map(|groups| groups[axis]);
    let group = |axis: usize| move |row: usize| shape(row).workgroup.map(|group| group[axis]);
    Frame::of(tables, rows)
        .add("call_id", |row| tables.api_calls.id.get(launches[row].call as usize))
        .text("kernel", |row| launches[row].kernel)?
        .text("stream", |row| launches[row].stream)?
        .add("groups_x", groups(0))
        .add("groups_y", groups(1))
        .add("groups_z", groups(2))
        .add("workgroup_x", group(0))
        .add("workgroup_y", group(1))
        .add("workgroup_z", group(2))
        .add("lds_bytes", |row| shape(row).lds)
        .add("scratch_bytes", |row| shape(row).scratch)
        .word("direction", |row| is_copy(row).then(|| launches[row].direction.label()))
        .add("bytes", |row| launches[row].bytes)
        .add("width", |row| launches[row].extent.map(|(width, _)| width))
        .add("height", |row| launches[row].extent.map(|(_, height)| height))
        .add("destination_address", |row| launches[row].addresses.map(|(to, _)| to))
        .add("source_address", |row| launches[row].addresses.map(|(_, from)| from))
        .add("destination_device", |row| launches[row].devices.map(|(to, _)| to))
        .add("source_device", |row| launches[row].devices.map(|(_, from)| from))
        .add("synchronous", |row| is_copy(row).then(|| launches[row].sync))
        .add("pinned", |row| is_copy(row).then(|| launches[row].pinned))
        .finish()
}

/// Links of ops to further calls.
pub(super) fn links(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    Frame::of(tables, rows)
        .add("op_id", |row| tables.extra_links[row].0)
        .add("call_id", |row| tables.extra_links[row].1)
        .finish()
}

/// Ranges and markers.
pub(super) fn ranges(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let ranges = &tables.ranges;
    let kind = |row: usize| match ranges[row].kind {
        _ if ranges[row].is_marker() => Some("marker"),
        RangeKind::Thread => Some("thread"),
        RangeKind::Process => Some("process"),
        RangeKind::Marker | RangeKind::Unknown => None,
    };
    Frame::of(tables, rows)
        .add("id", |row| ranges[row].id)
        .word("kind", kind)
        .text("name", |row| ranges[row].name)?
        .text("category", |row| ranges[row].category)?
        .process(|row| ranges[row].process)
        .add("tid", |row| ranges[row].tid)
        .times(|row| ranges[row].start, |row| ranges[row].duration)
        .add("correlation_id", |row| known(ranges[row].correlation))
        .finish()
}

/// Allocations and scratch events.
pub(super) fn allocations(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let events = &tables.allocations;
    Frame::of(tables, rows)
        .add("id", |row| events[row].id)
        .word("kind", |row| Some(events[row].kind.label()))
        .word("level", |row| Some(events[row].level.label()))
        .add("gpu", |row| gpu(tables, events[row].agent))
        .add("queue", |row| events[row].queue)
        .add("stream", |row| events[row].stream)
        .process(|row| events[row].process)
        .add("tid", |row| events[row].tid)
        .times(|row| events[row].start, |row| events[row].duration)
        .add("address", |row| events[row].address)
        .add("bytes", |row| events[row].bytes)
        .add("flags", |row| events[row].flags)
        .add("correlation_id", |row| known(events[row].correlation))
        .finish()
}

/// Sampled quantities.
pub(super) fn monitors(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let monitors = &tables.monitors;
    Frame::of(tables, rows)
        .text("device_type", |row| monitors[row].device_kind)?
        .add("device", |row| monitors[row].device)
        .text("name", |row| monitors[row].name)?
        .add("start_ns", |row| monitors[row].start)
        .add("end_ns", |row| monitors[row].end)
        .text("value", |row| monitors[row].value)?
        .finish()
}

/// Call stacks.
pub(super) fn stack_frames(tables: &Tables, rows: Range<usize>) -> PolarsResult<DataFrame> {
    let frames = &tables.stack_frames;
    Frame::of(tables, rows)
        .add("call_id", |row| frames[row].call)
        .add("depth", |row| frames[row].depth)
        .text("name", |row| frames[row].name)?
        .finish()
}
