//! rocprofv3's set of CSV files: a file for each kind of record that there is, and the stats of each.

mod agents;
mod columns;
mod file;
mod process_files;
mod stats;

use std::io;
use std::path::Path;

use rtl_schema::table::{Allocation, Copy, Counter, Dispatch, Range, Shape};
use rtl_schema::{NameId, ProcessId, ShapeId, Tables, TrackId};
use tempfile::NamedTempFile;

use self::columns::{ALLOCATIONS, CALLS, COPIES, COUNTERS, KERNELS, SCRATCH};
use self::file::{CsvFile, cell, quoted};
use self::process_files::{KernelCells, ProcessFiles};
use super::devices::{Device, Devices};
use super::kernels::Kernel;
use super::kinds::{self, KINDS, List};
use super::visitor::{Call, RecordSink, RecordVisitor};
use crate::names::NameStyle;

/// Files with what they hold: `kernel_trace`.
pub type NamedFiles = Vec<(String, NamedTempFile)>;

/// The files of a conversion.
pub struct Csv<'a> {
    folder: &'a Path,
    names: NameStyle,
    processes: Vec<Option<Box<ProcessFiles>>>,
}

/// LDS is allotted in blocks of so many bytes.
const LDS_BLOCK: u64 = 512;

/// Launch shapes of which the cells are kept.
const KEPT_SHAPES: usize = 1 << 16;

impl<'a> Csv<'a> {
    /// Nothing yet; files are made in `folder`.
    pub fn new(folder: &'a Path, names: NameStyle) -> Self {
        Self { folder, names, processes: Vec::new() }
    }

    fn set(&mut self, id: ProcessId, tables: &Tables) -> &mut ProcessFiles {
        if self.processes.len() <= id.index() {
            self.processes.resize_with(id.index() + 1, || None);
        }
        let names = self.names;
        let set = self.processes[id.index()]
            .get_or_insert_with(|| Box::new(ProcessFiles { names, ..ProcessFiles::default() }));
        set.devices.register(id, tables);
        set
    }

    /// The complete files of each process with what they hold (`kernel_trace`); of a trace without rows the agents.
    ///
    /// # Errors
    /// Where a file cannot grow.
    pub fn finish(
        mut self,
        visitor: &RecordVisitor,
        tables: &Tables,
    ) -> io::Result<Vec<(ProcessId, NamedFiles)>> {
        if self.processes.iter().all(Option::is_none) {
            self.set(ProcessId(0), tables);
        }
        let folder = self.folder;
        let sets = (0..).map(ProcessId).zip(self.processes).filter_map(|(id, set)| Some((id, set?)));
        sets.map(|(id, set)| Ok((id, set.finish(id, folder, visitor, tables)?))).collect()
    }
}

/// The file of a list's records.
fn trace_of(list: List) -> &'static str {
    match list {
        List::Hip => "hip_api_trace",
        List::Hsa => "hsa_api_trace",
        List::Marker => "marker_api_trace",
        List::Rccl => "rccl_api_trace",
        List::Decode => "rocdecode_api_trace",
        List::Jpeg => "rocjpeg_api_trace",
        List::Other => "other_api_trace",
    }
}

/// What a row calls an agent; empty where it is unknown.
fn label(device: Option<&Device>) -> String {
    device.map_or(String::new(), |device| format!("Agent {}", device.logical))
}

/// A number of an operation in the place of a name.
fn operation_name(operation: usize) -> NameId {
    NameId(operation as u32)
}

