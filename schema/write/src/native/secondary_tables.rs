//! The tables beside ops and calls.

use super::import::TraceImport;
use super::layout::Table;
use super::lookup::Lookup;
use super::piece::Numbers;
use super::rows::{address, memcpy_kind};
use super::writer::NativeWriter;
use crate::btree::Datum;
use rtl_schema::table::{Allocation, ApiLaunch, MemoryEvent, Monitor, Span};
use rtl_schema::{NameId, Result, Tables};

/// A text that stands in its row.
fn words(tables: &Tables, name: NameId) -> Datum<'_> {
    if name.is_some() { tables.strings.get(name).into() } else { Datum::Null }
}

impl TraceImport {
    /// Writes launches and copies of calls.
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

    /// Writes counters, monitors, stack frames, allocations, memory events and spans.
    pub(super) fn secondary_tables(
        &self,
        writer: &mut NativeWriter,
        piece: &Tables,
        lookup: &Lookup,
    ) -> Result<()> {
        for row in &piece.counters {
            // Where only a part of the dispatches is written, counters of others belong to none.
            let Some(op) = self.dispatched(row.process, row.dispatch) else { continue };
            let cells = [
                row.value.into(),
                op.into(),
                lookup.text(row.name).map(|text| text.0).into(),
                lookup.places.pid(row.process).into(),
                row.agent.and_then(|agent| lookup.places.gpu(agent)).into(),
            ];
            writer.row(Table::Counter, &cells)?;
        }
        for row in &piece.monitors {
            let cells = [
                words(piece, row.device_kind),
                watched(lookup, piece, row).into(),
                words(piece, row.name),
                lookup.file_time(row.start).into(),
                lookup.file_time(row.end).into(),
                words(piece, row.value),
            ];
            writer.row(Table::Monitor, &cells)?;
        }
        for row in &piece.stack_frames {
            let call = self.calls.get(0, row.call);
            let name = lookup.text(row.name).map(|text| text.0);
            writer.row(Table::Stackframe, &[call.into(), row.depth.into(), name.into()])?;
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
    let groups = |axis: usize| Datum::from(shape.groups.map(|groups| groups[axis] as i64));
    let group = |axis: usize| Datum::from(shape.workgroup.map(|group| i64::from(group[axis])));
    let cells = [
        words(piece, row.stream),
        groups(0),
        groups(1),
        groups(2),
        group(0),
        group(1),
        group(2),
        shape.lds.map(i64::from).into(),
        shape.scratch.map(i64::from).into(),
        lookup.text(row.kernel).map(|text| text.0).into(),
    ];
    writer.row_at(Table::Kernelapi, call, &cells)
}

fn copy(writer: &mut NativeWriter, piece: &Tables, call: i64, row: &ApiLaunch) -> Result<()> {
    let (to, from) = row.addresses.map(|(to, from)| (address(to), address(from))).unzip();
    let (width, height) = row.extent.unzip();
    let (to_device, from_device) = row.devices.unzip();
    let cells = [
        words(piece, row.stream),
        row.bytes.map(|bytes| bytes as i64).into(),
        to.as_deref().into(),
        from.as_deref().into(),
        memcpy_kind(row.direction).into(),
        i64::from(row.sync).into(),
        width.map(|width| width as i64).into(),
        height.map(|height| height as i64).into(),
        to_device.into(),
        from_device.into(),
        i64::from(row.pinned).into(),
    ];
    writer.row_at(Table::Copyapi, call, &cells)
}

/// The number of what a monitor watched.
fn watched(lookup: &Lookup, piece: &Tables, row: &Monitor) -> i64 {
    let renumbered = lookup.mapping.as_ref().filter(|_| row.is_gpu(&piece.strings));
    renumbered.and_then(|mapping| mapping.monitor_devices.get(&row.device)).copied().unwrap_or(row.device)
}

fn allocation(lookup: &Lookup, writer: &mut NativeWriter, row: &Allocation) -> Result<()> {
    let cells = [
        lookup.places.pid(row.process).into(),
        row.tid.into(),
        row.agent.and_then(|agent| lookup.places.gpu(agent)).into(),
        row.queue.into(),
        row.stream.into(),
        row.kind.label().into(),
        row.level.label().into(),
        lookup.file_time(row.start).into(),
        lookup.end(row.start, row.duration).into(),
        row.address.map(|address| address as i64).into(),
        (row.bytes as i64).into(),
        row.flags.into(),
        row.correlation.into(),
    ];
    writer.row(Table::Allocation, &cells)?;
    Ok(())
}

fn memory_event(lookup: &Lookup, writer: &mut NativeWriter, row: &MemoryEvent) -> Result<()> {
    let size = |bytes: Option<u64>| Datum::from(bytes.map(|bytes| bytes as i64));
    let cells = [
        lookup.file_time(row.time).into(),
        row.bytes.into(),
        row.agent.and_then(|agent| lookup.places.gpu(agent)).into(),
        size(row.allocated),
        size(row.reserved),
        size(row.address),
        row.tid.into(),
        lookup.places.pid(row.process).into(),
    ];
    writer.row(Table::MemoryEvent, &cells)?;
    Ok(())
}

fn span(lookup: &Lookup, writer: &mut NativeWriter, row: &Span) -> Result<()> {
    let cells = [
        row.kind.label().into(),
        lookup.text(row.name).map(|text| text.0).into(),
        lookup.file_time(row.start).into(),
        row.duration.into(),
        row.agent.and_then(|agent| lookup.places.gpu(agent)).into(),
        row.stream.into(),
        lookup.places.pid(row.process).into(),
    ];
    writer.row(Table::Span, &cells)?;
    Ok(())
}
