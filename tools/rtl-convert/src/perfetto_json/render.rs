//! Renders events as JSON, on any thread.

use std::sync::Arc;

use rtl_schema::table::Direction;
use rtl_schema::{NameId, Strings};
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::event::{Event, Kind};
use crate::event_args::{ArgWriter, EventArg, EventArgs};
use crate::flows::End;
use crate::layout::TimelineLayout;
use crate::names::SharedCache;
use crate::text;
use crate::tracks::{TrackGroup, TrackKind};

/// Ids of arrows are above this: Perfetto counts the arrows of Kineto's events from 0, in the same map.
const FIRST_ARROW: u64 = 1 << 32;

/// Room for an event in bytes, which most do not fill.
const EVENT: usize = 640;

/// Events in turn, and the text among them.
#[derive(Debug, Default)]
pub struct Batch {
    pub(super) events: Vec<Placed>,
    pub(super) text: Vec<u8>,
    /// How many events and how much of the text come first, then what follows: the next events, and so on.
    pub(super) cuts: Vec<(usize, usize)>,
    /// The fields of an event up to its time, by the number of its lane in the file.
    pub(super) beginnings: Arc<Vec<Arc<[u8]>>>,
}

#[derive(Debug)]
pub(super) struct Placed {
    pub(super) event: Event,
    pub(super) beginning: u32,
    pub(super) lane: usize,
    pub(super) end: Option<End>,
}

/// Texts that were rendered once and are used again.
pub struct Renderings {
    /// Where times count from, in ns: the whole microsecond before the first moment, because readers round to those.
    pub(super) base: i64,
    /// Correlation ids are unique in the file.
    pub(super) one_space: bool,
    pub(super) event_names: SharedCache,
    pub(super) args: EventArgs,
    pub(super) texts: Texts,
}

pub(super) struct Texts {
    strings: SharedCache,
    documents: SharedCache,
}

/// A page that grows.
struct Page<'a> {
    page: Vec<u8>,
    renderings: &'a Renderings,
    layout: &'a TimelineLayout<'a>,
    beginnings: &'a [Arc<[u8]>],
}

impl Batch {
    pub(super) fn render(&self, renderings: &Renderings, layout: &TimelineLayout<'_>) -> Vec<u8> {
        let page = Vec::with_capacity(self.text.len() + self.events.len() * EVENT);
        let mut page = Page { page, renderings, layout, beginnings: &self.beginnings };
        let (mut events, mut text) = (0, 0);
        for &(last_event, last_text) in self.cuts.iter().chain([&(self.events.len(), self.text.len())]) {
            self.events[events..last_event].iter().for_each(|placed| page.event(placed));
            page.page.extend_from_slice(&self.text[text..last_text]);
            (events, text) = (last_event, last_text);
        }
        page.page
    }
}

