//! rocprofv3's JSON: one file per process, because its readers take only the first process of a file.
//!
//! The records come first and what they refer to (kernels, agents, strings) behind them, where it is known. So nothing
//! is held back: dispatches go straight into the file, and other records, fewer, wait as finished text. What is unknown
//! has no field.

mod process_file;
mod reference_tables;

use std::io;
use std::path::{Path, PathBuf};

use rtl_schema::table::{Allocation, Copy, Counter, Dispatch, Range, Shape};
use rtl_schema::{ProcessId, Tables, TrackId};
use tempfile::NamedTempFile;

use self::process_file::ProcessFile;
use super::kernels::Kernel;
use super::kinds::{self, List};
use super::text::{digits, json, signed};
use super::visitor::{Call, RecordSink, RecordVisitor, text};
use crate::names::RenderCache;

/// Launch shapes of which the text is kept; later ones are few in any trace that has so many.
const KEPT_SHAPES: usize = 1 << 16;

/// The files of a conversion.
pub struct Json<'a> {
    files: Files<'a>,
    /// How a dispatch on a track says where it ran, and how it ends.
    tracks: RenderCache,
    streams: RenderCache,
    shapes: RenderCache,
}

/// A file for each process that has rows.
struct Files<'a> {
    folder: &'a Path,
    compressed: bool,
    processes: Vec<Option<Box<ProcessFile>>>,
}

impl Files<'_> {
    #[inline]
    fn of(&mut self, id: ProcessId, tables: &Tables) -> io::Result<&mut ProcessFile> {
        if self.processes.get(id.index()).is_none_or(Option::is_none) {
            if self.processes.len() <= id.index() {
                self.processes.resize_with(id.index() + 1, || None);
            }
            self.processes[id.index()] = Some(Box::new(ProcessFile::create(self.folder, self.compressed)?));
        }
        let Some(process) = &mut self.processes[id.index()] else {
            return Err(io::Error::other("a process without a file"));
        };
        process.devices.register(id, tables);
        Ok(process)
    }
}

impl<'a> Json<'a> {
    /// Nothing yet; files are made in `folder`.
    pub fn new(folder: &'a Path, compressed: bool) -> Self {
        Self {
            files: Files { folder, compressed, processes: Vec::new() },
            tracks: RenderCache::default(),
            streams: RenderCache::default(),
            shapes: RenderCache::default(),
        }
    }

    /// The complete files with their processes; one of a trace without rows.
    ///
    /// # Errors
    /// Where a file cannot grow.
    pub fn finish(
        mut self,
        visitor: &RecordVisitor,
        tables: &Tables,
    ) -> io::Result<Vec<(ProcessId, NamedTempFile)>> {
        if self.files.processes.iter().all(Option::is_none) {
            self.files.of(ProcessId(0), tables)?;
        }
        let written = (0..).map(ProcessId).zip(self.files.processes);
        let present = written.filter_map(|(id, process)| Some((id, process?)));
        present
            .map(|(id, process)| Ok((id, reference_tables::finish(*process, id, visitor, tables)?)))
            .collect()
    }
}

