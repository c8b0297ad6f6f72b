//! Chrome's trace event format as Perfetto reads it: complete events in microseconds with three decimals. Categories,
//! arguments and the fields about devices and rank are those of Kineto, so that HTA and TraceLens read the file too.

use rtl_schema::table::{Direction, MemoryEvent};
use rtl_schema::{NameId, Strings};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::autograd::{AutogradArrow, AutogradArrows, Place};
use crate::counter_tracks::CounterTrack;
use crate::event::{Event, Kind};
use crate::event_args::{ArgWriter, EventArg, EventArgs};
use crate::flows::End;
use crate::format::Format;
use crate::kineto_header::{group_name, header, label};
use crate::layout::{EventWriter, TimelineLayout};
use crate::names::RenderCache;
use crate::text;
use crate::tracks::{self, TrackGroup, TrackKind};
use crate::viewer;

/// The format.
pub const FORMAT: Format = Format {
    name: "perfetto-json",
    aliases: &["json", "chrome", "perfetto"],
    help: "Chrome's and Perfetto's JSON",
    endings: &[".json", ".json.gz"],
    default_ending: ".json.gz",
    partitioned: false,
    has_operators: true,
    write: viewer::write::<Json>,
};

/// Ids of arrows are above this: Perfetto counts the arrows of Kineto's events from 0, in the same map.
const FIRST_ARROW: u64 = 1 << 32;

/// Renders events as JSON.
pub struct Json {
    page: Vec<u8>,
    /// Where times count from, in ns: the whole microsecond before the first moment, because readers round to those.
    base: i64,
    /// The text before the next event.
    separator: &'static str,
    /// The fields of an event up to its time, by track and lane.
    beginnings: Vec<Vec<Box<[u8]>>>,
    free_ids: Box<dyn Iterator<Item = u64>>,
    event_names: RenderCache,
    args: EventArgs,
    texts: Texts,
    /// Whether correlation ids are unique in the file.
    one_space: bool,
    autograd: AutogradArrows,
    /// The number of arrows between operators so far.
    autograd_arrows: u64,
}

/// Stored texts as JSON.
#[derive(Default)]
struct Texts {
    strings: RenderCache,
    /// Those that are documents themselves.
    documents: RenderCache,
}

impl Json {
    /// Names a lane at its first use.
    fn lane(&mut self, track: usize, lane: usize, layout: &TimelineLayout<'_>) {
        if lane < self.beginnings[track].len() {
            return;
        }
        let at = layout.tracks[track];
        let own = at.tid().filter(|_| lane == 0);
        let tid = own.or_else(|| self.free_ids.next()).unwrap_or_default();
        let name = tracks::track_name(&at, layout.tables);
        let name = if lane == 0 { name } else { format!("{name} (overlap {lane})") };
        let pid = layout.pid(at.group);
        self.metadata("thread_name", pid, Some(tid), "name", name.into());
        let rank = layout.ranks[track] * 1000 + lane.min(999);
        self.metadata("thread_sort_index", pid, Some(tid), "sort_index", rank.into());
        let beginning = format!("\"pid\":{pid},\"tid\":{tid},\"ts\":");
        self.beginnings[track].push(beginning.into_bytes().into_boxed_slice());
    }

    fn metadata(&mut self, what: &str, pid: u64, tid: Option<u64>, key: &str, value: Value) {
        self.separate();
        let tid = tid.map_or(String::new(), |tid| format!(",\"tid\":{tid}"));
        let args = format!("{{\"{key}\":{value}}}");
        self.text(&format!("{{\"ph\":\"M\",\"pid\":{pid}{tid},\"name\":\"{what}\",\"args\":{args}}}"));
    }

