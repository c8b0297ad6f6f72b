//! rocprof's JSON: Chrome's trace event format with whole microseconds as texts. A process stands for a kind of rows, and
//! arguments repeat the columns of rocprof's database.

use std::io;

use atomic_file::AtomicFile;
use rtl_schema::table::{ApiCall, Barrier, Copy, Dispatch, Range, RangeKind};
use rtl_schema::{Id, NameId, Tables, TrackId};
use rustc_hash::FxHashMap;

use super::library::Library;
use crate::rocprofv3::page_file::PageFile;
use crate::text;

/// The processes of all files. Those of GPUs follow: 6 is GPU 0, and its barriers are 512 further.
const MARKERS: i64 = 0;
const COPY: i64 = 1;
const HIP: i64 = 2;
const HSA: i64 = 3;
const OTHER: i64 = 4;
const GPU: i64 = 6;
const BARRIERS: i64 = 518;

pub(super) struct Json {
    file: PageFile,
    named: FxHashMap<i64, usize>,
    /// Numbers of streams by process, from 1 in the order of their first ops.
    streams: FxHashMap<(u32, i64), i64>,
    /// Where arrows begin: process, thread and middle of a call in microseconds, by space and correlation id.
    calls: FxHashMap<(u32, Id), (i64, i64, i64)>,
    flows: i64,
}

struct Slice<'a> {
    process: i64,
    lane: i64,
    name: &'a str,
    start: i64,
    end: i64,
}

impl Json {
    pub(super) fn new(mut file: PageFile) -> Self {
        file.bytes.extend_from_slice(b"{ \"traceEvents\":[{}\n");
        let (named, streams, calls) = Default::default();
        Self { file, named, streams, calls, flows: 0 }
    }

    pub(super) fn range(&mut self, batch: &Tables, range: &Range, name: &str, end: i64) -> io::Result<()> {
        let thread = range.tid.unwrap_or(0);
        // Ranges of a process have no thread, and an instant takes a nanosecond.
        let lane = if range.kind == RangeKind::Process { 0 } else { thread };
        let end = if range.is_marker() { range.start.saturating_add(1) } else { end };
        self.begin(&Slice { process: MARKERS, lane, name, start: range.start, end });
        self.argument("pid", batch.process(range.process).pid);
        self.argument("tid", Some(thread));
        self.text_argument("Name", name);
        self.end()
    }

    pub(super) fn call(
        &mut self,
        batch: &Tables,
        library: Library,
        call: &ApiCall,
        arguments: NameId,
        name: &str,
        end: i64,
    ) -> io::Result<()> {
        let process = match library {
            Library::Hip => HIP,
            Library::Hsa => HSA,
            Library::Other => OTHER,
        };
        let lane = call.tid.unwrap_or(0);
        self.begin(&Slice { process, lane, name, start: call.start, end });
        self.argument("pid", batch.process(call.process).pid);
        self.argument("tid", call.tid);
        self.text_argument("Name", name);
        self.text_argument("args", if arguments.is_some() { batch.strings.get(arguments) } else { "" });
        self.text_argument("Data", "");
        self.argument("DurationNs", Some(end - call.start));
        if call.correlation != 0 {
            let middle = call.start.div_euclid(1000) + (end - call.start) / 2000;
            let space = batch.process(call.process).space;
            self.calls.entry((space, call.correlation)).or_insert((process, lane, middle));
        }
        self.end()
    }

    pub(super) fn dispatch(
        &mut self,
        batch: &Tables,
        row: &Dispatch,
        name: &str,
        end: i64,
    ) -> io::Result<()> {
        let gpu = batch.agent(batch.tracks.get(row.track).agent).number;
        let lane = self.op(batch, GPU.saturating_add(gpu), row.track, row.tid, name, (row.start, end));
        let shape = row.shape.map(|shape| batch.shapes.get(shape)).unwrap_or_default();
        let symbol = row.symbol.map(|symbol| &batch.symbols[symbol.index()]);
        for (key, value) in [
            ("lds", shape.lds),
            ("scr", shape.scratch),
            ("arch_vgpr", symbol.and_then(|symbol| symbol.vgprs)),
            ("accum_vgpr", symbol.and_then(|symbol| symbol.agprs)),
            ("sgpr", symbol.and_then(|symbol| symbol.sgprs)),
        ] {
            if value.is_some() {
                self.argument(key, value.map(i64::from));
            }
        }
        if row.details.enqueued.is_some() {
            self.argument("DispatchNs", row.details.enqueued);
        }
        self.end()?;
        self.flow(batch, row.track, row.correlation, GPU.saturating_add(gpu), lane, row.start)
    }

    pub(super) fn copy(&mut self, batch: &Tables, row: &Copy, name: &str, end: i64) -> io::Result<()> {
        let lane = self.op(batch, COPY, row.track, row.tid, name, (row.start, end));
        self.end()?;
        self.flow(batch, row.track, row.correlation, COPY, lane, row.start)
    }