impl RecordSink for Csv<'_> {
    fn calls(
        &mut self,
        id: ProcessId,
        list: List,
        calls: &mut dyn Iterator<Item = Call>,
        tables: &Tables,
    ) -> io::Result<()> {
        let folder = self.folder;
        let pid = tables.process(id).pid;
        let set = self.set(id, tables);
        for Call { call, end, kind, .. } in calls {
            set.count(list.name(), kind, call.name, end - call.start);
            let sheet = set.sheet(trace_of(list), &CALLS, folder)?;
            let mut row = sheet.row();
            row.text(KINDS[usize::from(kind)]);
            row.text(tables.strings.get(call.name));
            row.known(pid);
            row.known(call.tid);
            row.number(call.correlation);
            row.number(call.start);
            row.number(end);
            row.end();
            sheet.flush_if_full()?;
        }
        Ok(())
    }

    #[inline]
    fn dispatch(
        &mut self,
        dispatch: &Dispatch,
        end: i64,
        (position, kernel): (usize, &Kernel),
        tables: &Tables,
    ) -> io::Result<()> {
        let folder = self.folder;
        let set = self.set(tables.tracks.get(dispatch.track).process, tables);
        set.kernel(position, kernel, tables);
        set.kernel_stats[position].add(end - dispatch.start);
        set.dispatched += 1;
        let number = if dispatch.id == 0 { set.dispatched } else { dispatch.id };
        let sheet = match &mut set.kernels {
            Some(sheet) => sheet,
            none => none.insert(CsvFile::create(folder, &KERNELS)?),
        };
        let cells = &set.kernel_cells[position];
        let devices = &set.devices;
        let mut row = sheet.row();
        row.plain(set.track_cells.get(dispatch.track.index(), |bytes| {
            track_cells(dispatch.track, devices, tables, bytes);
        }));
        row.known(dispatch.tid);
        row.number(number);
        row.plain(&cells.name);
        row.number(dispatch.correlation);
        row.number(dispatch.start);
        row.number(end);
        let shape = shape(dispatch.shape, tables);
        row.known(lds(cells, &shape));
        row.known(shape.scratch.map(i64::from));
        row.plain(&cells.registers);
        match dispatch.shape.map_or(0, |shape| shape.index() + 1) {
            place if place < KEPT_SHAPES => {
                row.plain(set.shape_cells.get(place, |bytes| shape_cells(&shape, bytes)));
            }
            _ => shape_cells(&shape, row.bytes),
        }
        row.end();
        sheet.flush_if_full()
    }

    fn copy(&mut self, copy: &Copy, end: i64, tables: &Tables) -> io::Result<()> {
        let folder = self.folder;
        let track = tables.tracks.get(copy.track);
        let set = self.set(track.process, tables);
        let operation = kinds::copy_operation(copy.direction);
        set.count("memory_copy", kinds::MEMORY_COPY, operation_name(operation), end - copy.start);
        let [source, destination] = set.devices.ends(copy, tables).map(label);
        let sheet = set.sheet("memory_copy_trace", &COPIES, folder)?;
        let mut row = sheet.row();
        row.text("MEMORY_COPY");
        row.text(kinds::operations(kinds::MEMORY_COPY)[operation]);
        row.known(track.stream);
        row.text(&source);
        row.text(&destination);
        row.number(copy.correlation);
        row.number(copy.start);
        row.number(end);
        row.end();
        sheet.flush_if_full()
    }

    fn range(&mut self, range: &Range, end: i64, tables: &Tables) -> io::Result<()> {
        let folder = self.folder;
        let pid = tables.process(range.process).pid;
        let set = self.set(range.process, tables);
        set.count("marker_api", kinds::MARKER_RANGE, range.name, end - range.start);
        let sheet = set.sheet("marker_api_trace", &CALLS, folder)?;
        let mut row = sheet.row();
        row.text(KINDS[usize::from(kinds::MARKER_RANGE)]);
        row.text(tables.strings.get(range.name));
        row.known(pid);
        row.known(range.tid);
        row.number(range.correlation);
        row.number(range.start);
        row.number(end);
        row.end();
        sheet.flush_if_full()
    }

    fn allocation(&mut self, allocation: &Allocation, end: i64, tables: &Tables) -> io::Result<()> {
        let folder = self.folder;
        let set = self.set(allocation.process, tables);
        let (kind, operation) = kinds::allocation_operation(allocation);
        let scratch = kind == kinds::SCRATCH_MEMORY;
        let domain = if scratch { "scratch_memory" } else { "memory_allocation" };
        set.count(domain, kind, operation_name(operation), end - allocation.start);
        let agent = label(allocation.agent.and_then(|agent| set.devices.get(agent)));
        let sheet = match scratch {
            true => set.sheet("scratch_memory_trace", &SCRATCH, folder)?,
            false => set.sheet("memory_allocation_trace", &ALLOCATIONS, folder)?,
        };
        let mut row = sheet.row();
        row.text(KINDS[usize::from(kind)]);
        row.text(kinds::operations(kind)[operation]);
        row.text(&agent);
        if scratch {
            row.known(allocation.queue);
            row.known(allocation.tid);
            row.known(allocation.flags);
            row.number(allocation.start);
            row.number(end);
            row.plain(format!("{},", allocation.bytes).as_bytes());
        } else {
            row.plain(format!("{},", allocation.bytes).as_bytes());
            row.text(&allocation.address.map_or(String::new(), |address| format!("{address:#018x}")));
            row.number(allocation.correlation);
            row.number(allocation.start);
            row.number(end);
        }
        row.end();
        sheet.flush_if_full()
    }

    /// The instances of a counter add up to one row.
    fn counters(
        &mut self,
        dispatch: &Dispatch,
        end: i64,
        (position, kernel): (usize, &Kernel),
        values: &[Counter],
        tables: &Tables,
    ) -> io::Result<()> {
        let folder = self.folder;
        let track = tables.tracks.get(dispatch.track);
        let pid = tables.process(track.process).pid;
        let set = self.set(track.process, tables);
        let agent = label(set.devices.get(track.agent));
        let shape = shape(dispatch.shape, tables);
        let cells = set.kernel(position, kernel, tables);
        let (name, registers) = (cells.name.clone(), cells.registers.clone());
        let lds = lds(cells, &shape);
        let product = |axes: Option<[u64; 3]>| axes.map(|axes| axes.iter().product::<u64>() as i64);
        let mut sums: Vec<(NameId, f64)> = Vec::new();
        for value in values {
            match sums.iter_mut().find(|(name, _)| *name == value.name) {
                Some((_, sum)) => *sum += value.value,
                None => sums.push((value.name, value.value)),
            }
        }
        let sheet = set.sheet("counter_collection", &COUNTERS, folder)?;
        for (counter, sum) in sums {
            let mut row = sheet.row();
            row.number(dispatch.correlation);
            row.number(dispatch.id);
            row.text(&agent);
            row.number(track.queue);
            row.known(pid);
            row.known(dispatch.tid);
            row.known(product(shape.items));
            row.plain(&name);
            row.known(product(shape.workgroup.map(|axes| axes.map(u64::from))));
            row.known(lds);
            row.known(shape.scratch.map(i64::from));
            row.plain(&registers);
            row.text(tables.strings.get(counter));
            row.plain(format!("{},", stats::counter(sum)).as_bytes());
            row.number(dispatch.start);
            row.number(end);
            row.end();
        }
        sheet.flush_if_full()
    }
}

fn shape(id: Option<ShapeId>, tables: &Tables) -> Shape {
    id.map_or(Shape::default(), |id| tables.shapes.get(id))
}

/// The LDS of a row: what the kernel was built with, as rocprofv3 shows it, or what the launch asked for.
fn lds(cells: &KernelCells, shape: &Shape) -> Option<i64> {
    let bytes = cells.lds.or(shape.lds.map(u64::from))?;
    Some(bytes.next_multiple_of(LDS_BLOCK) as i64)
}

fn track_cells(track: TrackId, devices: &Devices, tables: &Tables, bytes: &mut Vec<u8>) {
    let track = tables.tracks.get(track);
    quoted("KERNEL_DISPATCH", bytes);
    quoted(&label(devices.get(track.agent)), bytes);
    cell(Some(track.queue as u64), bytes);
    cell(track.stream, bytes);
}

fn shape_cells(shape: &Shape, bytes: &mut Vec<u8>) {
    for axis in 0..3 {
        cell(shape.workgroup.map(|axes| axes[axis]), bytes);
    }
    for axis in 0..3 {
        cell(shape.items.map(|axes| axes[axis]), bytes);
    }
}
