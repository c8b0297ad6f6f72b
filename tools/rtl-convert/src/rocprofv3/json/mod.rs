//! rocprofv3's JSON: one file per process, because its readers take only the first process of a file.
//!
//! Records come first, and the tables that they refer to (kernels, agents, strings) follow when they are complete. So
//! dispatches go straight into the file; other records, fewer, wait as text. Unknown values have no field.

mod process_file;
mod reference_tables;

use std::io;
use std::path::{Path, PathBuf};

use atomic_file::Destination;
use rtl_schema::table::{Allocation, ApiCall, Copy, Counter, Range};

use self::process_file::{ProcessFile, Waiting};
use super::kinds::{self, List};
use super::visitor::{Launch, Record, RecordSink, arguments, text};
use crate::names::RenderCache;
use crate::text::{json, number};

/// Launch shapes whose text is kept; a trace with more shapes has few dispatches of each.
const KEPT_SHAPES: usize = 1 << 16;

pub struct Json {
    file: ProcessFile,
    /// The parts of a dispatch that all dispatches of a track or a shape share.
    tracks: RenderCache,
    streams: RenderCache,
    shapes: RenderCache,
}

impl Json {
    /// Several processes get names of their own at the end, beside `destination`.
    pub fn create(destination: &Destination) -> io::Result<Self> {
        Ok(Self {
            file: ProcessFile::create(destination)?,
            tracks: RenderCache::default(),
            streams: RenderCache::default(),
            shapes: RenderCache::default(),
        })
    }
}

impl RecordSink for Json {
    fn call(&mut self, record: &Record<'_>, list: List, row: u32, call: &ApiCall) -> io::Result<()> {
        let arguments = arguments(row, record.tables);
        let write = |bytes: &mut Vec<u8>| {
            begin(96, record, Some(record.parent), bytes);
            if list == List::Hip || call.args.is_some() || !arguments.is_empty() {
                bytes.extend_from_slice(b",\"args\":[");
                let mut separator: &[u8] = b"";
                for argument in arguments {
                    bytes.extend_from_slice(separator);
                    bytes.extend_from_slice(b"{\"type\":");
                    json(text(argument.kind, record.tables), bytes);
                    bytes.extend_from_slice(b",\"name\":");
                    json(text(argument.name, record.tables), bytes);
                    if argument.value.is_some() {
                        bytes.extend_from_slice(b",\"value\":");
                        json(text(argument.value, record.tables), bytes);
                    }
                    bytes.push(b'}');
                    separator = b",";
                }
                // All arguments as one text are one argument without a value.
                if separator.is_empty() && call.args.is_some() {
                    bytes.extend_from_slice(b"{\"type\":\"\",\"name\":");
                    json(text(call.args, record.tables), bytes);
                    bytes.push(b'}');
                }
                bytes.push(b']');
            }
            if list == List::Hip || call.result != 0 {
                field(b",\"retval\":{\"uint64_t_retval\":", call.result, bytes);
                bytes.push(b'}');
            }
            end(record, bytes);
        };
        match list {
            // Calls of roctx that annotate nothing stand between ranges and markers.
            List::Marker => self.file.wait(Waiting::Markers, write),
            _ => self.file.record(list.label(), write),
        }
    }

    #[inline]
    fn dispatch(&mut self, record: &Record<'_>, launch: &Launch<'_>) -> io::Result<()> {
        let track = launch.row.track.index();
        self.file.record("kernel_dispatch", |bytes| {
            bytes.extend_from_slice(b"{\"size\":184,\"kind\":11,\"operation\":2");
            thread(record.tid, bytes);
            correlation(record.correlation, None, bytes);
            timestamps(record, bytes);
            self.tracks.append(track, bytes, |bytes| write_track(record, launch, bytes));
            number(launch.kernel.id, bytes);
            field(b",\"dispatch_id\":", launch.number as u64, bytes);
            match launch.row.shape.map_or(0, |shape| shape.index() + 1) {
                place if place < KEPT_SHAPES => {
                    self.shapes.append(place, bytes, |bytes| write_shape(record, launch, bytes));
                }
                _ => write_shape(record, launch, bytes),
            }
            self.streams.append(track, bytes, |bytes| stream(record.stream, bytes));
            if launch.row.graph {
                bytes.extend_from_slice(b",\"graph_exec_id\":1,\"graph_node_id\":0");
            }
            bytes.push(b'}');
        })
    }

    fn copy(&mut self, record: &Record<'_>, copy: &Copy) -> io::Result<()> {
        self.file.wait(Waiting::Copies, |bytes| {
            let ends = record.state.devices.ends(copy, record.tables);
            let [source, destination] = ends.map(|device| device.map_or(0, |device| device.handle));
            begin(96, record, None, bytes);
            handle("dst_agent_id", destination, bytes);
            handle("src_agent_id", source, bytes);
            if let Some(size) = copy.bytes {
                field(b",\"bytes\":", size, bytes);
            }
            end(record, bytes);
        })
    }

    fn range(&mut self, record: &Record<'_>, range: &Range) -> io::Result<()> {
        self.file.wait(Waiting::Markers, |bytes| {
            begin(64, record, Some(record.parent), bytes);
            bytes.push(b'}');
        })?;
        self.file.wait(Waiting::Texts, |bytes| {
            field(b"{\"key\":", record.correlation, bytes);
            bytes.extend_from_slice(b",\"value\":");
            json(record.tables.strings.get(range.name), bytes);
            bytes.push(b'}');
        })
    }

