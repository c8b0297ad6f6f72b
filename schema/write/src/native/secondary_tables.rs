//! The tables beside ops and calls.

use super::import::TraceImport;
use super::layout::Table;
use super::rows::{address, memcpy_kind};
use super::writer::NativeWriter;
use crate::btree::Datum;
use rtl_schema::table::{Allocation, ApiLaunch, Collective, MemoryEvent, Monitor, Span};
use rtl_schema::{NameId, Result, Tables};

/// A text that stands in its row.
fn words(tables: &Tables, name: NameId) -> Datum<'_> {
    if name.is_some() { tables.strings.get(name).into() } else { Datum::Null }
}

impl TraceImport {
    /// Writes arguments, launches and copies of calls; `id` maps a row of the piece to its call.
    pub(super) fn call_details(
        &self,
        writer: &mut NativeWriter,
        piece: &Tables,
        id: impl Fn(u32) -> i64,
    ) -> Result<()> {
        for row in &piece.api_calls.arguments {
            let text = |name| Datum::from(self.text(name).map(|text| text.0));
            let (call, position) = (id(row.call), i64::from(row.position));
            let cells = [call.into(), position.into(), text(row.kind), text(row.name), text(row.value)];
            writer.row(Table::Arg, &cells)?;
        }
        for row in &piece.api_calls.launches {
            if row.kernel != NameId::NONE || row.shape.is_some() {
                kernel(self, writer, piece, id(row.call), row)?;
            } else {
                copy(writer, piece, id(row.call), row)?;
            }
        }
        Ok(())
    }

    /// Writes counters, monitors, stack frames, allocations, memory events and spans.
    pub(super) fn secondary_tables(&self, writer: &mut NativeWriter, piece: &Tables) -> Result<()> {
        for row in &piece.counters {
            // Where only a part of the dispatches is written, counters of others belong to none.
            let Some(op) = self.dispatched(piece, row.process, row.dispatch) else { continue };
            let cells = [
                row.value.into(),
                op.into(),
                self.text(row.name).map(|text| text.0).into(),
                self.places.pid(row.process).into(),
                row.agent.and_then(|agent| self.places.gpu(agent)).into(),
            ];
            writer.row(Table::Counter, &cells)?;
        }
        for row in &piece.monitors {
            let cells = [
                words(piece, row.device_kind),
                watched(self, piece, row).into(),
                words(piece, row.name),
                self.file_time(row.start).into(),
                self.file_time(row.end).into(),
                words(piece, row.value),
            ];
            writer.row(Table::Monitor, &cells)?;
        }
        for row in &piece.stack_frames {
            let call = self.calls.get(0, row.call);
            let name = self.text(row.name).map(|text| text.0);
            writer.row(Table::Stackframe, &[call.into(), row.depth.into(), name.into()])?;
        }
        for row in &piece.allocations {
            allocation(self, writer, row)?;
        }
        for row in &piece.memory_events {
            memory_event(self, writer, row)?;
        }
        for row in &piece.spans {
            span(self, writer, row)?;
        }
        writer.opaque_tables.extend(piece.opaque_tables.iter().cloned());
        Ok(())
    }

    /// Writes operators and Python frames.
    pub(super) fn operators(&self, writer: &mut NativeWriter, piece: &Tables) -> Result<()> {
        let text = |name| Datum::from(self.text(name).map(|text| text.0));
        for row in piece.operators.iter() {
            let cells = [
                self.file_time(row.start).into(),
                row.duration.into(),
                text(row.name),
                row.tid.into(),
                text(row.shapes),
                text(row.types),
                row.sequence.map(i64::from).into(),
                Some(row.forward_thread).filter(|&thread| thread != 0).map(i64::from).into(),
                self.places.pid(row.process).into(),
                text(row.strides),
                text(row.values),
            ];
            writer.row(Table::Operator, &cells)?;
        }
        for row in piece.python_frames.iter() {
            let cells = [
                self.file_time(row.start).into(),
                row.duration.into(),
                text(row.name),
                row.tid.into(),
                row.number.map(i64::from).into(),
                row.caller.map(i64::from).into(),
                row.module.map(i64::from).into(),
                self.places.pid(row.process).into(),
            ];
            writer.row(Table::PythonFrame, &cells)?;
        }
        Ok(())
    }

    /// Writes what a framework states of the collective that an op executes.
    pub(super) fn collective(&self, writer: &mut NativeWriter, op: i64, row: Collective) -> Result<()> {
        let text = |name| Datum::from(self.text(name).map(|text| text.0));
        let elements = |count: Option<u64>| Datum::from(count.map(|count| count as i64));
        let cells = [
            text(row.operation),
            text(row.communicator),
            text(row.ranks),
            row.size.map(i64::from).into(),
            text(row.data_type),
            elements(row.sent),
            elements(row.received),
            row.sequence.map(i64::from).into(),
        ];
        writer.row_at(Table::Collective, op, &cells)
    }
}

fn kernel(
    import: &TraceImport,
    writer: &mut NativeWriter,
    piece: &Tables,
    call: i64,
    row: &ApiLaunch,
) -> Result<()> {
    let shape = row.shape.map(|shape| piece.shapes.get(shape)).unwrap_or_default();
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
        import.text(row.kernel).map(|text| text.0).into(),
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
fn watched(import: &TraceImport, piece: &Tables, row: &Monitor) -> i64 {
    let renumbered = import.mapping.as_ref().filter(|_| row.is_gpu(&piece.strings));
    renumbered.and_then(|mapping| mapping.monitor_devices.get(&row.device)).copied().unwrap_or(row.device)
}

fn allocation(import: &TraceImport, writer: &mut NativeWriter, row: &Allocation) -> Result<()> {
    let cells = [
        import.places.pid(row.process).into(),
        row.tid.into(),
        row.agent.and_then(|agent| import.places.gpu(agent)).into(),
        row.queue.into(),
        row.stream.into(),
        row.kind.label().into(),
        row.level.label().into(),
        import.file_time(row.start).into(),
        import.end(row.start, row.duration).into(),
        row.address.map(|address| address as i64).into(),
        (row.bytes as i64).into(),
        row.flags.into(),
        row.correlation.into(),
    ];
    writer.row(Table::Allocation, &cells)?;
    Ok(())
}

fn memory_event(import: &TraceImport, writer: &mut NativeWriter, row: &MemoryEvent) -> Result<()> {
    let size = |bytes: Option<u64>| Datum::from(bytes.map(|bytes| bytes as i64));
    let cells = [
        import.file_time(row.time).into(),
        row.bytes.into(),
        row.agent.and_then(|agent| import.places.gpu(agent)).into(),
        size(row.allocated),
        size(row.reserved),
        size(row.address),
        row.tid.into(),
        import.places.pid(row.process).into(),
    ];
    writer.row(Table::MemoryEvent, &cells)?;
    Ok(())
}

fn span(import: &TraceImport, writer: &mut NativeWriter, row: &Span) -> Result<()> {
    let cells = [
        row.kind.label().into(),
        import.text(row.name).map(|text| text.0).into(),
        import.file_time(row.start).into(),
        row.duration.into(),
        row.agent.and_then(|agent| import.places.gpu(agent)).into(),
        row.stream.into(),
        import.places.pid(row.process).into(),
    ];
    writer.row(Table::Span, &cells)?;
    Ok(())
}
