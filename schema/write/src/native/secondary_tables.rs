//! The tables beside ops and calls. They are small, so their rows are written at once, without a block.

use super::import::TraceImport;
use super::layout::Table;
use super::lookup::Lookup;
use super::piece::Numbers;
use super::rows::{address, memcpy_kind};
use super::writer::NativeWriter;
use crate::btree::Datum;
use rtl_schema::table::{Allocation, ApiLaunch, Counter, MemoryEvent, Monitor, Shape, Span, StackFrame};
use rtl_schema::{NameId, Result, Tables};

/// A text that stands in its row, not as an id.
fn words(tables: &Tables, name: NameId) -> Datum<'_> {
    if name.is_some() { tables.strings.get(name).into() } else { Datum::Null }
}

impl TraceImport {
    pub(super) fn launches(
        &self,
        writer: &mut NativeWriter,
        piece: &Tables,
        numbers: &Numbers,
    ) -> Result<()> {
        for row in &piece.api_calls.launches {
            let call = numbers.before[Table::Api as usize] + 1 + i64::from(row.call);
            if row.kernel != NameId::NONE || row.shape.is_some() {
                kernel(&numbers.lookup, writer, piece, call, row)?;
            } else {
                copy(writer, piece, call, row)?;
            }
        }
        Ok(())
    }

    pub(super) fn secondary_tables(
        &self,
        writer: &mut NativeWriter,
        piece: &Tables,
        lookup: &Lookup,
    ) -> Result<()> {
        for &Counter { dispatch, process, agent, name, value } in &piece.counters {
            // Where only a part of the dispatches is written, counters of others belong to none.
            let Some(op) = self.dispatched(process, dispatch) else { continue };
            let cells = [
                value.into(),
                op.into(),
                lookup.text(name).map(|text| text.0).into(),
                lookup.places.pid(process).into(),
                agent.and_then(|agent| lookup.places.gpu(agent)).into(),
            ];
            writer.row(Table::Counter, &cells)?;
        }
        for row in &piece.monitors {
            let &Monitor { id: _, device_kind, device: _, name, start, end, value } = row;
            let cells = [
                words(piece, device_kind),
                watched(lookup, piece, row).into(),
                words(piece, name),
                lookup.file_time(start).into(),
                lookup.file_time(end).into(),
                words(piece, value),
            ];
            writer.row(Table::Monitor, &cells)?;
        }
        for &StackFrame { call, depth, name } in &piece.stack_frames {
            let call = self.calls.get(0, call);
            let name = lookup.text(name).map(|text| text.0);
            writer.row(Table::Stackframe, &[call.into(), depth.into(), name.into()])?;
        }
        for row in &piece.allocations {
            allocation(lookup, writer, row)?;
        }
        for row in &piece.memory_events {
            memory_event(lookup, writer, row)?;
        }
        for row in &piece.spans {
            span(lookup, writer, row)?;
        }
        writer.opaque_tables.extend(piece.opaque_tables.iter().cloned());
        Ok(())
    }
}

fn kernel(
    lookup: &Lookup,
    writer: &mut NativeWriter,
    piece: &Tables,
    call: i64,
    row: &ApiLaunch,
) -> Result<()> {
    let shape = row.shape.map(|shape| lookup.shape(shape)).unwrap_or_default();
    let Shape { workgroup, items: _, groups, lds, scratch } = shape;
    let groups = |axis: usize| Datum::from(groups.map(|groups| groups[axis] as i64));
    let group = |axis: usize| Datum::from(workgroup.map(|group| i64::from(group[axis])));
    let cells = [
        words(piece, row.stream),
        groups(0),
        groups(1),
        groups(2),
        group(0),
        group(1),
        group(2),
        lds.map(i64::from).into(),
        scratch.map(i64::from).into(),
        lookup.text(row.kernel).map(|text| text.0).into(),
    ];
    writer.row_at(Table::Kernelapi, call, &cells)
}

fn copy(writer: &mut NativeWriter, piece: &Tables, call: i64, row: &ApiLaunch) -> Result<()> {
    let &ApiLaunch {
        call: _,
        kernel: _,
        shape: _,
        stream,
        bytes,
        extent,
        direction,
        addresses,
        devices,
        sync,
        pinned,
    } = row;
    let (to, from) = addresses.map(|(to, from)| (address(to), address(from))).unzip();
    let (width, height) = extent.unzip();
    let (to_device, from_device) = devices.unzip();
    let cells = [
        words(piece, stream),
        bytes.map(|bytes| bytes as i64).into(),
        to.as_deref().into(),
        from.as_deref().into(),
        memcpy_kind(direction).into(),
        i64::from(sync).into(),
        width.map(|width| width as i64).into(),
        height.map(|height| height as i64).into(),
        to_device.into(),
        from_device.into(),
        i64::from(pinned).into(),
    ];
    writer.row_at(Table::Copyapi, call, &cells)
}

fn watched(lookup: &Lookup, piece: &Tables, row: &Monitor) -> i64 {
    let renumbered = lookup.mapping.as_ref().filter(|_| row.is_gpu(&piece.strings));
    renumbered.and_then(|mapping| mapping.monitor_devices.get(&row.device)).copied().unwrap_or(row.device)
}

fn allocation(lookup: &Lookup, writer: &mut NativeWriter, row: &Allocation) -> Result<()> {
    let &Allocation {
        id: _,
        process,
        tid,
        agent,
        queue,
        stream,
        kind,
        level,
        start,
        duration,
        address,
        bytes,
        flags,
        correlation,
    } = row;
    let cells = [
        lookup.places.pid(process).into(),
        tid.into(),
        agent.and_then(|agent| lookup.places.gpu(agent)).into(),
        queue.into(),
        stream.into(),
        kind.label().into(),
        level.label().into(),
        lookup.file_time(start).into(),
        lookup.end(start, duration).into(),
        address.map(|address| address as i64).into(),
        (bytes as i64).into(),
        flags.into(),
        correlation.into(),
    ];
    writer.row(Table::Allocation, &cells)?;
    Ok(())
}

fn memory_event(lookup: &Lookup, writer: &mut NativeWriter, row: &MemoryEvent) -> Result<()> {
    let &MemoryEvent { id: _, process, tid, agent, time, address, bytes, allocated, reserved } = row;
    let size = |bytes: Option<u64>| Datum::from(bytes.map(|bytes| bytes as i64));
    let cells = [
        lookup.file_time(time).into(),
        bytes.into(),
        agent.and_then(|agent| lookup.places.gpu(agent)).into(),
        size(allocated),
        size(reserved),
        size(address),
        tid.into(),
        lookup.places.pid(process).into(),
    ];
    writer.row(Table::MemoryEvent, &cells)?;
    Ok(())
}

fn span(lookup: &Lookup, writer: &mut NativeWriter, row: &Span) -> Result<()> {
    let &Span { id: _, kind, process, agent, stream, name, start, duration } = row;
    let cells = [
        kind.label().into(),
        lookup.text(name).map(|text| text.0).into(),
        lookup.file_time(start).into(),
        duration.into(),
        agent.and_then(|agent| lookup.places.gpu(agent)).into(),
        stream.into(),
        lookup.places.pid(process).into(),
    ];
    writer.row(Table::Span, &cells)?;
    Ok(())
}