    fn arguments(&mut self, event: &Event, lane: usize, layout: &TimelineLayout<'_>) {
        self.text(",\"args\":{");
        let empty = self.page.len();
        self.args.write(event, layout.tables, &mut self.texts, &mut self.page);
        let track = layout.tracks[event.track as usize];
        if let (Kind::Copy, Some(bytes), 1..) = (event.kind, event.bytes, event.duration) {
            // Bytes a nanosecond.
            let bandwidth = Value::from(bytes as f64 / event.duration as f64);
            self.text(&format!(",\"memory bandwidth (GB/s)\":{bandwidth}"));
        }
        if let (TrackGroup::Agent(agent), TrackKind::GpuRanges(stream)) = (track.group, track.kind) {
            // Readers of Kineto's files take an event with a stream for work.
            Texts::number(EventArg::Device, layout.tables.agent(agent).number, &mut self.page);
            Texts::number(EventArg::AnnotatedStream, stream, &mut self.page);
        } else if let (TrackGroup::Agent(agent), false) = (track.group, event.kind == Kind::Idle) {
            // So they do with idle time.
            Texts::number(EventArg::Device, layout.tables.agent(agent).number, &mut self.page);
            let stream = if event.kind == Kind::Copy {
                // Copies of all streams may share a track.
                let own = layout.tables.tracks.get(event.copy_track());
                own.stream.unwrap_or(own.queue)
            } else {
                track.stream()
            };
            Texts::number(EventArg::Stream, stream, &mut self.page);
        } else if let TrackKind::Thread(tid) = track.kind
            && lane > 0
        {
            // Its lane has a tid of its own.
            Texts::number(EventArg::Thread, tid, &mut self.page);
        }
        // Each argument has a comma before it.
        if self.page.get(empty) == Some(&b',') {
            self.page.remove(empty);
        }
        self.text("}");
    }

