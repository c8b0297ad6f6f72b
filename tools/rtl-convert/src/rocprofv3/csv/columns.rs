//! The columns of each file, by rocprofv3's names and in its order: one line declares a column and its value.

use rtl_schema::NameId;
use rtl_schema::table::{Allocation, Copy, Shape};

use super::file::{Columns, CsvRow};
use super::stats;
use crate::names::{NameStyle, RenderCache};
use crate::rocprofv3::devices::Device;
use crate::rocprofv3::kinds::{self, KINDS};
use crate::rocprofv3::visitor::{Launch, Record};

/// The hardware allocates LDS in blocks of this many bytes.
const LDS_BLOCK: u64 = 512;

/// Launch shapes whose cells are kept; a trace with more shapes has few dispatches of each.
const KEPT_SHAPES: usize = 1 << 16;

/// Cells that many rows share.
#[derive(Default)]
pub(super) struct Shared {
    pub(super) names: NameStyle,
    tracks: RenderCache,
    kernels: RenderCache,
    registers: RenderCache,
    shapes: RenderCache,
}

impl Shared {
    pub(super) fn new(names: NameStyle) -> Self {
        Self { names, ..Self::default() }
    }
}

/// A row of `kernel_trace`.
pub(super) struct KernelRow<'a>(
    pub(super) &'a Record<'a>,
    pub(super) &'a Launch<'a>,
    pub(super) &'a mut Shared,
);

impl CsvRow for KernelRow<'_> {
    #[inline]
    fn columns(&mut self, out: &mut impl Columns) {
        let Self(record, launch, shared) = self;
        out.cached(&mut shared.tracks, launch.row.track.index(), |out| {
            let track = record.tables.tracks.get(launch.row.track);
            out.text("Kind", "KERNEL_DISPATCH");
            out.text("Agent_Id", &label(record.state.devices.get(track.agent)));
            out.number("Queue_Id", Some(track.queue as u64));
            out.number("Stream_Id", track.stream);
        });
        out.number("Thread_Id", record.tid);
        out.number("Dispatch_Id", Some(launch.number));
        kernel(record, launch, shared, out);
        out.number("Correlation_Id", Some(record.correlation));
        times(record, out);
        let shape = launch.shape(record.tables);
        resources(record, launch, &shape, shared, out);
        let sizes = |out: &mut _| sizes(&shape, out);
        match launch.row.shape.map_or(0, |shape| shape.index() + 1) {
            place if place < KEPT_SHAPES => out.cached(&mut shared.shapes, place, sizes),
            _ => sizes(out),
        }
    }
}

/// A row of `counter_collection`: the sum of a counter's instances.
pub(super) struct CounterRow<'a> {
    pub(super) record: &'a Record<'a>,
    pub(super) launch: &'a Launch<'a>,
    pub(super) counter: NameId,
    pub(super) sum: f64,
    pub(super) shared: &'a mut Shared,
}

impl CsvRow for CounterRow<'_> {
    fn columns(&mut self, out: &mut impl Columns) {
        let Self { record, launch, shared, .. } = self;
        let track = record.tables.tracks.get(launch.row.track);
        let shape = launch.shape(record.tables);
        let product = |axes: [u64; 3]| axes.iter().product::<u64>() as i64;
        out.number("Correlation_Id", Some(record.correlation));
        out.number("Dispatch_Id", Some(launch.number));
        out.text("Agent_Id", &label(record.state.devices.get(track.agent)));
        out.number("Queue_Id", Some(track.queue));
        out.number("Process_Id", record.tables.process(record.process).pid);
        out.number("Thread_Id", record.tid);
        out.number("Grid_Size", shape.items.map(product));
        kernel(record, launch, shared, out);
        out.number("Workgroup_Size", shape.workgroup.map(|axes| product(axes.map(u64::from))));
        resources(record, launch, &shape, shared, out);
        out.text("Counter_Name", record.tables.strings.get(self.counter));
        out.plain("Counter_Value", &stats::counter(self.sum));
        times(record, out);
    }
}

/// A row of `memory_copy_trace`.
pub(super) struct CopyRow<'a>(pub(super) &'a Record<'a>, pub(super) &'a Copy);

impl CsvRow for CopyRow<'_> {
    fn columns(&mut self, out: &mut impl Columns) {
        let Self(record, copy) = self;
        let [source, destination] = record.state.devices.ends(copy, record.tables).map(label);
        out.text("Kind", KINDS[usize::from(record.kind)]);
        out.text("Direction", kinds::operations(record.kind)[record.operation]);
        out.number("Stream_Id", record.stream);
        out.text("Source_Agent_Id", &source);
        out.text("Destination_Agent_Id", &destination);
        out.number("Correlation_Id", Some(record.correlation));
        times(record, out);
    }
}