    fn allocation(&mut self, record: &Record<'_>, allocation: &Allocation) -> io::Result<()> {
        let is_scratch = record.kind == kinds::SCRATCH_MEMORY;
        let list = if is_scratch { Waiting::Scratch } else { Waiting::Allocations };
        self.file.wait(list, |bytes| {
            begin(80, record, Some(record.parent), bytes);
            handle("agent_id", record.state.devices.handle(allocation.agent), bytes);
            if is_scratch {
                if let Some(queue) = allocation.queue {
                    handle("queue_id", queue as u64, bytes);
                }
                if let Some(flags) = allocation.flags {
                    field(b",\"flags\":", flags, bytes);
                }
            } else if let Some(address) = allocation.address {
                bytes.extend_from_slice(format!(",\"address\":\"{address:#018x}\"").as_bytes());
            }
            field(b",\"allocation_size\":", allocation.bytes, bytes);
            end(record, bytes);
        })
    }

    fn counters(
        &mut self,
        record: &Record<'_>,
        launch: &Launch<'_>,
        values: &[(usize, Counter)],
    ) -> io::Result<()> {
        self.file.wait(Waiting::Counters, |bytes| {
            bytes.extend_from_slice(b"{\"dispatch_data\":{\"size\":128");
            correlation(record.correlation, None, bytes);
            timestamps(record, bytes);
            write_track(record, launch, bytes);
            number(launch.kernel.id, bytes);
            field(b",\"dispatch_id\":", launch.number, bytes);
            write_shape(record, launch, bytes);
            bytes.extend_from_slice(b"},\"records\":[");
            for (at, (counter, value)) in values.iter().enumerate() {
                let separator = if at > 0 { "," } else { "" };
                // JSON has no infinity; no counter does either.
                let value = if value.value.is_finite() { value.value } else { 0.0 };
                bytes.extend_from_slice(
                    format!("{separator}{{\"counter_id\":{{\"handle\":{counter}}},\"value\":{value:?}}}")
                        .as_bytes(),
                );
            }
            bytes.push(b']');
            thread(record.tid, bytes);
            end(record, bytes);
        })
    }
}

/// A key with what stands before it, and a number.
#[inline]
fn field(key: &[u8], value: impl itoa::Integer, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(key);
    number(value, bytes);
}

fn begin(size: u64, record: &Record<'_>, ancestor: Option<i64>, bytes: &mut Vec<u8>) {
    field(b"{\"size\":", size, bytes);
    field(b",\"kind\":", record.kind, bytes);
    field(b",\"operation\":", record.operation, bytes);
    correlation(record.correlation, ancestor, bytes);
    timestamps(record, bytes);
    thread(record.tid, bytes);
}

fn end(record: &Record<'_>, bytes: &mut Vec<u8>) {
    stream(record.stream, bytes);
    bytes.push(b'}');
}

#[inline]
fn correlation(id: i64, ancestor: Option<i64>, bytes: &mut Vec<u8>) {
    field(b",\"correlation_id\":{\"internal\":", id, bytes);
    bytes.extend_from_slice(b",\"external\":0");
    if let Some(ancestor) = ancestor {
        field(b",\"ancestor\":", ancestor, bytes);
    }
    bytes.push(b'}');
}

#[inline]
fn timestamps(record: &Record<'_>, bytes: &mut Vec<u8>) {
    field(b",\"start_timestamp\":", record.start, bytes);
    field(b",\"end_timestamp\":", record.end, bytes);
}

#[inline]
fn thread(tid: Option<i64>, bytes: &mut Vec<u8>) {
    if let Some(tid) = tid {
        field(b",\"thread_id\":", tid, bytes);
    }
}

fn handle(name: &str, value: u64, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"");
    bytes.extend_from_slice(name.as_bytes());
    field(b"\":{\"handle\":", value, bytes);
    bytes.push(b'}');
}

fn stream(stream: Option<i64>, bytes: &mut Vec<u8>) {
    if let Some(stream) = stream {
        handle("stream_id", stream as u64, bytes);
    }
}

/// The part of a dispatch between its end and the id of its kernel.
fn write_track(record: &Record<'_>, launch: &Launch<'_>, bytes: &mut Vec<u8>) {
    let track = record.tables.tracks.get(launch.row.track);
    bytes.extend_from_slice(b",\"dispatch_info\":{\"size\":72");
    handle("agent_id", record.state.devices.handle(Some(track.agent)), bytes);
    handle("queue_id", track.queue as u64, bytes);
    bytes.extend_from_slice(b",\"kernel_id\":");
}

/// The part of a dispatch between its id and the end of `dispatch_info`. Readers need the sizes of every launch: those of
/// an unknown shape are 0.
fn write_shape(record: &Record<'_>, launch: &Launch<'_>, bytes: &mut Vec<u8>) {
    let shape = launch.shape(record.tables);
    for (name, size) in [("private_segment_size", shape.scratch), ("group_segment_size", shape.lds)] {
        if let Some(size) = size {
            bytes.extend_from_slice(format!(",\"{name}\":{size}").as_bytes());
        }
    }
    let axes =
        [("workgroup_size", shape.workgroup.map(|axes| axes.map(u64::from))), ("grid_size", shape.items)];
    for (name, axes) in axes {
        let [x, y, z] = axes.unwrap_or_default();
        bytes.extend_from_slice(format!(",\"{name}\":{{\"x\":{x},\"y\":{y},\"z\":{z}}}").as_bytes());
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