impl Page<'_> {
    fn event(&mut self, Placed { event, beginning, lane, end }: &Placed) {
        let (renderings, layout) = (self.renderings, self.layout);
        let beginning = &self.beginnings[*beginning as usize];
        let marker = event.kind == Kind::Marker;
        // The names of lanes are before all events.
        self.text(if marker { ",\n{\"ph\":\"i\",\"s\":\"t\"," } else { ",\n{\"ph\":\"X\"," });
        self.page.extend_from_slice(beginning);
        self.microseconds(event.start);
        if !marker {
            self.text(",\"dur\":");
            microseconds(event.duration.unsigned_abs(), &mut self.page);
        }
        self.text(",\"cat\":\"");
        self.text(category(layout, event));
        self.text("\",\"name\":");
        let event_names = &layout.event_names;
        let number = event_names.number(event);
        let json = |out: &mut Vec<u8>| text::json(&event_names.text(number), out);
        renderings.event_names.append(number, &mut self.page, json);
        if let Some(end) = end {
            let (call, direction) = match end {
                End::Leaves { call, .. } => (call, ",\"flow_out\":true"),
                End::Arrives { call, .. } => (call, ",\"flow_in\":true"),
            };
            self.text(",\"bind_id\":");
            text::number(FIRST_ARROW + u64::from(*call), &mut self.page);
            self.text(direction);
        }
        if !layout.options.no_args {
            self.arguments(event, *lane);
        }
        self.text("}");
        // Kineto's readers tie them by correlation ids, which they find among the arguments.
        if let Some(end) = end
            && renderings.one_space
            && event.correlation > 0
            && !layout.options.no_args
        {
            self.kineto_arrow(event, beginning, end);
        }
    }

    fn arguments(&mut self, event: &Event, lane: usize) {
        let layout = self.layout;
        self.text(",\"args\":{");
        let empty = self.page.len();
        self.renderings.args.write(event, layout.tables, &mut &self.renderings.texts, &mut self.page);
        let track = layout.tracks[event.track as usize];
        if let (Kind::Copy, Some(bytes), 1..) = (event.kind, event.bytes, event.duration) {
            // Bytes a nanosecond.
            let bandwidth = Value::from(bytes as f64 / event.duration as f64);
            self.text(&format!(",\"memory bandwidth (GB/s)\":{bandwidth}"));
        }
        if let (TrackGroup::Agent(agent), TrackKind::GpuRanges(stream)) = (track.group, track.kind) {
            // Readers of Kineto's files take an event with a stream for work.
            <&Texts>::number(EventArg::Device, layout.tables.agent(agent).number, &mut self.page);
            <&Texts>::number(EventArg::AnnotatedStream, stream, &mut self.page);
        } else if let (TrackGroup::Agent(agent), false) = (track.group, event.kind == Kind::Idle) {
            // So they do with idle time.
            <&Texts>::number(EventArg::Device, layout.tables.agent(agent).number, &mut self.page);
            let stream = if event.kind == Kind::Copy {
                // Copies of all streams may share a track.
                let own = layout.tables.tracks.get(event.copy_track());
                own.stream.unwrap_or(own.queue)
            } else {
                track.stream()
            };
            <&Texts>::number(EventArg::Stream, stream, &mut self.page);
        } else if let TrackKind::Thread(tid) = track.kind
            && lane > 0
        {
            // Its lane has a tid of its own.
            <&Texts>::number(EventArg::Thread, tid, &mut self.page);
        }
        // Each argument has a comma before it.
        if self.page.get(empty) == Some(&b',') {
            self.page.remove(empty);
        }
        self.text("}");
    }

    /// One end of an arrow as Kineto writes it. Perfetto draws the arrows of slices instead, because these belong to no
    /// slice for certain where several start together; so their names differ, with which Perfetto ties no ends.
    fn kineto_arrow(&mut self, event: &Event, beginning: &[u8], end: &End) {
        let (phase, name) = match end {
            End::Leaves { .. } => ("s", "launch"),
            End::Arrives { .. } => ("f", "op"),
        };
        self.text(",\n{\"ph\":\"");
        self.text(phase);
        self.text("\",");
        self.page.extend_from_slice(beginning);
        self.microseconds(event.start);
        self.text(",\"bp\":\"e\",\"cat\":\"ac2g\",\"name\":\"");
        self.text(name);
        self.text("\",\"id\":");
        text::number(event.correlation, &mut self.page);
        self.text("}");
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.page.extend_from_slice(text.as_bytes());
    }

    #[inline]
    fn microseconds(&mut self, time: i64) {
        microseconds(time.abs_diff(self.renderings.base), &mut self.page);
    }
}

/// Nanoseconds as microseconds with three decimals: exact, unlike a float.
#[inline]
pub(super) fn microseconds(ns: u64, out: &mut Vec<u8>) {
    text::number(ns / 1000, out);
    let rest = (ns % 1000) as u32;
    let digit = |unit: u32| b'0' + (rest / unit % 10) as u8;
    out.extend_from_slice(&[b'.', digit(100), digit(10), digit(1)]);
}

/// Barriers and markers, which Kineto does not know, have their own category.
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

/// Functions of CUDA's driver are named like `cuLaunchKernel`.
fn is_of_driver(strings: &Strings, event: &Event) -> bool {
    let function = if event.function.is_some() { event.function } else { event.name };
    let is_driver =
        |name: &str| name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    function.is_some() && is_driver(strings.get(function))
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

impl Texts {
    pub(super) fn new(strings: usize) -> Self {
        Self { strings: SharedCache::new(strings), documents: SharedCache::new(strings) }
    }
}

impl ArgWriter for &Texts {
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

#[inline]
fn key(name: EventArg, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b",\"");
    bytes.extend_from_slice(kineto(name).as_bytes());
    bytes.extend_from_slice(b"\":");
}