    pub(super) fn barrier(&mut self, batch: &Tables, row: &Barrier, name: &str, end: i64) -> io::Result<()> {
        let gpu = batch.agent(batch.tracks.get(row.track).agent).number;
        self.op(batch, BARRIERS.saturating_add(gpu), row.track, None, name, (row.start, end));
        self.end()
    }

    /// Begins the event of an op; returns its lane: the number of its stream, else its thread, else its queue.
    fn op(
        &mut self,
        batch: &Tables,
        process: i64,
        track: TrackId,
        tid: Option<i64>,
        name: &str,
        (start, end): (i64, i64),
    ) -> i64 {
        let track = batch.tracks.get(track);
        let stream = track.stream.map(|stream| self.stream(track.process.0, stream));
        let lane = stream.or(tid).unwrap_or(track.queue);
        self.begin(&Slice { process, lane, name, start, end });
        self.argument("dev-id", Some(batch.agent(track.agent).number));
        self.argument("queue-id", Some(track.queue));
        self.text_argument("Name", name);
        self.argument("pid", batch.process(track.process).pid);
        self.argument("tid", tid);
        if stream.is_some() {
            self.argument("stream-id", stream);
        }
        self.text_argument("Data", "");
        self.argument("DurationNs", Some(end - start));
        lane
    }

    /// The number of a stream; 0 is the default one.
    fn stream(&mut self, process: u32, stream: i64) -> i64 {
        let next = self.streams.len() as i64 + 1;
        if stream == 0 { 0 } else { *self.streams.entry((process, stream)).or_insert(next) }
    }

    /// An arrow from the middle of the call to the start of its op.
    fn flow(
        &mut self,
        batch: &Tables,
        track: TrackId,
        correlation: Id,
        process: i64,
        lane: i64,
        start: i64,
    ) -> io::Result<()> {
        let space = batch.process(batch.tracks.get(track).process).space;
        let Some(&(from, thread, middle)) =
            self.calls.get(&(space, correlation)).filter(|_| correlation != 0)
        else {
            return Ok(());
        };
        let to = start.div_euclid(1000);
        for (phase, time, process, lane) in [('s', middle.min(to), from, thread), ('t', to, process, lane)] {
            let line = format!(
                ",{{\"ts\":{time},\"ph\":\"{phase}\",\"cat\":\"DataFlow\",\"id\":{},\"pid\":{process},\"tid\":{lane},\"name\":\"dep\"}}\n",
                self.flows
            );
            self.file.bytes.extend_from_slice(line.as_bytes());
        }
        self.flows += 1;
        self.file.flush_if_full()
    }

    /// Begins an event with its times; the first one of a process names it.
    fn begin(&mut self, slice: &Slice<'_>) {
        let Slice { process, lane, name, start, end } = *slice;
        let order = self.named.len();
        let out = &mut self.file.bytes;
        self.named.entry(process).or_insert_with(|| {
            let line = format!(
                ",{{\"args\":{{\"name\":\"{}\"}},\"ph\":\"M\",\"pid\":{process},\"name\":\"process_name\",\"sort_index\":{order}}}\n",
                process_name(process)
            );
            out.extend_from_slice(line.as_bytes());
            order
        });
        out.extend_from_slice(b",{\"ph\":\"X\",\"name\":");
        text::json(name, out);
        let ended = end.saturating_sub(start) / 1000;
        let times = format!(
            ",\"pid\":{process},\"tid\":{lane},\"ts\":\"{}\",\"dur\":\"{}\",\n  \"args\":{{\n    \"BeginNs\":\"{start}\",\n    \"EndNs\":\"{end}\"",
            start.div_euclid(1000),
            ended.max(1)
        );
        out.extend_from_slice(times.as_bytes());
    }

    fn argument(&mut self, key: &str, value: Option<i64>) {
        let value = value.map_or_else(String::new, |value| value.to_string());
        self.text_argument(key, &value);
    }

    fn text_argument(&mut self, key: &str, value: &str) {
        let out = &mut self.file.bytes;
        out.extend_from_slice(b",\n    \"");
        out.extend_from_slice(key.as_bytes());
        out.extend_from_slice(b"\":");
        text::json(value, out);
    }

    fn end(&mut self) -> io::Result<()> {
        self.file.bytes.extend_from_slice(b"\n  }\n}\n");
        self.file.flush_if_full()
    }

    pub(super) fn finish(mut self) -> io::Result<AtomicFile> {
        self.file.bytes.extend_from_slice(b"],\n\"otherData\": {\n  }\n}\n");
        self.file.finish()
    }
}

fn process_name(process: i64) -> String {
    match process {
        MARKERS => "Markers and Ranges".to_owned(),
        COPY => "COPY".to_owned(),
        HIP => "CPU HIP API".to_owned(),
        HSA => "CPU HSA API".to_owned(),
        OTHER => "CPU OTHER API".to_owned(),
        barriers if barriers >= BARRIERS => format!("GPU Barriers{}", barriers - BARRIERS),
        gpu => format!("GPU{}", gpu - GPU),
    }
}