impl RecordSink for Json<'_> {
    fn calls(
        &mut self,
        id: ProcessId,
        list: List,
        calls: &mut dyn Iterator<Item = Call>,
        tables: &Tables,
    ) -> io::Result<()> {
        let process = self.files.of(id, tables)?;
        let named = &tables.api_calls.arguments;
        for Call { row, call, end, kind, operation } in calls {
            process.extend_span(call.start, end);
            // Calls of roctx that annotate nothing stand between ranges and markers.
            let bytes = match list {
                List::Marker => process.markers.record(),
                _ => process.record(list.name()),
            };
            begin(bytes, 96, kind, operation as usize);
            correlation(call.correlation, Some(call.parent), bytes);
            times(call.start, end, call.tid, bytes);
            let first = named.partition_point(|argument| argument.call < row);
            let own = named[first..].iter().take_while(|argument| argument.call == row);
            if list == List::Hip || call.args.is_some() || named.get(first).is_some_and(|a| a.call == row) {
                bytes.extend_from_slice(b",\"args\":[");
                let mut separator: &[u8] = b"";
                for argument in own {
                    bytes.extend_from_slice(separator);
                    bytes.extend_from_slice(b"{\"type\":");
                    json(text(argument.kind, tables), bytes);
                    bytes.extend_from_slice(b",\"name\":");
                    json(text(argument.name, tables), bytes);
                    if argument.value.is_some() {
                        bytes.extend_from_slice(b",\"value\":");
                        json(text(argument.value, tables), bytes);
                    }
                    bytes.push(b'}');
                    separator = b",";
                }
                // All arguments as one text are one argument without a value.
                if separator.is_empty() && call.args.is_some() {
                    bytes.extend_from_slice(b"{\"type\":\"\",\"name\":");
                    json(text(call.args, tables), bytes);
                    bytes.push(b'}');
                }
                bytes.push(b']');
            }
            if list == List::Hip || call.result != 0 {
                bytes.extend_from_slice(b",\"retval\":{\"uint64_t_retval\":");
                signed(call.result, bytes);
                bytes.push(b'}');
            }
            stream(call.stream, bytes);
            bytes.push(b'}');
            match list {
                List::Marker => process.markers.flush_if_full()?,
                _ => process.flush_if_full()?,
            }
        }
        Ok(())
    }

    #[inline]
    fn dispatch(
        &mut self,
        dispatch: &Dispatch,
        end: i64,
        (_, kernel): (usize, &Kernel),
        tables: &Tables,
    ) -> io::Result<()> {
        let process = self.files.of(tables.tracks.get(dispatch.track).process, tables)?;
        process.extend_span(dispatch.start, end);
        process.dispatched += 1;
        let number = if dispatch.id == 0 { process.dispatched } else { dispatch.id };
        let track = self
            .tracks
            .get(dispatch.track.index(), |bytes| write_track(dispatch.track, process, tables, bytes));
        let bytes = process.record("kernel_dispatch");
        bytes.extend_from_slice(b"{\"size\":184,\"kind\":11,\"operation\":2");
        thread(dispatch.tid, bytes);
        correlation(dispatch.correlation, None, bytes);
        timestamps(dispatch.start, end, bytes);
        bytes.extend_from_slice(track);
        digits(kernel.id as u64, bytes);
        bytes.extend_from_slice(b",\"dispatch_id\":");
        digits(number as u64, bytes);
        let shape = || dispatch.shape.map_or(Shape::default(), |shape| tables.shapes.get(shape));
        match dispatch.shape.map_or(0, |shape| shape.index() + 1) {
            place if place < KEPT_SHAPES => {
                bytes.extend_from_slice(self.shapes.get(place, |bytes| write_shape(&shape(), bytes)));
            }
            _ => write_shape(&shape(), bytes),
        }
        bytes.extend_from_slice(self.streams.get(dispatch.track.index(), |bytes| {
            stream(tables.tracks.get(dispatch.track).stream, bytes);
        }));
        if dispatch.graph {
            bytes.extend_from_slice(b",\"graph_exec_id\":1,\"graph_node_id\":0");
        }
        bytes.push(b'}');
        process.flush_if_full()
    }

    fn copy(&mut self, copy: &Copy, end: i64, tables: &Tables) -> io::Result<()> {
        let track = tables.tracks.get(copy.track);
        let process = self.files.of(track.process, tables)?;
        process.extend_span(copy.start, end);
        let [source, destination] =
            process.devices.ends(copy, tables).map(|device| device.map_or(0, |device| device.handle));
        let bytes = process.copies.record();
        begin(bytes, 96, kinds::MEMORY_COPY, kinds::copy_operation(copy.direction));
        correlation(copy.correlation, None, bytes);
        times(copy.start, end, copy.tid, bytes);
        handle("dst_agent_id", destination, bytes);
        handle("src_agent_id", source, bytes);
        if let Some(size) = copy.bytes {
            bytes.extend_from_slice(b",\"bytes\":");
            digits(size, bytes);
        }
        stream(track.stream, bytes);
        bytes.push(b'}');
        process.copies.flush_if_full()
    }

    fn range(&mut self, range: &Range, end: i64, tables: &Tables) -> io::Result<()> {
        let process = self.files.of(range.process, tables)?;
        process.extend_span(range.start, end);
        let bytes = process.markers.record();
        begin(bytes, 64, kinds::MARKER_RANGE, kinds::range_operation(range));
        correlation(range.correlation, Some(0), bytes);
        times(range.start, end, range.tid, bytes);
        bytes.push(b'}');
        process.markers.flush_if_full()?;
        let bytes = process.texts.record();
        bytes.extend_from_slice(b"{\"key\":");
        signed(range.correlation, bytes);
        bytes.extend_from_slice(b",\"value\":");
        json(tables.strings.get(range.name), bytes);
        bytes.push(b'}');
        process.texts.flush_if_full()
    }

    fn allocation(&mut self, allocation: &Allocation, end: i64, tables: &Tables) -> io::Result<()> {
        let process = self.files.of(allocation.process, tables)?;
        process.extend_span(allocation.start, end);
        let agent = process.devices.handle(allocation.agent);
        let (kind, operation) = kinds::allocation_operation(allocation);
        let scratch = kind == kinds::SCRATCH_MEMORY;
        let spill = if scratch { &mut process.scratch } else { &mut process.allocations };
        let bytes = spill.record();
        begin(bytes, 80, kind, operation);
        correlation(allocation.correlation, Some(0), bytes);
        times(allocation.start, end, allocation.tid, bytes);
        handle("agent_id", agent, bytes);
        if scratch {
            if let Some(queue) = allocation.queue {
                handle("queue_id", queue as u64, bytes);
            }
            if let Some(flags) = allocation.flags {
                bytes.extend_from_slice(b",\"flags\":");
                signed(flags, bytes);
            }
        } else if let Some(address) = allocation.address {
            bytes.extend_from_slice(format!(",\"address\":\"{address:#018x}\"").as_bytes());
        }
        bytes.extend_from_slice(b",\"allocation_size\":");
        digits(allocation.bytes, bytes);
        stream(allocation.stream, bytes);
        bytes.push(b'}');
        spill.flush_if_full()
    }

    fn counters(
        &mut self,
        dispatch: &Dispatch,
        end: i64,
        (_, kernel): (usize, &Kernel),
        values: &[Counter],
        tables: &Tables,
    ) -> io::Result<()> {
        let track = tables.tracks.get(dispatch.track);
        let shape = dispatch.shape.map_or(Shape::default(), |shape| tables.shapes.get(shape));
        let process = self.files.of(track.process, tables)?;
        let mut place = Vec::new();
        write_track(dispatch.track, process, tables, &mut place);
        let handles: Vec<u64> = values.iter().map(|value| process.counter(value)).collect();
        let bytes = process.counters.record();
        bytes.extend_from_slice(b"{\"dispatch_data\":{\"size\":128");
        correlation(dispatch.correlation, None, bytes);
        timestamps(dispatch.start, end, bytes);
        bytes.extend_from_slice(&place);
        digits(kernel.id as u64, bytes);
        bytes.extend_from_slice(b",\"dispatch_id\":");
        signed(dispatch.id, bytes);
        write_shape(&shape, bytes);
        bytes.extend_from_slice(b"},\"records\":[");
        for (at, (value, counter)) in values.iter().zip(handles).enumerate() {
            let separator = if at > 0 { "," } else { "" };
            // JSON has no infinity; no counter does either.
            let value = if value.value.is_finite() { value.value } else { 0.0 };
            bytes.extend_from_slice(
                format!("{separator}{{\"counter_id\":{{\"handle\":{counter}}},\"value\":{value:?}}}")
                    .as_bytes(),
            );
        }
        bytes.push(b']');
        thread(dispatch.tid, bytes);
        stream(track.stream, bytes);
        bytes.push(b'}');
        process.counters.flush_if_full()
    }
}