/// A row of `*_api_trace`: a call, range or marker of that name.
pub(super) struct CallRow<'a>(pub(super) &'a Record<'a>, pub(super) NameId);

impl CsvRow for CallRow<'_> {
    fn columns(&mut self, out: &mut impl Columns) {
        let Self(record, name) = self;
        out.text("Domain", KINDS[usize::from(record.kind)]);
        out.text("Function", record.tables.strings.get(*name));
        out.number("Process_Id", record.tables.process(record.process).pid);
        out.number("Thread_Id", record.tid);
        out.number("Correlation_Id", Some(record.correlation));
        times(record, out);
    }
}

/// A row of `memory_allocation_trace`.
pub(super) struct AllocationRow<'a>(pub(super) &'a Record<'a>, pub(super) &'a Allocation);

impl CsvRow for AllocationRow<'_> {
    fn columns(&mut self, out: &mut impl Columns) {
        let Self(record, allocation) = self;
        operation(record, allocation, out);
        out.number("Allocation_Size", Some(allocation.bytes));
        let address = allocation.address.map(|address| format!("{address:#018x}"));
        out.text("Address", &address.unwrap_or_default());
        out.number("Correlation_Id", Some(record.correlation));
        times(record, out);
    }
}

/// A row of `scratch_memory_trace`.
pub(super) struct ScratchRow<'a>(pub(super) &'a Record<'a>, pub(super) &'a Allocation);

impl CsvRow for ScratchRow<'_> {
    fn columns(&mut self, out: &mut impl Columns) {
        let Self(record, allocation) = self;
        operation(record, allocation, out);
        out.number("Queue_Id", allocation.queue);
        out.number("Thread_Id", record.tid);
        out.number("Alloc_Flags", allocation.flags);
        times(record, out);
        out.number("Allocation_Size", Some(allocation.bytes));
    }
}

#[inline]
fn times(record: &Record<'_>, out: &mut impl Columns) {
    out.number("Start_Timestamp", Some(record.start));
    out.number("End_Timestamp", Some(record.end));
}

#[inline]
fn kernel(record: &Record<'_>, launch: &Launch<'_>, shared: &mut Shared, out: &mut impl Columns) {
    let names = shared.names;
    out.cached(&mut shared.kernels, launch.position, |out| {
        out.number("Kernel_Id", Some(launch.kernel.id));
        out.text("Kernel_Name", &launch.kernel.names(record.tables, names).shown);
    });
}

/// LDS is that of the kernel's symbol, as rocprofv3 shows it, or that of the launch.
#[inline]
fn resources(
    record: &Record<'_>,
    launch: &Launch<'_>,
    shape: &Shape,
    shared: &mut Shared,
    out: &mut impl Columns,
) {
    let symbol = launch.kernel.symbol.map(|symbol| &record.tables.symbols[symbol.index()]);
    let lds = symbol.and_then(|symbol| symbol.lds).or(shape.lds);
    out.number("LDS_Block_Size", lds.map(|bytes| u64::from(bytes).next_multiple_of(LDS_BLOCK)));
    out.number("Scratch_Size", shape.scratch);
    out.cached(&mut shared.registers, launch.position, |out| {
        out.number("VGPR_Count", symbol.and_then(|symbol| symbol.vgprs));
        out.number("Accum_VGPR_Count", symbol.and_then(|symbol| symbol.agprs));
        out.number("SGPR_Count", symbol.and_then(|symbol| symbol.sgprs));
    });
}

fn sizes(shape: &Shape, out: &mut impl Columns) {
    for (axis, name) in ["Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"].into_iter().enumerate() {
        out.number(name, shape.workgroup.map(|axes| axes[axis]));
    }
    for (axis, name) in ["Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"].into_iter().enumerate() {
        out.number(name, shape.items.map(|axes| axes[axis]));
    }
}

fn operation(record: &Record<'_>, allocation: &Allocation, out: &mut impl Columns) {
    out.text("Kind", KINDS[usize::from(record.kind)]);
    out.text("Operation", kinds::operations(record.kind)[record.operation]);
    out.text("Agent_Id", &label(allocation.agent.and_then(|agent| record.state.devices.get(agent))));
}

/// The name of an agent; empty where it is unknown.
fn label(device: Option<&Device>) -> String {
    device.map_or(String::new(), |device| format!("Agent {}", device.logical))
}