    /// One end of an arrow as Kineto writes it. Perfetto draws the arrows of slices instead, because these belong to no
    /// slice for certain where several start together; so their names differ, with which Perfetto ties no ends.
    fn kineto_arrow(&mut self, event: &Event, lane: usize, end: &End) {
        let (phase, name) = match end {
            End::Leaves { .. } => ("s", "launch"),
            End::Arrives { .. } => ("f", "op"),
        };
        self.separate();
        self.text("{\"ph\":\"");
        self.text(phase);
        self.text("\",");
        self.page.extend_from_slice(&self.beginnings[event.track as usize][lane]);
        self.microseconds(event.start.abs_diff(self.base));
        self.text(",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"");
        self.text(name);
        self.text("\",\"id\":");
        text::number(event.correlation, &mut self.page);
        self.text("}");
    }

    /// An arrow from an operator to its backward operator as Kineto writes it.
    fn autograd_arrow(&mut self, arrow: AutogradArrow) {
        self.autograd_arrows += 1;
        for (phase, Place { track, lane, start }) in [("s", arrow.from), ("f", arrow.to)] {
            self.separate();
            self.text("{\"ph\":\"");
            self.text(phase);
            self.text("\",");
            self.page.extend_from_slice(&self.beginnings[track as usize][lane]);
            self.microseconds(start.abs_diff(self.base));
            self.text(",\"bp\":\"e\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":");
            text::number(self.autograd_arrows as i64, &mut self.page);
            self.text("}");
        }
    }

    fn separate(&mut self) {
        self.text(self.separator);
        self.separator = ",\n";
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.page.extend_from_slice(text.as_bytes());
    }

    /// Nanoseconds as microseconds with three decimals: exact, unlike a float.
    #[inline]
    fn microseconds(&mut self, ns: u64) {
        text::number(ns / 1000, &mut self.page);
        let rest = (ns % 1000) as u32;
        let digit = |unit: u32| b'0' + (rest / unit % 10) as u8;
        self.page.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
    }
}

/// Kineto's category of an event; barriers and markers, which it does not know, have their own.
fn category(layout: &TimelineLayout<'_>, event: &Event) -> &'static str {
    match event.kind {
        Kind::Copy if event.direction() == Direction::Fill => "gpu_memset",
        Kind::Copy => "gpu_memcpy",
        Kind::Call if is_of_driver(&layout.tables.strings, event) => "cuda_driver",
        Kind::Call => "cuda_runtime",
        Kind::Range if layout.of_framework => "user_annotation",
        Kind::Range | Kind::Operator => "cpu_op",
        Kind::Python => "python_function",
        Kind::GpuRange => "gpu_user_annotation",
        Kind::Overhead => "overhead",
        Kind::Kernel | Kind::Barrier | Kind::Marker | Kind::Idle => event.kind.label(),
    }
}

/// Whether a call is one of CUDA's driver: `cuLaunchKernel`.
fn is_of_driver(strings: &Strings, event: &Event) -> bool {
    let function = if event.function.is_some() { event.function } else { event.name };
    let is_driver =
        |name: &str| name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    function.is_some() && is_driver(strings.get(function))
}

impl EventWriter for Json {
    fn new(layout: &TimelineLayout<'_>) -> Self {
        let base = layout.span.0.saturating_sub(layout.span.0.rem_euclid(1000));
        let mut json = Self {
            base,
            page: header(layout.tables, base).into_bytes(),
            separator: "\n",
            beginnings: vec![Vec::new(); layout.tracks.len()],
            free_ids: Box::new(layout.free_ids()),
            event_names: RenderCache::default(),
            args: EventArgs::default(),
            texts: Texts::default(),
            one_space: layout.tables.processes.windows(2).all(|pair| pair[0].space == pair[1].space),
            autograd: AutogradArrows::default(),
            autograd_arrows: 0,
        };
        for (rank, &group) in layout.groups.iter().enumerate() {
            let pid = layout.pid(group);
            json.metadata("process_name", pid, None, "name", group_name(layout, group).into());
            if let Some(label) = label(layout, group) {
                json.metadata("process_labels", pid, None, "labels", label.into());
            }
            json.metadata("process_sort_index", pid, None, "sort_index", rank.into());
        }
        json
    }

    fn event(&mut self, layout: &TimelineLayout<'_>, event: &Event, lane: usize, end: Option<End>) {
        let track = event.track as usize;
        self.lane(track, lane, layout);
        self.separate();
        let marker = event.kind == Kind::Marker;
        self.text(if marker { "{\"ph\":\"i\",\"s\":\"t\"," } else { "{\"ph\":\"X\"," });
        self.page.extend_from_slice(&self.beginnings[track][lane]);
        self.microseconds(event.start.abs_diff(self.base));
        if !marker {
            self.text(",\"dur\":");
            self.microseconds(event.duration.unsigned_abs());
        }
        self.text(",\"cat\":\"");
        self.text(category(layout, event));
        self.text("\",\"name\":");
        let event_names = &layout.event_names;
        let number = event_names.number(event);
        self.event_names.append(number, &mut self.page, |out| text::json(&event_names.text(number), out));
        if let Some(end) = &end {
            let (call, direction) = match end {
                End::Leaves { call, .. } => (call, ",\"flow_out\":true"),
                End::Arrives { call, .. } => (call, ",\"flow_in\":true"),
            };
            self.text(",\"bind_id\":");
            text::number(FIRST_ARROW + u64::from(*call), &mut self.page);
            self.text(direction);
        }
        if !layout.options.no_args {
            self.arguments(event, lane, layout);
        }
        self.text("}");
        if event.kind == Kind::Operator && !layout.options.no_args {
            let process = layout.tracks[track].process;
            let arrow = self.autograd.add(event, process, lane);
            arrow.into_iter().for_each(|arrow| self.autograd_arrow(arrow));
        }
        // Kineto's readers tie them by correlation ids, which they find among the arguments.
        if let Some(end) = &end
            && self.one_space
            && event.correlation > 0
            && !layout.options.no_args
        {
            self.kineto_arrow(event, lane, end);
        }
    }

    fn counter_track(&mut self, layout: &TimelineLayout<'_>, counter_track: &CounterTrack) {
        let pid = layout.pid(counter_track.group);
        let name = Value::from(counter_track.name.as_str());
        let unit = Value::from(if counter_track.unit.is_empty() { "value" } else { counter_track.unit });
        let beginning = format!("{{\"ph\":\"C\",\"pid\":{pid},\"ts\":");
        let middle = format!(",\"name\":{name},\"args\":{{{unit}:");
        for (time, value) in counter_track.changes() {
            self.separate();
            self.text(&beginning);
            self.microseconds(time.abs_diff(self.base));
            self.text(&middle);
            self.text(&value.to_string());
            self.text("}}");
        }
    }

    fn memory_event(&mut self, layout: &TimelineLayout<'_>, event: &MemoryEvent) {
        /// c10::DeviceType of the host and of GPUs; ROCm's PyTorch calls its GPUs CUDA, too.
        const DEVICE_TYPES: [i64; 2] = [0, 1];
        let group = TrackGroup::Process(event.process);
        let tid = event.tid.unwrap_or_default();
        let gpu = event.agent.map(|agent| layout.tables.agent(agent).number);
        let (device, kind) = (gpu.unwrap_or(-1), DEVICE_TYPES[usize::from(gpu.is_some())]);
        self.separate();
        self.text(&format!("{{\"ph\":\"i\",\"s\":\"t\",\"pid\":{},\"tid\":{tid},\"ts\":", layout.pid(group)));
        self.microseconds(event.time.abs_diff(self.base));
        self.text(",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"args\":{");
        self.text(&format!("\"Bytes\":{},\"Device Id\":{device},\"Device Type\":{kind}", event.bytes));
        for (name, value) in [
            ("Addr", event.address),
            ("Total Allocated", event.allocated),
            ("Total Reserved", event.reserved),
        ] {
            if let Some(value) = value {
                self.text(&format!(",\"{name}\":{value}"));
            }
        }
        self.text("}}");
    }

    fn close(&mut self) {
        let rest = self.autograd.finish();
        rest.into_iter().for_each(|arrow| self.autograd_arrow(arrow));
        self.text("\n]}\n");
    }

    fn page(&mut self) -> &mut Vec<u8> {
        &mut self.page
    }
}

/// Whether a text is JSON.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

impl ArgWriter for Texts {
    const HAS_GROUPS: bool = true;

    #[inline]
    fn number(name: EventArg, value: i64, out: &mut Vec<u8>) {
        key(name, out);
        text::number(value, out);
    }

    fn text(&mut self, name: EventArg, text: &str, out: &mut Vec<u8>) {
        key(name, out);
        text::json(text, out);
    }

    fn stored(&mut self, name: EventArg, text: NameId, strings: &Strings, out: &mut Vec<u8>) {
        key(name, out);
        self.strings.append(text.index(), out, |out| text::json(strings.get(text), out));
    }

    fn document(&mut self, name: EventArg, text: NameId, strings: &Strings, out: &mut Vec<u8>) {
        key(name, out);
        self.documents.append(text.index(), out, |out| match strings.get(text) {
            text if is_json(text) => out.extend_from_slice(text.as_bytes()),
            text => text::json(text, out),
        });
    }

    fn axes(&mut self, name: EventArg, [x, y, z]: [u64; 3], out: &mut Vec<u8>) {
        key(name, out);
        for (before, size) in [(b'[', x), (b',', y), (b',', z)] {
            out.push(before);
            text::number(size, out);
        }
        out.push(b']');
    }

    fn call(&mut self, arguments: &str, out: &mut Vec<u8>) -> bool {
        let members = arguments.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        let Some(members) = members.filter(|_| is_json(arguments)) else { return false };
        if !members.trim_ascii().is_empty() {
            out.push(b',');
            out.extend_from_slice(members.as_bytes());
        }
        true
    }
}

/// The name of an argument that Kineto has, else our own.
#[inline]
fn kineto(name: EventArg) -> &'static str {
    match name {
        EventArg::WorkGroups => "grid",
        EventArg::WorkGroup => "block",
        EventArg::Lds => "shared memory",
        EventArg::Vgprs => "registers per thread",
        _ => name.label(),
    }
}

/// The name of an argument, with the comma before it.
#[inline]
fn key(name: EventArg, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"");
    bytes.extend_from_slice(kineto(name).as_bytes());
    bytes.extend_from_slice(b"\":");
}