/// How every record begins.
fn begin(bytes: &mut Vec<u8>, size: u64, kind: kinds::Kind, operation: usize) {
    bytes.extend_from_slice(b"{\"size\":");
    digits(size, bytes);
    bytes.extend_from_slice(b",\"kind\":");
    digits(u64::from(kind), bytes);
    bytes.extend_from_slice(b",\"operation\":");
    digits(operation as u64, bytes);
}

#[inline]
fn correlation(id: i64, ancestor: Option<i64>, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"correlation_id\":{\"internal\":");
    signed(id, bytes);
    bytes.extend_from_slice(b",\"external\":0");
    if let Some(ancestor) = ancestor {
        bytes.extend_from_slice(b",\"ancestor\":");
        signed(ancestor, bytes);
    }
    bytes.push(b'}');
}

#[inline]
fn timestamps(start: i64, end: i64, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"start_timestamp\":");
    signed(start, bytes);
    bytes.extend_from_slice(b",\"end_timestamp\":");
    signed(end, bytes);
}

fn times(start: i64, end: i64, tid: Option<i64>, bytes: &mut Vec<u8>) {
    timestamps(start, end, bytes);
    thread(tid, bytes);
}

#[inline]
fn thread(tid: Option<i64>, bytes: &mut Vec<u8>) {
    if let Some(tid) = tid {
        bytes.extend_from_slice(b",\"thread_id\":");
        signed(tid, bytes);
    }
}

fn handle(name: &str, value: u64, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"");
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(b"\":{\"handle\":");
    digits(value, bytes);
    bytes.push(b'}');
}

fn stream(stream: Option<i64>, bytes: &mut Vec<u8>) {
    if let Some(stream) = stream {
        handle("stream_id", stream as u64, bytes);
    }
}

/// What stands in a dispatch between its end and the id of its kernel.
fn write_track(track: TrackId, process: &ProcessFile, tables: &Tables, bytes: &mut Vec<u8>) {
    let track = tables.tracks.get(track);
    bytes.extend_from_slice(b",\"dispatch_info\":{\"size\":72");
    handle("agent_id", process.devices.handle(Some(track.agent)), bytes);
    handle("queue_id", track.queue as u64, bytes);
    bytes.extend_from_slice(b",\"kernel_id\":");
}

/// What stands in a dispatch between its id and the end of `dispatch_info`.
fn write_shape(shape: &Shape, bytes: &mut Vec<u8>) {
    for (name, size) in [("private_segment_size", shape.scratch), ("group_segment_size", shape.lds)] {
        if let Some(size) = size {
            bytes.extend_from_slice(format!(",\"{name}\":{size}").as_bytes());
        }
    }
    let axes =
        [("workgroup_size", shape.workgroup.map(|axes| axes.map(u64::from))), ("grid_size", shape.items)];
    for (name, axes) in axes {
        if let Some([x, y, z]) = axes {
            bytes.extend_from_slice(format!(",\"{name}\":{{\"x\":{x},\"y\":{y},\"z\":{z}}}").as_bytes());
        }
    }
    bytes.push(b'}');
}

/// The name of the file of one process where there are several: `run_4243_results.json` for `run_results.json`.
pub fn path_of(output: &Path, process: &str) -> PathBuf {
    let name = output.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let end = name.find("_results.").or_else(|| name.find('.')).filter(|&at| at > 0);
    let (stem, end) = name.split_at(end.unwrap_or(name.len()));
    output.with_file_name(format!("{stem}_{process}{end}"))
}
